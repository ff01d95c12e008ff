#include "orchestrator/firmware/updater.h"

#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/ready.h"
#include "orchestrator/firmware/resets.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;
using Phase = UpdateHandle::Phase;

/// More rounds than a machine has components with stepping stones.
constexpr int kMostUpdates = 64;
/// A hold on the power ends by itself so long after the latest end that an update can have.
constexpr std::chrono::minutes kHoldMargin{60};

/// The BMC has answered, and did not take the image.
bool was_refused(Code code) {
  using enum Code;
  return code == kBusy || code == kRefused || code == kUnsupported || code == kInvalid ||
         code == kConflict || code == kFailed || code == kNotFound || code == kUntrusted;
}

const inventory::ExpectedFirmware* component_of(const inventory::Profile& profile,
                                                std::string_view name) {
  const auto at =
      std::ranges::find(profile.firmware, name, &inventory::ExpectedFirmware::component);
  return at == profile.firmware.end() ? nullptr : &*at;
}

std::string refusals_of(const FirmwarePlan& plan) {
  std::string all;
  for (const auto& one : plan.components)
    if (!one.refusal.empty())
      all += (all.empty() ? "" : "; ") + one.expected->component + ": " + one.refusal;
  return all;
}

}  // namespace

Task<Result<UpdateEnd>> Updater::run(Deadline deadline) {
  for (int round = 0; round < kMostUpdates; ++round) {
    CO_TRY(auto seen, co_await look(deadline));
    if (auto refused = refusals_of(seen.plan); !refused.empty())
      co_return UpdateEnd{How::failed, std::move(refused)};
    if (seen.plan.updates.empty()) co_return UpdateEnd{};
    auto first = std::move(seen.plan.updates.front());
    CO_TRY(auto ended, co_await apply(std::move(first), std::move(seen.machine), deadline));
    if (ended) co_return *std::move(ended);
  }
  co_return UpdateEnd{How::failed, fmt::format("not at the baseline after {} updates: the last was "
                                               "{}",
                                               kMostUpdates, named())};
}

Task<Result<UpdateEnd>> Updater::resume(UpdateHandle handle, Deadline deadline) {
  handle_ = std::move(handle);
  at_work_ = handle_.phase != Phase::resetting;
  expected_ = component_of(doors_.profile, handle_.component);
  if (expected_ == nullptr)
    co_return UpdateEnd{How::failed,
                        "an update of " + named() +
                            " was begun, and the profile does not name that component any more"};
  Task<Result<Ended>> (Updater::* const on)(Deadline) =
      handle_.phase == Phase::resetting ? &Updater::reset_and_verify : &Updater::follow;
  const bool lost = handle_.phase == Phase::pushing || handle_.phase == Phase::starting;
  CO_TRY(auto ended,
         co_await (lost ? find_push("the controller stopped", deadline) : (this->*on)(deadline)));
  if (ended) co_return *std::move(ended);
  co_return co_await run(deadline);
}

Task<Result<void>> Updater::wait_for_end(UpdateHandle handle, Deadline deadline) {
  handle_ = std::move(handle);
  expected_ = component_of(doors_.profile, handle_.component);
  if (expected_ == nullptr || handle_.phase == Phase::resetting) co_return ok();
  const auto latest = handle_.pushed + 2 * expected().takes;
  for (;;) {
    const auto service = co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer));
    if (service && service->busy.empty()) break;
    if (!service && !may_pass(service.error().code)) co_return service.error();
    if (doors_.now() >= latest)
      co_return Error{Code::kTimeout, named() + ": the BMC does not say that it has ended"};
    CO_TRY(co_await pause_for(doors_.poll));
  }
  co_return doors_.hold_power(handle_, {});
}

Task<Result<Updater::Seen>> Updater::look(Deadline deadline) {
  doors_.waiting("versions");
  Seen seen;
  CO_TRY(seen.machine, co_await doors_.bmc.facts.identity(deadline.sooner(kLongestAnswer)));
  CO_TRY(auto versions, co_await doors_.bmc.update.versions(deadline.sooner(kLongestAnswer)));
  seen.reported = std::move(versions.value);
  seen.plan = plan_firmware(doors_.profile, seen.machine, seen.reported, Writer::bmc);
  co_return seen;
}

Task<Result<Updater::Ended>> Updater::apply(FirmwareUpdate update, bmc::Identity machine,
                                            Deadline deadline) {
  expected_ = update.expected;
  handle_ = {.component = update.expected->component,
             .version = update.version,
             .sha256 = update.image.sha256,
             .pushed = doors_.now()};
  replaces_ = update.replaces;
  handle_.targets = replaces_.size();
  told_.clear();
  doors_.waiting(named() + ": whether the machine may be written");
  auto order = co_await doors_.image(std::move(update), std::move(machine), deadline);
  if (!order && order.error().code == Code::kCancelled) co_return order.error();
  if (!order) co_return failed(named() + ": " + order.error().what);
  CO_TRY(auto why_not, co_await why_not_this(doors_.bmc, *order, deadline));
  if (!why_not && done_.empty()) {
    CO_TRY(why_not, co_await why_not_now(doors_.bmc, doors_.clock_may_be_off, deadline));
  }
  if (why_not) {
    why_not->detail = named() + ": " + why_not->detail;
    co_return why_not;
  }
  for (const auto reset : expected().before) {
    doors_.waiting(named() + ": " + std::string{text_of(reset)} + " before it");
    CO_TRY(co_await prepare(doors_.bmc, reset, deadline));
  }
  co_return co_await push(*std::move(order), deadline);
}

Task<Result<Updater::Ended>> Updater::push(bmc::UpdateOrder order, Deadline deadline) {
  handle_.pushed = doors_.now();
  const auto longest = expected().takes + expected().settles + kHoldMargin;
  CO_TRY(doors_.hold_power(handle_, longest));
  CO_TRY(co_await enter(Phase::pushing));
  at_work_ = true;
  doors_.waiting(fmt::format("{}: sending {:.0f} MB", named(),
                             std::ceil(static_cast<double>(order.bytes) / 1e6)));
  auto ticket = co_await doors_.bmc.update.push(std::move(order), deadline);
  if (ticket) {
    handle_.ticket = *std::move(ticket);
    handle_.pushed = doors_.now();
    CO_TRY(co_await enter(Phase::writing));
    co_return co_await follow(deadline);
  }
  auto error = std::move(ticket).error();
  if (error.code == Code::kCancelled) co_return error;
  if (!was_refused(error.code)) co_return co_await find_push(std::move(error.what), deadline);
  at_work_ = false;
  CO_TRY(doors_.hold_power(handle_, {}));
  if (error.code == Code::kBusy) co_return UpdateEnd{How::busy, std::move(error.what)};
  co_return failed(std::move(error.what));
}

Result<Updater::Ended> Updater::finished() {
  TRY(doors_.hold_power(handle_, {}));
  done_.push_back({handle_.component, handle_.version, std::exchange(replaces_, {})});
  return Ended{};
}

Result<Updater::Ended> Updater::failed(std::string why, std::vector<std::string> advice) {
  if (!at_work_) {
    TRY(doors_.hold_power(handle_, {}));
  }
  return Ended{UpdateEnd{How::failed, std::move(why), std::move(advice)}};
}

Task<Result<void>> Updater::enter(UpdateHandle::Phase phase) {
  handle_.phase = phase;
  co_return co_await doors_.keep(handle_);
}

}  // namespace cupel::firmware
