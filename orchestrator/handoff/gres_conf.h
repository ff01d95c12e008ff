#pragma once
// What slurmd would not accept of a gres.conf, and where the file differs from what slurmctld has
// of the nodes. Pure.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/handoff/scontrol.h"

namespace cupel::handoff {

inline constexpr std::size_t kLargestGresConf = 1u << 20;

/// "gres.conf:4, 5: CPUs= ...", a line each; empty: nothing is wrong with it. `nodes` as slurmctld
/// has them: GPUs that AutoDetect finds are not counted, since only slurmd sees them. Bounded by
/// the size of the file and the count of nodes. Source: man gres.conf, and what slurmd 22.05.8 -G
/// prints of each fault.
std::vector<std::string> gres_faults(std::string_view text, std::span<const SlurmNode> nodes);

}  // namespace cupel::handoff
