#pragma once
// How slurmctld is asked and ordered: by scontrol (scontrol.h) or by slurmrestd (slurmrestd.h).
// Which node is meant, and what it needs, is slurm.h's business.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"

namespace cupel::handoff {

/// What slurmctld says of one node.
struct SlurmNode {
  std::string name;
  std::vector<std::string> state;  // "IDLE", "DRAIN", ... as State=IDLE+DRAIN says it
  std::string reason{};            // without Slurm's own [user@time]
  std::string reason_by{};         // who gave it; empty: not reported
  int cpus = 0;                    // CPUTot
  double memory_bytes = 0;         // RealMemory
  std::string gres{};
  std::vector<std::string> features{};

  bool has(std::string_view word) const;
  bool drained() const { return has("DRAIN"); }
  /// Jobs are on it, or end on it.
  bool busy() const;
  /// It has no jobs, would take one now, and is kept for none.
  bool idle() const;
};

/// What is to become of a node; what is empty stays as it is.
struct SlurmUpdate {
  std::string state{};  // "DRAIN", "RESUME"
  std::string reason{};
  /// Available and active ones, all of them; an empty list takes them all away.
  std::optional<std::vector<std::string>> features{};
};

/// Errors of all of these: as Scheduler's.
class SlurmBackend {
 public:
  virtual ~SlurmBackend() = default;

  /// What slurmctld has under this name; empty: all that it has.
  virtual Task<Result<std::vector<SlurmNode>>> nodes(std::string name, Deadline deadline) = 0;
  virtual Task<Result<void>> update(std::string name, SlurmUpdate update, Deadline deadline) = 0;
  /// Both do nothing where it is so already.
  virtual Task<Result<void>> reserve(std::string name, std::string reservation,
                                     Deadline deadline) = 0;
  virtual Task<Result<void>> unreserve(std::string reservation, Deadline deadline) = 0;
  /// The jobs on a node, for people: "17 (alice)". None where this door cannot tell.
  virtual Task<std::vector<std::string>> jobs(std::string name, Deadline deadline);
  /// Who answers, for people.
  virtual Task<Result<std::string>> ping(Deadline deadline) = 0;
};

/// For a node that slurmctld does not have. `words`: what it said.
Error unknown_to_slurm(std::string_view name, std::string_view words);

}  // namespace cupel::handoff
