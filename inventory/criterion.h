#pragma once
// A number that a kind of machine must reach. Read by inventory/read_criteria.h, judged by
// burnin/criteria/judge.h.
#include <optional>
#include <string>
#include <vector>

#include "inventory/part_kind.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// What one measurement of one stage must meet, for each of `parts`.
struct Criterion {
  std::string stage;    // "gpu-facts"
  std::string measure;  // "gpu.ecc.uncorrected"
  /// "gpu0".."gpu7"; one empty text: the node as a whole; "dimm *": all of such a name that tell a
  /// number, however many.
  std::vector<std::string> parts{};
  std::optional<double> at_least{};
  std::optional<double> at_most{};
  std::string unit{};
  std::string remedy{};  // what a person should do about a failure
  std::string source{};  // where the number comes from
  Place where{};
  /// Limits that are as many as there are parts of a kind; empty once a profile is loaded.
  std::optional<PartKind> at_least_count{};
  std::optional<PartKind> at_most_count{};
};

}  // namespace cupel::inventory
