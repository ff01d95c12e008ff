// DCMI 1.5, 6.1.1 and 6.6.1: what the machine draws; and timers and filters that are there and
// idle.
#include <cmath>

#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kGroup = 0x2C, kDcmi = 0xDC, kSensorEvent = 0x04, kApp = 0x06;

/// 6.1.1, table 6-2: version 1.5; power management, over LAN and the system interface; and the log.
Reply capabilities(Device&, const Request& request) {
  constexpr std::uint8_t kSupported = 0x01, kMandatory = 0x02, kRevision = 0x02;
  constexpr std::uint8_t kPowerManagement = 0x01, kSystemInterfaceAndLan = 0x05,
                         kPollSeconds = 0x01;
  constexpr std::uint16_t kRollsOver = 0x8000;
  if (request.data[0] != kDcmi) return Completion::invalid_command;
  Bytes data{kDcmi, 1, 5, kRevision};
  switch (request.data[1]) {
    case kSupported:
      data.insert(data.end(), {0, kPowerManagement, kSystemInterfaceAndLan});
      return data;
    case kMandatory:
      put16(data, kRollsOver | static_cast<unsigned>(Sel::kMost));
      data.insert(data.end(), {0, 0, kPollSeconds});
      return data;
    default:
      return Completion::out_of_range;
  }
}

/// Lowest, highest and mean are of the readings that somebody asked for since the BMC started.
Reply power_reading(Device& device, const Request& request) {
  constexpr std::uint8_t kSystemStatistics = 0x01, kActive = 0x40;
  if (request.data[0] != kDcmi) return Completion::invalid_command;
  if (request.data[1] != kSystemStatistics) return Completion::invalid_field;
  auto& known = device.power_readings;
  const double watts = std::round(std::clamp(device.machine.sensors().node_watts(), 0.0, 65535.0));
  known.lowest = known.count == 0 ? watts : std::min(known.lowest, watts);
  known.highest = std::max(known.highest, watts);
  known.sum += watts;
  ++known.count;
  Bytes data{kDcmi};
  for (const double each : {watts, known.lowest, known.highest, known.sum / known.count})
    put16(data, static_cast<unsigned>(each));
  put32(data, device.sel.time());
  put32(data, static_cast<std::uint32_t>(
                  std::min<std::uint64_t>(std::uint64_t{device.uptime()} * 1000, UINT32_MAX)));
  data.push_back(kActive);
  return data;
}

/// 27.7: nobody has set it, and it does not run.
Reply watchdog(Device&, const Request&) { return Bytes(8, 0); }

/// 27.5.
Reply reset_watchdog(Device&, const Request&) {
  constexpr auto kNotInitialized = Completion::special_80;
  return kNotInitialized;
}

/// 30.1: version 1.5, no action, no filter.
Reply event_filtering(Device&, const Request&) {
  constexpr std::uint8_t kVersion = 0x51;
  return Bytes{kVersion, 0, 0};
}

constexpr auto kUser = Privilege::user;
constexpr auto kOperator = Privilege::operator_;

constexpr std::array<Command, 5> kTable{{
    {kGroup, 0x01, kUser, 2, 2, capabilities},
    {kGroup, 0x02, kUser, 4, 4, power_reading},
    {kApp, 0x22, kOperator, 0, 0, reset_watchdog},
    {kApp, 0x25, kUser, 0, 0, watchdog},
    {kSensorEvent, 0x10, kUser, 0, 0, event_filtering},
}};

}  // namespace

std::span<const Command> dcmi_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
