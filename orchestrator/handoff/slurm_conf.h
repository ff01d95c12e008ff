#pragma once
// The lines of slurm.conf and gres.conf that an inventory implies, and where a running slurmctld
// disagrees with them. Pure.
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "orchestrator/handoff/slurm.h"

namespace cupel::handoff {

/// What a profile says Slurm should know of its nodes.
struct SlurmLine {
  int cpus = 0;
  long memory_mib = 0;
  std::string gres;  // "gpu:h100:8"
};

SlurmLine slurm_line(const inventory::Profile& profile);

/// The lines for slurm.conf and for gres.conf, each under the name of its file in a comment. Nodes
/// of one profile share a line. Source: man slurm.conf and man gres.conf (22.05).
std::string slurm_conf(const inventory::Inventory& inventory);

/// "a01-n03: Slurm has RealMemory=1000000, the profile says 1945600"; empty where both agree. More
/// memory or CPUs than Slurm was given are no disagreement.
std::vector<std::string> disagreements(const inventory::Profile& profile, const SlurmNode& node);

}  // namespace cupel::handoff
