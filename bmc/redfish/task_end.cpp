#include "bmc/redfish/task_end.h"

#include "base/text.h"
#include "bmc/redfish/update.h"

namespace cupel::bmc::redfish {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = UpdateProgress::State;

constexpr milliseconds kShortestPause{1000}, kLongestPause{30'000};
/// A BMC may fetch an image of some gigabytes before its task of InsertMedia ends.
constexpr seconds kPatience{900};

}  // namespace

Error task_failed(std::string_view uri, const UpdateProgress& progress) {
  return Error{Code::kFailed, "the BMC accepted it, and its task " + printable(uri) + " ended in " +
                                  progress.reported +
                                  (progress.message.empty() ? "" : ": " + progress.message)};
}

Error task_still_runs(std::string_view uri, const UpdateProgress& progress) {
  const auto percent =
      progress.percent ? " (" + std::to_string(*progress.percent) + " %)" : std::string{};
  return Error{Code::kTimeout, "the BMC accepted it, and its task " + printable(uri) +
                                   " is still " + progress.reported + percent +
                                   ": it may still be done; look again later"};
}

milliseconds pause_before_look(milliseconds asked) {
  return std::clamp(asked, kShortestPause, kLongestPause);
}

std::string task_of(const Answer& accepted) {
  return accepted.status == 202 ? ticket_of(accepted, {}).task : std::string{};
}

Task<Result<void>> wait_for_task(Client& client, Answer accepted, StillRunning then,
                                 Deadline deadline) {
  const UpdateTicket ticket{.task = task_of(accepted)};
  if (ticket.task.empty()) co_return ok();
  const auto until = deadline.sooner(kPatience);
  auto last = progress_of(accepted, {});
  for (int lost = 0; lost < kMostLostLooks;) {
    if (last.state == State::failed) co_return task_failed(ticket.task, last);
    if (last.state != State::running) co_return ok();
    if (until.passed() && then == StillRunning::fails) co_return task_still_runs(ticket.task, last);
    if (until.passed()) co_return ok();
    const auto pause = pause_before_look(last.look_again);
    CO_TRY(co_await pause_for(std::min(pause, until.left())));
    auto now = co_await look_at_task(client, ticket, deadline);
    if (now) {
      last = *std::move(now);
      lost = 0;
      continue;
    }
    const Error& error = now.error();
    if (error.code == Code::kCancelled || error.code == Code::kUntrusted) co_return error;
    last.look_again = error.retry_after;
    ++lost;
  }
  co_return ok();
}

Task<Result<TaskLook>> look_at_task_end(Client& client, std::string uri, Deadline deadline) {
  const UpdateTicket ticket{.task = std::move(uri)};
  CO_TRY(const auto now, co_await look_at_task(client, ticket, deadline));
  TaskLook look{.ended = now.state != State::running,
                .look_again = std::min(now.look_again, kLongestPause)};
  if (now.state == State::failed) look.failure = task_failed(ticket.task, now).what;
  co_return look;
}

}  // namespace cupel::bmc::redfish
