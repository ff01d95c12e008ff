#pragma once
// A controller as a process of its own: in a session without a terminal, its output in the log of
// the state folder.
#include "base/task.h"
#include "orchestrator/store/store.h"

namespace cupel::controller {

/// How a controller is started where none lives.
struct BackgroundController {
  std::filesystem::path state{};
  std::filesystem::path programs{};  // where cupel-node and cupel-burn lie; empty: beside cupel
  std::string log{};                 // as --log takes it, a file from the root; empty: no --log
  std::filesystem::path program{};   // cupel; empty: the program of this process
};

/// The words that start it: "cupel --state FOLDER ... controller". All paths are absolute.
std::vector<std::string> words_of(const BackgroundController& controller);

/// Leaves a run that was submitted to the living controller, or to one that is started for it.
/// Returns the process that drives it once the run has begun (0 where it has already ended).
/// Errors: kTimeout: none has begun it in half a minute; kFailed: the one that was started has
/// ended; kStorage; kCancelled.
Task<Result<int>> leave_to_background(BackgroundController controller, const store::Store& store,
                                      engine::RunId run);

}  // namespace cupel::controller
