#include "bmc/power.h"

#include <algorithm>

namespace cupel::bmc {
namespace {

/// An iDRAC10 answers 409 for up to a minute after power-off.
constexpr int kAskAgainAtMost = 6;

/// Errors: kFailed, with the reason, where the BMC gave up what it accepted.
Task<Result<void>> not_given_up(Bmc& bmc, Deadline deadline) {
  const auto why = co_await bmc.power.given_up(deadline);
  if (why && !why->empty()) co_return Error{Code::kFailed, *why};
  // A BMC that cannot say shows it by its power state.
  if (!why && why.error().code == Code::kCancelled) co_return why.error();
  co_return ok();
}

/// The power state of a machine that was asked for something already: a look that fails says
/// nothing of it, and who gave up would ask again, in the middle of its boot. Looks again, ever
/// later. Errors: as power.state(), with how many looks in a row failed.
Task<Result<PowerState>> look_again(Bmc& bmc, Deadline deadline, Pace pace) {
  constexpr int kMost = 6;
  auto pause = pace.first;
  for (int failed = 1;; ++failed) {
    auto now = co_await bmc.power.state(deadline);
    if (now) co_return now->value;
    Error error = std::move(now).error();
    if (!is_transient(error.code) || deadline.passed() || failed == kMost) {
      if (failed > 1)
        error.what += "; " + std::to_string(failed) + " looks at the power state in a row failed";
      co_return error;
    }
    const auto nap = std::min(pause, deadline.left());
    CO_TRY(co_await pause_for(nap));
    pause = std::min(pause * 2, pace.longest);
  }
}

/// Looks until `until`; each look itself may take until `deadline`.
Task<Result<void>> wait_until(Bmc& bmc, PowerState goal, Deadline until, Deadline deadline,
                              Pace pace) {
  auto pause = pace.first;
  std::optional<PowerState> last;
  for (;;) {
    const auto now = co_await look_again(bmc, deadline, pace);
    // A look that the deadline cut off says nothing: what the BMC reported before counts.
    const bool cut_off = !now && last && deadline.passed() && is_transient(now.error().code);
    if (!now && !cut_off) co_return now.error();
    if (now) last = *now;
    if (*last == goal) co_return ok();
    CO_TRY(co_await not_given_up(bmc, deadline));
    if (cut_off || until.passed())
      co_return Error{Code::kTimeout, "accepted by the BMC, which still reports " +
                                          std::string{to_string(*last)} + ", not " +
                                          std::string{to_string(goal)}};
    const auto nap = std::min(pause, until.left());
    CO_TRY(co_await pause_for(nap));
    pause = std::min(pause * 3 / 2, pace.longest);
  }
}

/// An empty list is a BMC that does not tell: then it is tried.
bool allows(const std::vector<ResetType>& allowed, ResetType type) {
  return allowed.empty() || std::ranges::find(allowed, type) != allowed.end();
}

/// Whether it may be asked for twice: it leaves the machine where the first one left it.
bool settles(ResetType type) {
  return type == ResetType::on || type == ResetType::force_off ||
         type == ResetType::graceful_shutdown;
}

/// Asks for it, again where the BMC says that it is not ready for that yet.
Task<Result<Protocol>> reset_when_ready(Bmc& bmc, ResetType type, Deadline deadline, Pace pace) {
  for (int asked = 1;; ++asked) {
    auto accepted = co_await bmc.power.reset(type, deadline);
    if (accepted) co_return *accepted;
    const Error& error = accepted.error();
    const bool busy = error.code == Code::kBusy && error.retry_after.count() > 0 && settles(type);
    const bool not_now = error.code == Code::kConflict || busy;
    const auto pause =
        busy ? std::min(error.retry_after, pace.longest_busy) : pace.before_asking_again;
    if (!not_now || asked >= kAskAgainAtMost || deadline.left() < pause) co_return error;
    CO_TRY(co_await pause_for(pause));
  }
}

/// Asks for what leads to `goal`, and waits for that. Where the answer was lost the BMC may have
/// begun all the same: it is looked at for a while before that is an error.
Task<Result<void>> reach(Bmc& bmc, ResetType type, PowerState goal, Deadline deadline, Pace pace) {
  auto accepted = co_await reset_when_ready(bmc, type, deadline, pace);
  if (accepted) co_return co_await wait_until(bmc, goal, deadline, deadline, pace);
  Error error = std::move(accepted).error();
  if (!is_lost(error.code)) co_return error;
  const auto until = deadline.sooner(pace.after_lost_answer);
  const auto reached = co_await wait_until(bmc, goal, until, deadline, pace);
  if (reached) co_return ok();
  if (reached.error().code == Code::kCancelled) co_return reached.error();
  co_return error;
}

/// A restart leaves no mark in the power state, and is not asked for twice.
Error maybe_restarted(Error lost) {
  lost.what += "; the machine is on, and may have been restarted all the same: see when it booted";
  return std::move(lost).within("restart");
}

/// Waits until a machine that was restarted is on, and stays on: its BMC may still show the state
/// from before. One that the restart left off is turned on. Returns whether it was seen to be off.
Task<Result<bool>> wait_until_restarted(Bmc& bmc, Deadline deadline, Pace pace) {
  // Before the deadline, at which nobody could look any more.
  const auto settled = Deadline::in(std::min(pace.until_restart_shows, deadline.left() / 2));
  std::optional<Deadline> stays_off;
  bool was_off = false;
  auto pause = pace.first;
  for (;;) {
    CO_TRY(const PowerState now, co_await look_again(bmc, deadline, pace));
    if (now == PowerState::on && (was_off || settled.passed())) co_return was_off;
    CO_TRY(co_await not_given_up(bmc, deadline));
    if (now != PowerState::off) stays_off.reset();
    if (now == PowerState::off && !stays_off) stays_off = Deadline::in(pace.before_turning_on);
    was_off = was_off || now == PowerState::off;
    if (stays_off && stays_off->passed()) {
      CO_TRY(co_await ensure_on(bmc, deadline, pace));
      co_return true;
    }
    if (deadline.passed())
      co_return Error{Code::kTimeout, "accepted by the BMC, which still reports " +
                                          std::string{to_string(now)} + ", not on"};
    const auto nap = std::min(pause, settled.passed() ? deadline.left() : settled.left());
    CO_TRY(co_await pause_for(nap));
    pause = std::min(pause * 3 / 2, pace.longest);
  }
}

/// Whether a BMC that was cut off itself may say this while it comes back.
bool may_pass(Code code) { return is_transient(code) || code == Code::kMalformed; }

/// Waits until the BMC is gone, at most as long as that takes: what it says before it goes is about
/// the time before. Returns whether it was gone: some cut the machine's power alone.
Task<Result<bool>> wait_until_gone(Bmc& bmc, Deadline deadline, Pace pace) {
  const auto until = deadline.sooner(pace.until_bmc_is_gone);
  while (!until.passed()) {
    const auto state = co_await bmc.power.state(until);
    if (!state && may_pass(state.error().code)) co_return true;
    if (!state) co_return state.error();
    CO_TRY(co_await not_given_up(bmc, until));
    const auto nap = std::min(pace.first, until.left());
    CO_TRY(co_await pause_for(nap));
  }
  co_return false;
}

/// Waits until it answers again.
Task<Result<void>> wait_until_back(Bmc& bmc, Deadline deadline, Pace pace) {
  auto pause = pace.first;
  for (;;) {
    const auto state = co_await bmc.power.state(deadline);
    if (state) co_return ok();
    if (!may_pass(state.error().code) || deadline.passed()) co_return state.error();
    const auto nap = std::min(pause, deadline.left());
    CO_TRY(co_await pause_for(nap));
    pause = std::min(pause * 3 / 2, pace.longest);
  }
}

/// Within this a BMC that refuses a reset after it accepted it has said so; one that goes away is
/// not waited for longer.
constexpr std::chrono::seconds kTaskPatience{10};

}  // namespace

Task<Result<void>> ensure_on(Bmc& bmc, Deadline deadline, Pace pace) {
  CO_TRY(const PowerState before, co_await bmc.power.state(deadline));
  if (before == PowerState::on) co_return ok();
  if (before != PowerState::powering_on) {
    CO_TRY(const auto allowed, co_await bmc.power.allowed_resets(deadline));
    if (!allows(allowed, ResetType::on))
      co_return Error{Code::kUnsupported, "power on: no allowed reset turns the machine on"};
    co_return within("power on",
                     co_await reach(bmc, ResetType::on, PowerState::on, deadline, pace));
  }
  auto on = co_await wait_until(bmc, PowerState::on, deadline, deadline, pace);
  co_return within("power on", std::move(on));
}

Task<Result<void>> ensure_off(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                              Pace pace) {
  CO_TRY(const PowerState before, co_await bmc.power.state(deadline));
  if (before == PowerState::off) co_return ok();
  CO_TRY(const auto allowed, co_await bmc.power.allowed_resets(deadline));
  if (grace.count() > 0 && allows(allowed, ResetType::graceful_shutdown)) {
    const auto asked = co_await bmc.power.reset(ResetType::graceful_shutdown, deadline);
    if (!asked && asked.error().code == Code::kCancelled) co_return asked.error();
    // Refused (nobody listens for the button): no use in waiting for it.
    const bool may_come = asked || is_lost(asked.error().code);
    const auto patience = may_come ? deadline.sooner(grace) : Deadline::in({});
    auto off = co_await wait_until(bmc, PowerState::off, patience, deadline, pace);
    // What the system did not do, or the BMC gave up, is forced.
    const bool in_vain =
        !off && (off.error().code == Code::kTimeout || off.error().code == Code::kFailed);
    if (!in_vain) co_return within("power off", off);
  }
  if (!allows(allowed, ResetType::force_off))
    co_return Error{Code::kUnsupported, "power off: no allowed reset turns the machine off"};
  auto off = co_await reach(bmc, ResetType::force_off, PowerState::off, deadline, pace);
  co_return within("power off", std::move(off));
}

Task<Result<void>> cycle(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline, Pace pace) {
  CO_TRY(co_await ensure_off(bmc, grace, deadline, pace));
  co_return co_await ensure_on(bmc, deadline, pace);
}

Task<Result<void>> restart(Bmc& bmc, Deadline deadline, Pace pace, std::optional<Protocol>* by) {
  CO_TRY(const PowerState before, co_await bmc.power.state(deadline));
  if (before == PowerState::off) co_return co_await ensure_on(bmc, deadline, pace);
  CO_TRY(const auto allowed, co_await bmc.power.allowed_resets(deadline));
  std::vector<ResetType> ways{ResetType::force_restart, ResetType::power_cycle};
  // A machine that nothing turns off can only be asked to restart.
  if (!allows(allowed, ResetType::force_off)) ways.push_back(ResetType::graceful_restart);
  for (const auto type : ways) {
    if (!allows(allowed, type)) continue;
    auto asked = co_await reset_when_ready(bmc, type, deadline, pace);
    // Some list what they then refuse.
    if (!asked && asked.error().code == Code::kUnsupported) continue;
    if (!asked && !is_lost(asked.error().code)) co_return std::move(asked).error();
    if (asked && by != nullptr) *by = *asked;
    auto restarted = co_await wait_until_restarted(bmc, deadline, pace);
    if (!restarted) co_return std::move(restarted).error().within("restart");
    const bool in_doubt = !asked && !*restarted;
    if (in_doubt) co_return maybe_restarted(std::move(asked).error());
    co_return ok();
  }
  co_return within("restart", co_await cycle(bmc, {}, deadline, pace));
}

Task<Result<void>> ac_cycle(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                            Pace pace) {
  const auto has = co_await bmc.power.has_ac_cycle(deadline);
  const bool unknown = !has && has.error().code != Code::kUnsupported;
  if (unknown) co_return has.error();
  // Only where the BMC says so: a machine must not stand off because it was tried in vain.
  if (!has || !*has)
    co_return Error{Code::kUnsupported,
                    "AC cycle: this BMC has none: pull the cord, or use the rack's PDU"};
  CO_TRY(co_await ensure_off(bmc, grace, deadline, pace));
  auto asked = co_await reset_when_ready(bmc, ResetType::ac_cycle, deadline, pace);
  if (!asked && !is_lost(asked.error().code)) co_return std::move(asked).error();
  CO_TRY(const bool gone, co_await wait_until_gone(bmc, deadline, pace));
  auto back = co_await wait_until_back(bmc, deadline, pace);
  if (!back) co_return std::move(back).error().within("AC cycle: waiting for the BMC");
  CO_TRY(co_await ensure_on(bmc, deadline, pace));
  // The cycle cuts off the BMC's answer too; one that went away has done it.
  if (!asked && !gone) co_return std::move(asked).error().within("AC cycle");
  co_return ok();
}

Task<Result<void>> has_begun(Bmc& bmc, Result<Protocol> asked, Deadline deadline, Pace pace) {
  if (asked) co_return co_await not_given_up(bmc, deadline.sooner(kTaskPatience));
  Error error = std::move(asked).error();
  if (!is_lost(error.code)) co_return error;
  CO_TRY(const bool gone, co_await wait_until_gone(bmc, deadline, pace));
  if (gone) co_return ok();
  error.what += "; the BMC did not go away after that";
  co_return error;
}

Task<Result<void>> restart_bmc(Bmc& bmc, Deadline deadline, Pace pace) {
  CO_TRY(co_await wait_until_back(bmc, deadline, pace));  // it may restart by itself just now
  const auto asked = co_await bmc.manager.reset(deadline);
  // One that restarts before it answers has done it.
  if (!asked && !is_transient(asked.error().code)) co_return asked.error();
  CO_TRY(co_await wait_until_gone(bmc, deadline, pace));
  co_return within("restart of the BMC", co_await wait_until_back(bmc, deadline, pace));
}

}  // namespace cupel::bmc
