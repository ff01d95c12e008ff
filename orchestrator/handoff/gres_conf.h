#pragma once
// What slurmd would not accept of a gres.conf, and where the file differs from what slurmctld has
// of the nodes. Pure but for what `read` does.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/handoff/scontrol.h"

namespace cupel::handoff {

inline constexpr std::size_t kLargestGresConf = 1u << 20;

/// The text of the file that an Include line names ("gres_gpu.conf", "/etc/slurm/gpu.conf"), of at
/// most kLargestGresConf bytes; nothing: it cannot be read here.
using ReadIncluded = std::function<std::optional<std::string>(const std::string& name)>;

struct GresFindings {
  std::vector<std::string> faults{};  // "gres.conf:4, 5: no File= here ...", a line each
  std::vector<std::string> notes{};   // what is no fault: an old key, what was not compared
  bool is_whole = true;               // false: something was not read
};

/// `file` is its name in the answers. `nodes` as slurmctld has them: GPUs that AutoDetect finds are
/// not counted, since only slurmd sees them. Bounded by the size of the files and the count of
/// nodes. Source: man gres.conf, gres.c and parse_config.c of Slurm 26.05, and what slurmd 22.05.8
/// -G prints of each fault.
GresFindings gres_findings(std::string_view file, std::string_view text,
                           std::span<const SlurmNode> nodes, const ReadIncluded& read);

}  // namespace cupel::handoff
