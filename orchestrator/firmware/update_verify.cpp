// What follows a write: resets, the versions that decide, and recovery where they do not show.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/versions.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/resets.h"
#include "orchestrator/firmware/updater.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;
using Phase = UpdateHandle::Phase;

std::string brief(const std::vector<RunningVersion>& running) {
  std::string text;
  for (const auto& one : running)
    text += (text.empty() ? "" : ", ") + printable(one.id) + " " + printable(one.version);
  return shortened(text, 200);
}

}  // namespace

Task<Result<Updater::Ended>> Updater::reset_and_verify(Deadline deadline) {
  if (handle_.phase != Phase::resetting) {
    CO_TRY(co_await enter(Phase::resetting));
  }
  at_work_ = false;
  if (handle_.more) co_return written_in_part();
  const auto& resets = expected().follow;
  while (handle_.resets_done < resets.size()) {
    const auto which = resets[handle_.resets_done];
    doors_.waiting(named() + ": " + std::string{text_of(which)});
    auto reset = co_await do_reset(doors_.bmc, which, deadline, doors_.drained, doors_.pace);
    if (!reset && is_refused_for_good(reset.error().code)) {
      CO_TRY(const auto seen, co_await look(deadline));
      if (!handle_.again && shows_version(seen)) break;
      // Staged: nothing is at work, and what is done by hand may need the power.
      CO_TRY(release());
      co_return UpdateEnd{How::needs_person,
                          named() + " is written, and must have: " + std::string{text_of(which)} +
                              ", which cannot be done from here: " + reset.error().what,
                          {by_hand(which)}};
    }
    if (!reset) co_return std::move(reset).error();
    ++handle_.resets_done;
    CO_TRY(co_await enter(Phase::resetting));
  }
  auto shown = co_await verify(expected().settles, deadline);
  if (shown) co_return finished();
  if (shown.error().code != Code::kFailed) co_return std::move(shown).error();
  co_return co_await recover(std::move(shown).error().what, deadline);
}

/// What the profile allows, one after the other, until the inventory shows the version.
Task<Result<Updater::Ended>> Updater::recover(std::string why, Deadline deadline) {
  const bool ended_itself = !at_work_;
  if (at_work_) {
    const auto service = co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer));
    if (!service && !may_pass(service.error().code)) co_return service.error();
    if (!service || service->is_at_work()) co_return left_to_itself(std::move(why));
    at_work_ = false;
  }
  // A machine whose previous image did not help either is left as it is; so is one that shows the
  // version whether it was written again or not.
  const bool left_as_it_is =
      handle_.writes_back() || (handle_.again && handle_.phase != Phase::resetting);
  const auto ways = left_as_it_is ? decltype(expected().recovery){} : expected().recovery;
  for (const auto way : ways) {
    if (way == inventory::FirmwareRecovery::previous_image) {
      auto back = co_await way_back(ended_itself, deadline);
      if (back) co_return co_await write_back(*std::move(back), std::move(why), deadline);
      if (back.error().code == Code::kCancelled) co_return std::move(back).error();
      why += "; the previous image was not written back: " + back.error().what;
      continue;
    }
    const bool restart = way == inventory::FirmwareRecovery::bmc_restart;
    doors_.waiting(named() + ": recovery by " + (restart ? "a BMC restart" : "an AC cycle"));
    auto tried = restart
                     ? co_await bmc::restart_bmc(doors_.bmc, deadline)
                     : co_await do_reset(doors_.bmc, inventory::FirmwareReset::ac_cycle, deadline);
    if (!tried && tried.error().code == Code::kCancelled) co_return std::move(tried).error();
    if (tried) tried = co_await verify(expected().settles, deadline);
    if (tried) co_return finished();
    if (tried.error().code == Code::kCancelled) co_return std::move(tried).error();
    why += "; after " + std::string{restart ? "a BMC restart" : "an AC cycle"} + ": " +
           tried.error().what;
  }
  co_return failed(
      std::move(why),
      {"leave the machine powered; look at its console and at the BMC's log: cupel bmc "
       "NODE log"});
}

Task<Result<void>> Updater::verify(std::chrono::milliseconds patience, Deadline deadline) {
  const auto until = deadline.sooner(patience);
  for (;;) {
    auto seen = co_await look(deadline);
    if (!seen && !may_pass(seen.error().code)) co_return std::move(seen).error();
    auto shown = seen ? shows_version(*seen) : Result<void>{seen.error()};
    if (shown) co_return ok();
    if (until.passed()) co_return Error{Code::kFailed, std::move(shown).error().what};
    CO_TRY(co_await pause_for(doors_.poll));
  }
}

/// On every entry that this update is to bring to it, and on as many as before.
Result<void> Updater::shows_version(const Seen& seen) const {
  const auto at = std::ranges::find(seen.plan.components, expected_, &ComponentState::expected);
  if (at == seen.plan.components.end() || at->running.size() < handle_.targets)
    return Error{Code::kFailed, named() + ": the inventory shows fewer entries of it than before"};
  std::vector<RunningVersion> others = at->running;
  std::erase_if(others, [&](const auto& one) {
    return inventory::same_version(one.version, handle_.version) ||
           std::ranges::find(handle_.others, one.id) != handle_.others.end();
  });
  if (!others.empty())
    return Error{Code::kFailed, fmt::format("{}: the inventory shows {}", named(), brief(others))};
  for (const auto& part : seen.reported) {
    const auto is_it = [&](const auto& one) { return one.id == part.name; };
    if (part.health == "Critical" && std::ranges::any_of(at->running, is_it))
      return Error{Code::kFailed, named() + " runs, and " + printable(part.name) + " is Critical"};
  }
  return ok();
}

}  // namespace cupel::firmware
