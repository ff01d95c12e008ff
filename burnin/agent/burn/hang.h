#pragma once
// Which GPU hangs, from what each worker does and for how long. A GPU is named only where the
// others go on, or where it alone has not reached the point at which they wait for it. Pure.
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cupel::burn {

struct WorkerState {
  std::string part{};  // "gpu3"
  std::string doing{};
  double seconds = 0;  // since its last progress
  bool idle = false;   // it waits for the others, or for the next phase of a load pattern
  /// All workers do the same step together and wait for each other within it.
  bool in_step = false;
  /// How many points of the step its GPU has passed at which all wait for each other. Nothing: not
  /// known.
  std::optional<std::uint64_t> passed{};
};

struct Hang {
  std::string part{};  // empty: which one is not known
  std::string doing{};
  double seconds = 0;
  std::vector<std::string>
      late{};  // each that may hang; of the others it is known that they do not
};

/// Nothing where none was without progress for `hang_after`. A worker goes on where it made
/// progress within the last quarter of that.
std::vector<Hang> judge_hangs(std::span<const WorkerState> workers,
                              std::chrono::duration<double> hang_after);

}  // namespace cupel::burn
