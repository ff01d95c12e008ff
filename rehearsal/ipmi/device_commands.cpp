// IPMI 2.0, 20: what the controller is.
#include "base/text.h"
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kApp = 0x06;

std::uint8_t bcd(unsigned value) {
  return static_cast<std::uint8_t>(value / 10 % 10 << 4 | value % 10);
}

/// "23.11.21": 23 and 11, and 21 in the auxiliary bytes.
std::array<unsigned, 3> version_of(const Hardware& hardware) {
  std::array<unsigned, 3> parts{};
  const auto text = hardware.version("HostBMC_0", "23.11.21");
  const auto pieces = split(text, '.');
  for (std::size_t i = 0; i < std::min(parts.size(), pieces.size()); ++i)
    parts[i] = number<unsigned>(pieces[i]).value_or(0);
  return parts;
}

Reply device_id(Device& device, const Request&) {
  constexpr std::uint8_t kId = 0x20, kRevision = 0x81, kIpmi2 = 0x02;
  // A chassis, FRU, SEL, SDR and sensor device.
  constexpr std::uint8_t kDevices = 0x8F;
  constexpr std::uint32_t kNvidia = 5703;  // IANA's enterprise number
  constexpr unsigned kProduct = 0x0100;
  const auto [major, minor, more] = version_of(device.machine.hardware());
  Bytes data{kId, kRevision, static_cast<std::uint8_t>(major & 0x7F), bcd(minor), kIpmi2, kDevices};
  put(data, Bytes{kNvidia & 0xFF, kNvidia >> 8 & 0xFF, kNvidia >> 16});
  put16(data, kProduct);
  put32(data, more);
  return data;
}

Reply reset(Device& device, const Request&) {
  device.restart_requested = true;
  return {};
}

Reply self_test(Device&, const Request&) {
  constexpr std::uint8_t kNoError = 0x55;
  return Bytes{kNoError, 0};
}

Reply power_state(Device& device, const Request&) {
  constexpr std::uint8_t kS0 = 0x00, kSoftOff = 0x05;
  const bool on = device.machine.power() == Power::on;
  return Bytes{on ? kS0 : kSoftOff, 0};
}

Reply guid(Device& device, const Request&) { return guid_of(device.machine.hardware().uuid); }

Reply global_enables(Device&, const Request&) {
  constexpr std::uint8_t kLogging = 0x08;
  return Bytes{kLogging};
}

constexpr auto kNone = Privilege::unspecified;
constexpr auto kUser = Privilege::user;
constexpr auto kAdministrator = Privilege::administrator;

constexpr std::array<Command, 8> kTable{{
    {kApp, 0x01, kUser, 0, 0, device_id},
    {kApp, 0x02, kAdministrator, 0, 0, reset},
    {kApp, 0x03, kAdministrator, 0, 0, reset},
    {kApp, 0x04, kUser, 0, 0, self_test},
    {kApp, 0x07, kUser, 0, 0, power_state},
    {kApp, 0x08, kUser, 0, 0, guid},
    {kApp, 0x2F, kUser, 0, 0, global_enables},
    {kApp, 0x37, kNone, 0, 0, guid},
}};

}  // namespace

std::span<const Command> device_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
