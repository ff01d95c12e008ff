#include "orchestrator/firmware/resets.h"

namespace cupel::firmware {
namespace {

using inventory::FirmwareReset;

constexpr std::chrono::seconds kGrace{60};  // for an operating system to shut down by itself

/// A machine without an AC cycle is not switched off for one.
Task<Result<void>> drain(bmc::Bmc& bmc, std::chrono::milliseconds drained, Deadline deadline) {
  const auto has = co_await bmc.power.has_ac_cycle(deadline);
  const bool lacks = has ? !*has : has.error().code == Code::kUnsupported;
  if (!has && !lacks) co_return has.error();
  if (lacks)
    co_return Error{Code::kUnsupported,
                    "power drain: this BMC has no AC cycle: pull the cord for a minute, or use the "
                    "rack's PDU"};
  CO_TRY(co_await bmc::ensure_off(bmc, kGrace, deadline));
  CO_TRY(co_await pause_for(drained));
  co_return co_await bmc::ac_cycle(bmc, {}, deadline);
}

/// A BMC that offers an AC cycle and refuses it would leave the machine off.
Task<Result<void>> or_on_again(bmc::Bmc& bmc, Task<Result<void>> reset, Deadline deadline) {
  CO_TRY(const auto before, co_await bmc.power.state(deadline));
  auto done = co_await std::move(reset);
  const bool was_off = before.value == bmc::PowerState::off;
  if (done || was_off || done.error().code == Code::kCancelled) co_return done;
  const auto on = co_await bmc::ensure_on(bmc, deadline);
  if (on) co_return done;
  auto error = std::move(done).error();
  error.what += "; the machine may be off: " + on.error().what;
  co_return error;
}

/// The job that wrote the part has reset it.
Task<Result<void>> on_the_node() { co_return ok(); }

}  // namespace

std::string_view text_of(FirmwareReset reset) {
  switch (reset) {
    case FirmwareReset::bmc_restart:
      return "BMC restart";
    case FirmwareReset::host_restart:
      return "restart of the machine";
    case FirmwareReset::host_off:
      return "power off and on";
    case FirmwareReset::ac_cycle:
      return "AC cycle";
    case FirmwareReset::power_drain:
      return "power drain";
    case FirmwareReset::device_reset:
      return "reset of the part";
  }
  __builtin_unreachable();
}

std::string by_hand(FirmwareReset reset) {
  const bool cuts = reset == FirmwareReset::ac_cycle || reset == FirmwareReset::power_drain;
  return (cuts ? std::string{"cut and restore the machine's power"}
               : "do this by hand: " + std::string{text_of(reset)}) +
         "; then: cupel firmware continue NODE";
}

Task<Result<void>> prepare(bmc::Bmc& bmc, FirmwareReset reset, Deadline deadline,
                           std::chrono::milliseconds drained, bmc::Pace pace) {
  if (reset == FirmwareReset::host_off) return bmc::ensure_off(bmc, kGrace, deadline);
  return do_reset(bmc, reset, deadline, drained, pace);
}

Task<Result<void>> do_reset(bmc::Bmc& bmc, FirmwareReset reset, Deadline deadline,
                            std::chrono::milliseconds drained, bmc::Pace pace) {
  switch (reset) {
    case FirmwareReset::bmc_restart:
      return bmc::restart_bmc(bmc, deadline);
    case FirmwareReset::host_restart:
      return bmc::restart(bmc, deadline, pace);
    case FirmwareReset::host_off:
      return or_on_again(bmc, bmc::cycle(bmc, kGrace, deadline), deadline);
    case FirmwareReset::ac_cycle:
      return or_on_again(bmc, bmc::ac_cycle(bmc, kGrace, deadline), deadline);
    case FirmwareReset::power_drain:
      return or_on_again(bmc, drain(bmc, drained, deadline), deadline);
    case FirmwareReset::device_reset:
      return on_the_node();
  }
  __builtin_unreachable();
}

}  // namespace cupel::firmware
