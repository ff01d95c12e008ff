#include "bmc/ipmi/chassis.h"

#include "bmc/ipmi/commands.h"

namespace cupel::bmc::ipmi {
namespace {

// Parameters of the boot options: table 28-14.
constexpr std::uint8_t kSetInProgress = 0, kFlagsClearing = 3, kAcknowledge = 4, kFlags = 5;
constexpr std::uint8_t kValid = 0x80, kPersistent = 0x40, kUefi = 0x20;
// Devices of the boot flags, in place: bits 5 to 2.
constexpr std::uint8_t kPxe = 1 << 2, kDisk = 2 << 2, kCd = 5 << 2, kSetup = 6 << 2,
                       kRemoteCd = 8 << 2;
constexpr std::uint8_t kKeepForLonger = 0x08;  // than the 60 s that a BMC waits for a reset

std::optional<std::uint8_t> control_of(ResetType type) {
  switch (type) {
    case ResetType::force_off:
      return 0x00;
    case ResetType::on:
      return 0x01;
    case ResetType::power_cycle:
      return 0x02;
    case ResetType::force_restart:
      return 0x03;
    case ResetType::graceful_shutdown:
      return 0x05;
    case ResetType::graceful_restart:
    case ResetType::ac_cycle:
      return std::nullopt;
  }
  __builtin_unreachable();
}

Task<Result<void>> set_option(Client& client, std::uint8_t parameter, Bytes value,
                              Deadline deadline) {
  Bytes data{parameter};
  put(data, value);
  CO_TRY(co_await client.ask(kSetBootOptions, std::move(data), deadline));
  co_return ok();
}

/// For the parameters that a BMC need not have: what it says is left aside, unless it is silent.
Task<Result<void>> try_option(Client& client, std::uint8_t parameter, Bytes value,
                              Deadline deadline) {
  auto set = co_await set_option(client, parameter, std::move(value), deadline);
  if (set) co_return ok();
  const auto code = set.error().code;
  const bool no_use = code == Code::kTimeout || code == Code::kUnreachable ||
                      code == Code::kCancelled || code == Code::kRefused;
  if (no_use) co_return std::move(set).error();
  co_return ok();
}

Task<Result<void>> write_flags(Client& client, const BootOverride& requested, Deadline deadline) {
  auto remote = boot_flags(requested, true);
  auto set = co_await set_option(client, kFlags, std::move(remote), deadline);
  if (set || requested.target != BootTarget::virtual_cd) co_return set;
  // Many BMCs know one kind of disc only.
  auto any = boot_flags(requested, false);
  co_return co_await set_option(client, kFlags, std::move(any), deadline);
}

}  // namespace

Bytes boot_flags(const BootOverride& requested, bool remote_media) {
  if (requested.target == BootTarget::none) return Bytes(5, 0);
  std::uint8_t device = 0;
  if (requested.target == BootTarget::pxe) device = kPxe;
  if (requested.target == BootTarget::disk) device = kDisk;
  if (requested.target == BootTarget::bios_setup) device = kSetup;
  if (requested.target == BootTarget::virtual_cd) device = remote_media ? kRemoteCd : kCd;
  const auto first = kValid | kUefi | (requested.once ? 0 : kPersistent);
  return {static_cast<std::uint8_t>(first), device, 0, 0, 0};
}

BootOverride parse_boot_flags(View flags) {
  BootOverride reported;
  if (flags.size() < 2 || (flags[0] & kValid) == 0) return reported;
  switch (flags[1] & 0x3c) {
    case kPxe:
      reported.target = BootTarget::pxe;
      break;
    case kDisk:
      reported.target = BootTarget::disk;
      break;
    case kCd:
    case kRemoteCd:
      reported.target = BootTarget::virtual_cd;
      break;
    case kSetup:
      reported.target = BootTarget::bios_setup;
      break;
    default:
      return reported;
  }
  reported.once = (flags[0] & kPersistent) == 0;
  return reported;
}

Task<Result<PowerState>> read_power(Client& client, Deadline deadline) {
  CO_TRY(const Bytes reported, co_await client.ask(kGetChassisStatus, {}, deadline));
  if (reported.empty()) co_return PowerState::unknown;
  co_return (reported[0] & 1) != 0 ? PowerState::on : PowerState::off;
}

const Command& control_command(ResetType type) {
  const bool restarts = type == ResetType::power_cycle || type == ResetType::force_restart;
  return restarts ? kChassisRestart : kChassisControl;
}

Task<Result<void>> control(Client& client, ResetType type, Deadline deadline) {
  const auto how = control_of(type);
  if (!how)
    co_return Error{Code::kUnsupported,
                    client.node() + ": IPMI has no " + std::string{to_string(type)}};
  Bytes data{*how};
  CO_TRY(co_await client.ask(control_command(type), std::move(data), deadline));
  co_return ok();
}

Task<Result<bool>> read_identify(Client& client, Deadline deadline) {
  // Misc. chassis state, table 28-3: bit 6 says that bits 5:4 (off, timed, indefinite) are
  // reported.
  constexpr std::uint8_t kReported = 0x40, kOn = 0x30;
  CO_TRY(const Bytes reported, co_await client.ask(kGetChassisStatus, {}, deadline));
  if (reported.size() < 3 || (reported[2] & kReported) == 0)
    co_return Error{Code::kUnsupported,
                    client.node() + ": Get Chassis Status: no word of the locator light"};
  co_return (reported[2] & kOn) != 0;
}

Task<Result<void>> identify_chassis(Client& client, bool on, Deadline deadline) {
  Bytes forever{0, 1}, end{0};
  CO_TRY(co_await client.ask(kChassisIdentify, on ? std::move(forever) : std::move(end), deadline));
  const auto now = co_await read_identify(client, deadline);
  if (!now && now.error().code == Code::kUnsupported) co_return ok();
  CO_TRY(const bool is_on, now);
  if (is_on == on) co_return ok();
  co_return Error{Code::kFailed, client.node() + ": Chassis Identify: accepted, and the light is " +
                                     (on ? "off" : "on")};
}

Task<Result<void>> write_boot(Client& client, BootOverride requested, Deadline deadline) {
  if (requested.target == BootTarget::uefi_http)
    co_return Error{Code::kUnsupported, client.node() + ": IPMI has no HTTP boot"};
  Bytes begin{1}, acknowledge{0x01, 0x01}, keep{kKeepForLonger}, end{0};
  CO_TRY(co_await try_option(client, kSetInProgress, std::move(begin), deadline));
  CO_TRY(co_await try_option(client, kAcknowledge, std::move(acknowledge), deadline));
  CO_TRY(co_await try_option(client, kFlagsClearing, std::move(keep), deadline));
  auto set = co_await write_flags(client, requested, deadline);
  CO_TRY(co_await try_option(client, kSetInProgress, std::move(end), deadline));
  CO_TRY(std::move(set));
  CO_TRY(const BootOverride now, co_await read_boot(client, deadline));
  const bool same = now.target == requested.target &&
                    (requested.target == BootTarget::none || now.once == requested.once);
  if (!same)
    co_return Error{Code::kFailed, client.node() + ": Set System Boot Options: accepted, but the " +
                                       "boot flags read back as " +
                                       std::string{to_string(now.target)} +
                                       (now.target == BootTarget::none ? ""
                                        : now.once                     ? ", once"
                                                                       : ", until taken back")};
  co_return ok();
}

Task<Result<BootOverride>> read_boot(Client& client, Deadline deadline) {
  Bytes data{kFlags, 0, 0};
  CO_TRY(const Bytes reported, co_await client.ask(kGetBootOptions, std::move(data), deadline));
  // Version, then the parameter's number with the mark of one that is locked: 28.13.
  if (reported.size() < 4 || (reported[1] & 0x7f) != kFlags)
    co_return Error{Code::kMalformed, client.node() + ": Get System Boot Options: cut short"};
  co_return parse_boot_flags(View{reported}.subspan(2));
}

}  // namespace cupel::bmc::ipmi
