#include "bmc/power.h"

#include <algorithm>

namespace cupel::bmc {
namespace {

/// An iDRAC10 answers 409 for up to a minute after power-off.
constexpr int kAskAgainAtMost = 6;

/// Looks until `until`; each look itself may take until `deadline`.
Task<Result<void>> wait_until(Bmc& bmc, PowerState goal, Deadline until, Deadline deadline,
                              Pace pace) {
  auto pause = pace.first;
  std::optional<PowerState> last;
  for (;;) {
    const auto now = co_await bmc.power.state(deadline);
    // A look that the deadline cut off says nothing: what the BMC reported before counts.
    const bool cut_off = !now && last && deadline.passed() && is_transient(now.error().code);
    if (!now && !cut_off) co_return now.error();
    if (now) last = now->value;
    if (*last == goal) co_return ok();
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

/// Asks for it, again where the BMC says that it is not ready for that yet.
Task<Result<void>> reset_when_ready(Bmc& bmc, ResetType type, Deadline deadline, Pace pace) {
  for (int asked = 1;; ++asked) {
    auto accepted = co_await bmc.power.reset(type, deadline);
    const bool not_now = !accepted && accepted.error().code == Code::kConflict;
    if (!not_now || asked >= kAskAgainAtMost || deadline.left() < pace.before_asking_again) {
      if (!accepted) co_return std::move(accepted).error();
      co_return ok();
    }
    CO_TRY(co_await pause_for(pace.before_asking_again));
  }
}

/// Whether a BMC that was cut off itself may say this while it comes back.
bool may_pass(Code code) { return is_transient(code) || code == Code::kMalformed; }

/// Waits until the BMC is gone, at most as long as that takes: what it says before it goes is about
/// the time before.
Task<Result<void>> wait_until_gone(Bmc& bmc, Deadline deadline, Pace pace) {
  const auto until = deadline.sooner(pace.until_bmc_is_gone);
  while (!until.passed()) {
    const auto state = co_await bmc.power.state(until);
    if (!state && may_pass(state.error().code)) co_return ok();
    if (!state) co_return state.error();
    const auto nap = std::min(pace.first, until.left());
    CO_TRY(co_await pause_for(nap));
  }
  co_return ok();  // some cut the machine's power alone
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

}  // namespace

Task<Result<void>> ensure_on(Bmc& bmc, Deadline deadline, Pace pace) {
  CO_TRY(const PowerState before, co_await bmc.power.state(deadline));
  if (before == PowerState::on) co_return ok();
  if (before != PowerState::powering_on) {
    CO_TRY(const auto allowed, co_await bmc.power.allowed_resets(deadline));
    if (!allows(allowed, ResetType::on))
      co_return Error{Code::kUnsupported, "power on: no allowed reset turns the machine on"};
    CO_TRY(co_await reset_when_ready(bmc, ResetType::on, deadline, pace));
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
    const auto patience = asked ? deadline.sooner(grace) : Deadline::in({});
    auto off = co_await wait_until(bmc, PowerState::off, patience, deadline, pace);
    if (off || off.error().code != Code::kTimeout) co_return within("power off", off);
  }
  if (!allows(allowed, ResetType::force_off))
    co_return Error{Code::kUnsupported, "power off: no allowed reset turns the machine off"};
  CO_TRY(co_await reset_when_ready(bmc, ResetType::force_off, deadline, pace));
  auto off = co_await wait_until(bmc, PowerState::off, deadline, deadline, pace);
  co_return within("power off", std::move(off));
}

Task<Result<void>> cycle(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline, Pace pace) {
  CO_TRY(co_await ensure_off(bmc, grace, deadline, pace));
  co_return co_await ensure_on(bmc, deadline, pace);
}

Task<Result<void>> restart(Bmc& bmc, Deadline deadline, Pace pace) {
  CO_TRY(const PowerState before, co_await bmc.power.state(deadline));
  if (before == PowerState::off) co_return co_await ensure_on(bmc, deadline, pace);
  CO_TRY(const auto allowed, co_await bmc.power.allowed_resets(deadline));
  for (const auto type : {ResetType::force_restart, ResetType::power_cycle}) {
    if (!allows(allowed, type)) continue;
    CO_TRY(co_await reset_when_ready(bmc, type, deadline, pace));
    co_return within("restart", co_await wait_until(bmc, PowerState::on, deadline, deadline, pace));
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
  CO_TRY(co_await reset_when_ready(bmc, ResetType::ac_cycle, deadline, pace));
  CO_TRY(co_await wait_until_gone(bmc, deadline, pace));
  auto back = co_await wait_until_back(bmc, deadline, pace);
  if (!back) co_return std::move(back).error().within("AC cycle: waiting for the BMC");
  co_return co_await ensure_on(bmc, deadline, pace);
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
