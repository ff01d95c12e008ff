// IPMI 2.0, 23: what the LAN interface is given and tells.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kTransport = 0x0C;
constexpr std::uint8_t kRevision = 0x11;

bool is_lan(std::uint8_t channel) { return (channel & 0x0F) == 1 || (channel & 0x0F) == 0x0E; }

/// Table 23-4.
enum LanParameter : std::uint8_t {
  kSetInProgress = 0,
  kAuthenticationSupport = 1,
  kAuthenticationEnables = 2,
  kAddress = 3,
  kAddressSource = 4,
  kMac = 5,
  kMask = 6,
  kHeader = 7,
  kArp = 10,
  kArpInterval = 11,
  kGateway = 12,
  kGatewayMac = 13,
  kBackupGateway = 14,
  kBackupGatewayMac = 15,
  kCommunity = 16,
  kDestinations = 17,
  kVlan = 20,
  kVlanPriority = 21,
  kSuiteCount = 22,
  kSuites = 23,
  kSuitePrivileges = 24,
  kBadPasswords = 26,
};

/// 17 places; each suite's most: administrator.
Bytes suite_entries(const Device& device, bool privileges) {
  constexpr std::size_t kPlaces = 17;
  Bytes data{0};
  std::size_t count = 0;
  for (const auto& suite : ipmi::kSuites) {
    if (device.sessions.suite_3_only && suite.id != 3) continue;
    if (!privileges) put8(data, suite.id);
    ++count;
  }
  if (!privileges) {
    data.resize(kPlaces);
    return data;
  }
  for (std::size_t i = 0; i < 8; ++i)
    put8(data, (2 * i < count ? 0x04u : 0u) | (2 * i + 1 < count ? 0x40u : 0u));
  return data;
}

std::optional<Bytes> parameter_of(const Device& device, std::uint8_t number) {
  const auto bytes = [](const auto& all) { return Bytes{all.begin(), all.end()}; };
  switch (number) {
    case kSetInProgress:
      return Bytes{0};
    case kAuthenticationSupport:
      return Bytes{0};
    case kAuthenticationEnables:
      return Bytes(5);
    case kAddress:
      return bytes(device.place.address);
    case kAddressSource:
      return Bytes{0x01};
    case kMac:
      return bytes(mac_of(device.machine.hardware()));
    case kMask:
      return Bytes{255, 0, 0, 0};
    case kHeader:
      return Bytes{0x40, 0x40, 0x10};
    case kArp:
      return Bytes{0x02};
    case kArpInterval:
      return Bytes{0};
    case kGateway:
    case kBackupGateway:
      return Bytes(4);
    case kGatewayMac:
    case kBackupGatewayMac:
      return Bytes(6);
    case kCommunity: {
      const std::string_view word = "public";
      Bytes data{word.begin(), word.end()};
      data.resize(18);
      return data;
    }
    case kDestinations:
      return Bytes{0};
    case kVlan:
      return Bytes{0, 0};
    case kVlanPriority:
      return Bytes{0};
    case kSuiteCount:
      return Bytes{static_cast<std::uint8_t>(device.sessions.suite_3_only ? 1 : 2)};
    case kSuites:
      return suite_entries(device, false);
    case kSuitePrivileges:
      return suite_entries(device, true);
    case kBadPasswords:
      return Bytes(6);
    default:
      return std::nullopt;
  }
}

/// 23.2. 80h: there is no such parameter.
Reply lan_parameter(Device& device, const Request& request) {
  if (!is_lan(request.data[0])) return Completion::invalid_field;
  const bool revision_only = (request.data[0] & 0x80) != 0;
  Bytes data{kRevision};
  if (revision_only) return data;
  const auto number = request.data[1];
  const auto changed = device.lan_changes.find(number);
  const auto value = changed == device.lan_changes.end() ? parameter_of(device, number)
                                                         : std::optional{changed->second};
  if (!value) return Completion::special_80;
  put(data, *value);
  return data;
}

/// 23.1. Of what may be set here nothing moves the BMC; an address is for the rack's file to say
/// (82h: read only).
Reply set_lan_parameter(Device& device, const Request& request) {
  constexpr std::array<std::uint8_t, 5> kWritable{kArp, kArpInterval, kCommunity, kVlanPriority,
                                                  kBadPasswords};
  if (!is_lan(request.data[0])) return Completion::invalid_field;
  const auto number = request.data[1];
  const auto known = parameter_of(device, number);
  if (!known) return Completion::special_80;
  if (number == kSetInProgress) return {};
  if (std::ranges::count(kWritable, number) == 0) return Completion::special_82;
  const auto value = request.data.subspan(2);
  if (value.size() != known->size()) return Completion::wrong_length;
  device.lan_changes[number] = {value.begin(), value.end()};
  return {};
}

constexpr std::array<Command, 2> kTable{{
    {kTransport, 0x01, Privilege::administrator, 3, 20, set_lan_parameter},
    {kTransport, 0x02, Privilege::operator_, 4, 4, lan_parameter},
}};

}  // namespace

std::span<const Command> lan_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
