#pragma once
// What a BMC answered with 202 and a task: it accepted it, and has not done it. Source: DSP0266,
// "Asynchronous operations"; DSP0268, Task. Firmware is followed elsewhere: update.h.
#include "bmc/redfish/client.h"
#include "bmc/update.h"

namespace cupel::bmc::redfish {

/// What it means that the task was still running when patience ended.
enum class StillRunning {
  fails,    // for an act that is over when its task is
  is_fine,  // for a change that is read back, or waits for a restart
};

/// Waits until the task of `accepted` has ended, looking as often as the BMC asks (Retry-After, 1
/// to 30 s), for 15 minutes at most. Returns at once where the answer was no 202 or names no task,
/// and where the BMC does not know the task any more: the caller reads back what came of it.
/// Cancel-safe. Errors: kFailed with the task's own messages where it ended in Exception, Cancelled
/// and the like; kTimeout where it still runs: it may still be done.
Task<Result<void>> wait_for_task(Client& client, Answer accepted, StillRunning then,
                                 Deadline deadline);

/// What was accepted, and goes on: an act that the caller waits for by looking at what it changes.
struct Accepted {
  std::string task{};  // its URI; empty: none
};

/// Why the task at `uri` has failed; empty: it has not. `ended`: nothing more comes of it.
struct TaskLook {
  bool ended = false;
  std::string failure{};
  std::chrono::milliseconds look_again{0};  // as the BMC asks, within bounds
};
/// Looks once. Errors: as Client::look, where they say nothing about the task.
Task<Result<TaskLook>> look_at_task_end(Client& client, std::string uri, Deadline deadline);

/// Why nothing comes of what the task at `uri` does, or nothing yet.
Error task_failed(std::string_view uri, const UpdateProgress& progress);
Error task_still_runs(std::string_view uri, const UpdateProgress& progress);

/// How long to wait before the next look: as the BMC asks, 1 to 30 s.
std::chrono::milliseconds pause_before_look(std::chrono::milliseconds asked);

/// Looks in a row that come to nothing before a task is given up: the BMC restarts, or lost it.
inline constexpr int kMostLostLooks = 5;

/// The URI of the task by which a BMC does what it accepted; empty: it has none.
std::string task_of(const Answer& accepted);

}  // namespace cupel::bmc::redfish
