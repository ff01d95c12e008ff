// IPMI 2.0, 28: power, identify, boot options.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kChassis = 0x00;

Reply capabilities(Device&, const Request&) {
  constexpr std::uint8_t kBmc = 0x20;
  return Bytes{0, kBmc, kBmc, kBmc, kBmc};
}

/// 28.2.
Reply status(Device& device, const Request&) {
  constexpr std::uint8_t kIdentifySupported = 0x40, kIdentifyTimed = 0x10, kIdentifyOn = 0x20;
  const auto reported = device.machine.reported_power();
  const bool on = reported == Power::on || reported == Power::powering_off;
  const auto identify = device.machine.locator()               ? kIdentifyOn
                        : device.now() < device.identify_until ? kIdentifyTimed
                                                               : std::uint8_t{0};
  return Bytes{static_cast<std::uint8_t>(device.restore_policy << 5 | (on ? 1 : 0)),
               static_cast<std::uint8_t>(device.power_by_command ? 0x10 : 0),
               static_cast<std::uint8_t>(kIdentifySupported | identify)};
}

/// 28.3. D5h where the machine's state makes it meaningless: restart of one that is off.
Reply control(Device& device, const Request& request) {
  constexpr std::array<std::optional<Reset>, 6> kPresses{
      Reset::force_off,     Reset::on,    Reset::power_cycle,
      Reset::force_restart, std::nullopt, Reset::graceful_shutdown};
  const auto action = request.data[0] & 0x0F;
  if (action >= static_cast<int>(kPresses.size())) return Completion::invalid_field;
  device.boot.restart_countdown(device.now());
  const auto press = kPresses[static_cast<std::size_t>(action)];
  const bool running = device.machine.power() == Power::on;
  if (!press) return running ? Reply{} : Completion::wrong_state;
  if (!device.machine.press(*press)) return Completion::wrong_state;
  device.power_by_command = true;
  constexpr std::uint8_t kByChassisControl = 0x01;
  device.restart_cause = kByChassisControl;
  return {};
}

Reply identify(Device& device, const Request& request) {
  const auto& data = request.data;
  const std::chrono::seconds span{data.empty() ? Device::kIdentifyDefault.count() : data[0]};
  device.machine.set_locator(data.size() > 1 && (data[1] & 1) != 0);
  device.identify_until = device.now() + span;
  return {};
}

Reply set_restore_policy(Device& device, const Request& request) {
  constexpr std::uint8_t kNoChange = 3, kAllThree = 0x07;
  const auto requested = static_cast<std::uint8_t>(request.data[0] & 7);
  if (requested > kNoChange) return Completion::invalid_field;
  if (requested != kNoChange) device.restore_policy = requested;
  return Bytes{kAllThree};
}

Reply restart_cause(Device& device, const Request&) { return Bytes{device.restart_cause, 1}; }

Reply power_on_hours(Device& device, const Request&) {
  constexpr std::uint8_t kMinutesPerCount = 60;
  Bytes data{kMinutesPerCount};
  put32(data, device.uptime() / 3600);
  return data;
}

enum BootParameter : std::uint8_t {
  kSetInProgress = 0,
  kValidBitClearing = 3,
  kAcknowledge = 4,
  kFlags = 5,
  kInitiator = 6,
};

/// 28.12. 80h: no such parameter; 81h: somebody else is setting; 82h: it cannot be written.
Reply set_boot_option(Device& device, const Request& request) {
  Reader reader{request.data};
  const auto parameter = reader.u8() & 0x7F;
  const auto data = reader.rest();
  auto& boot = device.boot;
  switch (parameter) {
    case kSetInProgress:
      if (data.size() != 1) return Completion::wrong_length;
      if ((data[0] & 3) == 1 && boot.in_progress == 1) return Completion::special_81;
      boot.in_progress = (data[0] & 3) == 1 ? 1 : 0;
      return {};
    case kValidBitClearing:
      if (data.size() != 1) return Completion::wrong_length;
      boot.keep_valid = data[0] & 0x1F;
      return {};
    case kAcknowledge: {
      if (data.size() != 2) return Completion::wrong_length;
      const auto kept = boot.acknowledged[1] & ~data[0];
      boot.acknowledged[1] = static_cast<std::uint8_t>(kept | (data[1] & data[0]));
      return {};
    }
    case kFlags: {
      BootFlags::Flags flags{};
      if (data.size() != flags.size()) return data.empty() ? Reply{} : Completion::wrong_length;
      std::ranges::copy(data, flags.begin());
      return boot.set(flags, device.now()) ? Reply{} : Completion::invalid_field;
    }
    default:
      return Completion::special_80;
  }
}

/// 28.13.
Reply boot_option(Device& device, const Request& request) {
  constexpr std::uint8_t kVersion = 0x01;
  const auto parameter = static_cast<std::uint8_t>(request.data[0] & 0x7F);
  auto& boot = device.boot;
  Bytes data{kVersion, parameter};
  switch (parameter) {
    case kSetInProgress:
      put8(data, boot.in_progress);
      return data;
    case kValidBitClearing:
      put8(data, boot.keep_valid);
      return data;
    case kAcknowledge:
      put(data, boot.acknowledged);
      return data;
    case kFlags:
      put(data, boot.flags(device.now()));
      return data;
    case kInitiator:
      put(data, Bytes(9));
      return data;
    default:
      return Completion::special_80;
  }
}

constexpr auto kUser = Privilege::user;
constexpr auto kOperator = Privilege::operator_;

constexpr std::array<Command, 9> kTable{{
    {kChassis, 0x00, kUser, 0, 0, capabilities},
    {kChassis, 0x01, kUser, 0, 0, status},
    {kChassis, 0x02, kOperator, 1, 1, control},
    {kChassis, 0x04, kOperator, 0, 2, identify},
    {kChassis, 0x06, kOperator, 1, 1, set_restore_policy},
    {kChassis, 0x07, kUser, 0, 0, restart_cause},
    {kChassis, 0x08, kOperator, 1, 17, set_boot_option},
    {kChassis, 0x09, kOperator, 3, 3, boot_option},
    {kChassis, 0x0F, kUser, 0, 0, power_on_hours},
}};

}  // namespace

std::span<const Command> chassis_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
