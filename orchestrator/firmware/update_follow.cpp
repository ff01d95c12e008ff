// How an update is followed from the push to where the BMC says that it has ended, or does not.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/updater.h"

namespace cupel::firmware {
namespace {

using Phase = UpdateHandle::Phase;

constexpr int kSeldom = 12;
constexpr int kMostLost = 2;
/// UpdateTicket::way of what was verified before.
constexpr std::string_view kInstalls = "start";

/// Another task of firmware that runs: an image of several parts may have one for each. Empty:
/// none does. What is staged waits for the resets. A BMC that does not say, as one that restarts by
/// itself, is taken by its task's word.
Task<Result<std::string>> another_task(bmc::Bmc& bmc, bmc::UpdateTicket ours, Deadline deadline) {
  const auto service = co_await bmc.update.service(deadline.sooner(kLongestAnswer));
  if (!service && !may_pass(service.error().code)) co_return service.error();
  if (!service) co_return std::string{};
  for (const auto& task : service->busy) {
    if (!task.starts_with('/') || task == ours.task) continue;
    const auto reported =
        co_await bmc.update.progress({.way = {}, .task = task}, deadline.sooner(kLongestAnswer));
    if (!reported && !may_pass(reported.error().code)) co_return reported.error();
    if (reported && reported->state == bmc::UpdateProgress::State::running) co_return task;
  }
  co_return std::string{};
}

}  // namespace

/// It is open whether the BMC took the image. While it may be at work with it nothing is sent;
/// once it has been idle for as long as the write may take, its inventory decides.
Task<Result<Updater::Ended>> Updater::find_push(std::string why_lost, Deadline deadline) {
  doors_.waiting(named() + ": whether the BMC took the image (" + why_lost + ")");
  for (;;) {
    auto service = co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer));
    if (!service && !may_pass(service.error().code)) co_return std::move(service).error();
    if (service && service->is_at_work()) {
      const auto work = std::ranges::find_if(
          service->busy, [](const auto& one) { return one != bmc::kTargetsClaimed; });
      // Whether an image is verified or written, the ticket alone shows.
      handle_.ticket = {
          .way = handle_.phase == Phase::pushing ? service->verifies : std::string{kInstalls},
          .task = work->starts_with('/') ? *work : ""};
      CO_TRY(co_await enter(Phase::writing));
      co_return co_await follow(deadline);
    }
    if (service && overtime()) break;
    if (!service && deadline.passed()) co_return std::move(service).error();
    CO_TRY(co_await pause_for(doors_.poll));
  }
  if (handle_.again) co_return not_seen(std::move(why_lost));
  CO_TRY(const auto seen, co_await look(deadline));
  if (shows_version(seen)) co_return co_await reset_and_verify(deadline);
  co_return lost(std::move(why_lost));
}

/// The version that is written again shows whether the BMC took the image or not: it is not sent a
/// second time without a person's word.
Result<Updater::Ended> Updater::not_seen(std::string why) {
  at_work_ = false;
  return failed(
      fmt::format("{}: whether it was written again was not seen: {}; the BMC is idle, and it is "
                  "not sent a second time",
                  named(), why),
      {"look in the BMC's log (cupel bmc NODE log); to write it once more: cupel firmware rewrite "
       "NODE --only " +
       handle_.component});
}

/// The BMC has none of it, and nothing is at work: planned anew, unless that comes to nothing again
/// and again.
Result<Updater::Ended> Updater::lost(std::string why) {
  at_work_ = false;
  TRY(release());
  if (handle_.writes_back()) return failed("it was sent, and the BMC has none of it: " + why);
  if (++lost_ < kMostLost) return Ended{};
  return failed(fmt::format("{}: the image was sent {} times, and the BMC has none of it: {}",
                            named(), lost_, why));
}

Task<Result<Updater::Ended>> Updater::follow(Deadline deadline) {
  CO_TRY(const auto written, co_await watch(deadline));
  if (written == Written::gone) co_return co_await outwait(deadline);
  while (written != Written::overtime) {
    CO_TRY(const auto other, co_await another_task(doors_.bmc, handle_.ticket, deadline));
    at_work_ = !other.empty();
    if (!at_work_) break;
    auto why = "its task has ended, and the BMC is at work with " + printable(other);
    if (overtime()) co_return left_to_itself(std::move(why));
    if (deadline.passed()) co_return Error{Code::kTimeout, named() + ": " + why};
    doors_.waiting(named() + ": " + why);
    CO_TRY(co_await pause_for(doors_.poll));
  }
  if (written == Written::no) co_return co_await not_written("the BMC: " + reported_, deadline);
  if (written == Written::overtime)
    co_return co_await not_written(fmt::format("not written after {} s; the BMC says: {}",
                                               expected().takes.count(), reported_),
                                   deadline);
  co_return co_await reset_and_verify(deadline);
}

