#pragma once
// The light test's judgement: what cupel-node reads of a node, held against what is expected. Pure
// but for the file systems, which are asked how full they are. Loads nothing.
#include <string>
#include <vector>

#include "burnin/agent/common/json_value.h"
#include "burnin/agent/node/check/expectations.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// One thing that keeps a node from taking jobs.
struct Complaint {
  std::string part{};  // "gpu3", "mlx5_1/1", "/tmp"; empty: the node
  std::string what{};  // "2 uncorrected ECC errors since the driver was loaded"
  friend bool operator==(const Complaint&, const Complaint&) = default;
};

/// "gpu3: 2 uncorrected ECC errors".
std::string to_string(const Complaint& complaint);

struct NodeSeen {
  JsonValue facts{};  // the document of `cupel-node facts`
  JsonValue log{};    // the document of `cupel-node kernel-log`, since the boot or what was read
  std::vector<unsigned> job_gpus{};  // of the job that begins or ends; they must hold no memory
};

/// Worst first: lost GPUs, then errors, then what is only slow or full.
std::vector<Complaint> judge_node(const Expectations& expected, const NodeSeen& seen);

/// "/" that is read-only, mounts that are missing, local file systems that are full. A file system
/// of the network is never asked: it may hang.
std::vector<Complaint> judge_file_systems(const Expectations& expected, const Tree& tree);

}  // namespace cupel::agent
