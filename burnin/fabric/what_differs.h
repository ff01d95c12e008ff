#pragma once
// Where nodes differ in what decides how NCCL works, and whether pairs of nodes found their links
// well. Pure.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "burnin/fabric/across_report.h"
#include "burnin/measurement.h"

namespace cupel::burnin::fabric {

/// A line for each version and variable that is not alike on all: "NCCL's versions differ: 2.28.9
/// on n[1-2]; 2.27.3 on n3", "NCCL_TOPO_FILE differs: /etc/topo.xml on n1; not set on n[2-3]".
/// Nodes without a report are passed over; at most 16 lines of 500 bytes.
std::vector<std::string> what_differs(std::span<const AcrossReport* const> reports,
                                      std::span<const std::string> nodes);

/// What fabric-pairs said of the links of these nodes.
struct LinkWord {
  bool measured = false;  // on all of them
  std::string doubt{};    // "n3: fabric.link.loss 49.9 % of mlx5_6"; empty: none
};

LinkWord link_word(std::span<const std::optional<Findings>> pairs,
                   std::span<const std::string> nodes);

}  // namespace cupel::burnin::fabric