/// The BMC forgot the task, and may be at work all the same: nothing is reset before the version
/// shows, or the time that a write takes is over.
Task<Result<Updater::Ended>> Updater::outwait(Deadline deadline) {
  for (;;) {
    auto seen = co_await look(deadline);
    if (!seen && !may_pass(seen.error().code)) co_return std::move(seen).error();
    const bool shown = seen && !handle_.again && shows_version(*seen);
    if (shown || overtime()) {
      const auto service = co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer));
      if (!service && !may_pass(service.error().code)) co_return service.error();
      if (service && !service->is_at_work()) co_return co_await reset_and_verify(deadline);
      if (shown && far_overtime()) co_return co_await reset_and_verify(deadline);
      if (far_overtime())
        co_return left_to_itself(
            service ? "the BMC forgot the update, and is at work with " + service->busy.front()
                    : "the BMC does not know the update any more: " + service.error().what);
    }
    if (deadline.passed())
      co_return Error{Code::kTimeout, named() + ": the BMC does not know the update any more"};
    doors_.waiting(named() + ": the BMC does not know the update any more; its versions decide");
    CO_TRY(co_await pause_for(doors_.poll));
  }
}

/// The BMC may be writing: it keeps its power, and a person decides.
Result<Updater::Ended> Updater::left_to_itself(std::string why) {
  // What comes from a recovery names it already.
  if (!why.starts_with(named())) why = named() + ": " + why;
  return failed(
      why + "; its power is left alone",
      {"leave the machine powered until its BMC is idle (cupel bmc NODE log); restart a BMC that "
       "is known to hang (cupel bmc NODE reset --despite-update); then, without another "
       "write: cupel firmware continue NODE"});
}

/// Until the BMC says an end, or the time is over.
Task<Result<Updater::Written>> Updater::watch(Deadline deadline) {
  for (;;) {
    auto reported =
        co_await doors_.bmc.update.progress(handle_.ticket, deadline.sooner(kLongestAnswer));
    if (!reported && !may_pass(reported.error().code)) co_return std::move(reported).error();
    if (!reported && reported.error().code == Code::kRefused) doors_.forget_refusals();
    if (reported) {
      using State = bmc::UpdateProgress::State;
      if (reported->state != State::running)
        co_return co_await heed(*std::move(reported), deadline);
      const auto percent =
          reported->percent ? fmt::format(" ({} %)", *reported->percent) : std::string{};
      reported_ = reported->reported + percent +
                  (reported->message.empty() ? "" : ": " + reported->message);
      doors_.waiting(named() + ": writing" + percent);
    }
    if (overtime()) co_return Written::overtime;
    if (!reported && deadline.passed()) co_return std::move(reported).error();
    // A BMC locks an account that is refused too often.
    const bool refused = !reported && reported.error().code == Code::kRefused;
    CO_TRY(co_await pause_for(refused ? kSeldom * doors_.poll : doors_.poll));
  }
}

Task<Result<Updater::Written>> Updater::heed(bmc::UpdateProgress progress, Deadline deadline) {
  using enum bmc::UpdateProgress::State;
  reported_ = progress.reported + (progress.message.empty() ? "" : ": " + progress.message);
  at_work_ = progress.state == verified || progress.state == gone;
  if (progress.state == failed) co_return Written::no;
  if (progress.state == gone) co_return Written::gone;
  if (progress.state != verified) co_return Written::yes;
  CO_TRY(co_await enter(Phase::starting));
  auto installs = co_await doors_.bmc.update.go_on(handle_.ticket, deadline);
  if (!installs) {
    if (!is_refused_for_good(installs.error().code)) co_return std::move(installs).error();
    reported_ = std::move(installs).error().what;
    at_work_ = false;
    CO_TRY(co_await enter(Phase::refused));
    co_return Written::no;
  }
  handle_.ticket = *std::move(installs);
  CO_TRY(co_await enter(Phase::writing));
  co_return co_await watch(deadline);
}

/// A task that failed, or has no end, while the inventory shows the version, is done; but not where
/// it showed it before.
Task<Result<Updater::Ended>> Updater::not_written(std::string why, Deadline deadline) {
  CO_TRY(const auto seen, co_await look(deadline));
  if (!handle_.again && shows_version(seen)) co_return co_await reset_and_verify(deadline);
  co_return co_await recover(named() + ": " + std::move(why), deadline);
}

}  // namespace cupel::firmware
