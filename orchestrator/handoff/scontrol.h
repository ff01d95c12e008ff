#pragma once
// slurmctld by scontrol, with the node's line read by its keys (docs/build/decisions/scontrol.md).
#include "orchestrator/handoff/slurm_door.h"

namespace cupel::handoff {

/// One line of `scontrol --oneliner show node`. Errors: kMalformed.
/// Source: man scontrol (22.05), "show node".
Result<SlurmNode> parse_slurm_node(std::string_view line);

/// 20 s for each `scontrol`.
class Scontrol : public SlurmBackend {
 public:
  /// `configuration`: SLURM_CONF; empty: the environment's.
  explicit Scontrol(std::string configuration) : configuration_{std::move(configuration)} {}

  /// At most 10,000 or so: what `scontrol` prints is bounded by 32 MiB.
  Task<Result<std::vector<SlurmNode>>> nodes(std::string name, Deadline deadline) override;
  Task<Result<void>> update(std::string name, SlurmUpdate update, Deadline deadline) override;
  Task<Result<void>> reserve(std::string name, std::string reservation, Deadline deadline) override;
  Task<Result<void>> unreserve(std::string reservation, Deadline deadline) override;
  /// By squeue. Source: man squeue (22.05), --format.
  Task<std::vector<std::string>> jobs(std::string name, Deadline deadline) override;
  Task<Result<std::string>> ping(Deadline deadline) override;

 private:
  Task<Result<std::string>> scontrol(std::vector<std::string> arguments, std::string name,
                                     Deadline deadline, std::size_t most_output = 4u << 20);

  std::string configuration_;
};

}  // namespace cupel::handoff
