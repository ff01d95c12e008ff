#pragma once
// Which runs a controller that stays resumes when it starts: those that one like it drove when it
// was stopped or died. The journals say so. Not runs of a terminal, nor what a person cancelled.
#include <vector>

#include "orchestrator/store/journal_reader.h"

namespace cupel::controller {

/// In the data of `run-started` and `run-resumed`: a controller that stays drives the run.
inline constexpr std::string_view kDrivenByService = "service";
/// In `run-resumed`, as `why`: no person asked for it.
inline constexpr std::string_view kServiceRestarted = "service-restarted";

struct OwnRun {
  engine::RunId run = 0;
  /// The controller died kMostRestarts times in a row while it drove the run, and no step ended
  /// meanwhile: another start is likely to end the same way.
  bool stuck = false;
  friend bool operator==(const OwnRun&, const OwnRun&) = default;
};

inline constexpr std::size_t kMostRestarts = 3;

/// Oldest first. The caller holds the folder's ControllerLock: nothing drives them now. Errors:
/// kStorage.
Result<std::vector<OwnRun>> own_runs(const store::JournalReader& journal);

}  // namespace cupel::controller
