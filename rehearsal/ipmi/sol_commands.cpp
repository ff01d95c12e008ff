// IPMI 2.0, 24 and 26: payloads, and Serial over LAN's configuration.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kApp = 0x06, kTransport = 0x0C;
constexpr std::uint8_t kSol = 0x01;
constexpr std::uint8_t kInstance = 1;
constexpr std::uint8_t kMostPayload = Sol::kMostData + 4;

/// 24.1. 80h: somebody has it; 81h: it is switched off; 84h: not without encryption.
Reply activate(Device& device, const Request& request) {
  constexpr auto kActive = Completion::special_80, kDisabled = Completion::special_81,
                 kNeedsEncryption = Completion{0x84};
  Reader reader{request.data};
  const auto type = reader.u8() & 0x3F, instance = reader.u8() & 0x0F;
  const auto options = reader.u8();
  if (type != kSol || instance != kInstance) return Completion::invalid_field;
  const auto* user = device.users.at(request.session->user);
  if (!device.sol.enabled || user == nullptr || !user->sol) return kDisabled;
  const bool encrypted = (options & 0x80) != 0, authenticated = (options & 0x40) != 0;
  if (!encrypted || !authenticated) return kNeedsEncryption;
  if (!device.sol.activate(request.session->id)) return kActive;
  Bytes data{0, 0, 0, 0};
  put16(data, kMostPayload);
  put16(data, kMostPayload);
  put16(data, device.place.port);
  put16(data, 0xFFFF);  // no VLAN
  return data;
}

/// 24.2. 80h: it was not active.
Reply deactivate(Device& device, const Request& request) {
  constexpr auto kInactive = Completion::special_80;
  Reader reader{request.data};
  const auto type = reader.u8() & 0x3F, instance = reader.u8() & 0x0F;
  if (type != kSol || instance != kInstance) return Completion::invalid_field;
  return device.sol.deactivate(request.session->id) ? Reply{} : kInactive;
}

Reply activation_status(Device& device, const Request& request) {
  if (request.data[0] != kSol) return Completion::invalid_field;
  return Bytes{kInstance, static_cast<std::uint8_t>(device.sol.active() ? 1 : 0), 0};
}

/// 24.5: the session that has it; 0: nobody.
Reply instance_info(Device& device, const Request& request) {
  if (request.data[0] != kSol || request.data[1] != kInstance) return Completion::invalid_field;
  Bytes data;
  put32(data, device.sol.session());
  put(data, Bytes{kInstance, 0, 0, 0, 0, 0, 0, 0});
  return data;
}

Reply set_user_access(Device& device, const Request& request) {
  auto* user = device.users.at(request.data[1] & 0x3F);
  if (user == nullptr) return Completion::invalid_field;
  const bool disables = request.data[1] >> 6 == 1;
  constexpr std::uint8_t kSolBit = 1u << kSol;
  if ((request.data[2] & kSolBit) != 0) user->sol = !disables;
  return {};
}

Reply user_access(Device& device, const Request& request) {
  const auto* user = device.users.at(request.data[1] & 0x3F);
  if (user == nullptr) return Completion::invalid_field;
  return Bytes{static_cast<std::uint8_t>(user->sol ? 1u << kSol : 0u), 0, 0, 0};
}

/// 24.8: IPMI messages, SOL, and what sets a session up.
Reply channel_support(Device&, const Request&) {
  return Bytes{0x03, 0x00, 0x3F, 0x00, 0x00, 0x00, 0x00, 0x00};
}

Reply channel_version(Device&, const Request& request) {
  constexpr auto kNotThere = Completion::special_80;
  constexpr std::uint8_t kVersion1 = 0x10;
  const bool known =
      request.data[1] <= kSol || (request.data[1] >= 0x10 && request.data[1] <= 0x15);
  return known ? Reply{Bytes{kVersion1}} : kNotThere;
}

enum SolParameter : std::uint8_t {
  kSetInProgress,
  kEnable,
  kAuthentication,
  kAccumulate,
  kRetry,
  kBitRate,
  kVolatileBitRate,
  kChannel,
  kPort,
};

/// 26.2 and 26.3. 80h: there is no such parameter; 82h: it is read only.
Reply set_parameter(Device& device, const Request& request) {
  auto& sol = device.sol;
  const auto value = request.data.subspan(2);
  const bool two = request.data[1] == kAccumulate || request.data[1] == kRetry;
  if (request.data[1] <= kVolatileBitRate && value.size() != (two ? 2u : 1u))
    return Completion::wrong_length;
  switch (request.data[1]) {
    case kSetInProgress:
      return {};
    case kEnable:
      sol.enabled = (value[0] & 1) != 0;
      return {};
    case kAuthentication:
      sol.authentication = static_cast<std::uint8_t>(value[0] | 0xC0);
      return {};
    case kAccumulate:
      sol.accumulate = value[0];
      sol.threshold = value[1];
      return {};
    case kRetry:
      sol.retries = value[0] & 7;
      sol.retry_interval = value[1];
      return {};
    case kBitRate:
    case kVolatileBitRate:
      sol.bit_rate = value[0] & 0x0F;
      return {};
    case kChannel:
    case kPort:
      return Completion::special_82;
    default:
      return Completion::special_80;
  }
}

Reply parameter(Device& device, const Request& request) {
  constexpr std::uint8_t kRevision = 0x11, kLan = 1;
  const auto& sol = device.sol;
  Bytes data{kRevision};
  const bool revision_only = (request.data[0] & 0x80) != 0;
  if (revision_only) return data;
  switch (request.data[1]) {
    case kSetInProgress:
      put8(data, 0);
      return data;
    case kEnable:
      put8(data, sol.enabled ? 1 : 0);
      return data;
    case kAuthentication:
      put8(data, sol.authentication);
      return data;
    case kAccumulate:
      put(data, Bytes{sol.accumulate, sol.threshold});
      return data;
    case kRetry:
      put(data, Bytes{sol.retries, sol.retry_interval});
      return data;
    case kBitRate:
    case kVolatileBitRate:
      put8(data, sol.bit_rate);
      return data;
    case kChannel:
      put8(data, kLan);
      return data;
    case kPort:
      put16(data, device.place.port);
      return data;
    default:
      return Completion::special_80;
  }
}

constexpr auto kUser = Privilege::user;
constexpr auto kOperator = Privilege::operator_;
constexpr auto kAdministrator = Privilege::administrator;

constexpr std::array<Command, 10> kTable{{
    {kApp, 0x48, kUser, 6, 6, activate},
    {kApp, 0x49, kUser, 6, 6, deactivate},
    {kApp, 0x4A, kUser, 1, 1, activation_status},
    {kApp, 0x4B, kUser, 2, 2, instance_info},
    {kApp, 0x4C, kAdministrator, 6, 6, set_user_access},
    {kApp, 0x4D, kOperator, 2, 2, user_access},
    {kApp, 0x4E, kUser, 1, 1, channel_support},
    {kApp, 0x4F, kUser, 2, 2, channel_version},
    {kTransport, 0x21, kAdministrator, 3, 4, set_parameter},
    {kTransport, 0x22, kUser, 4, 4, parameter},
}};

}  // namespace

std::span<const Command> sol_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
