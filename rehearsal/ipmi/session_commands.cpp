// IPMI 2.0, 22: channels and sessions.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kApp = 0x06;
constexpr std::uint8_t kLan = 1, kThis = 0x0E, kSystem = 0x0F;
constexpr std::uint8_t kMedium802_3 = 0x04, kMediumSystem = 0x0C;

bool is_lan(std::uint8_t channel) {
  const auto number = channel & 0x0F;
  return number == kLan || number == kThis;
}

/// 22.13. No IPMI 1.5 login; RMCP+ with user names.
Reply authentication_capabilities(Device& device, const Request& request) {
  if (!is_lan(request.data[0])) return Completion::invalid_field;
  const bool asks_for_2 = (request.data[0] & 0x80) != 0;
  constexpr std::uint8_t kExtended = 0x80, kRmcpPlusOnly = 0x02;
  std::uint8_t status = 0x04;  // there are users with names
  for (std::uint8_t id = 1; id <= Users::kSlots; ++id) {
    const auto* user = device.users.at(id);
    const bool anonymous = user->enabled && user->name.empty();
    if (anonymous) status |= user->password.empty() ? 0x01 : 0x02;
  }
  return Bytes{kLan,   asks_for_2 ? kExtended : std::uint8_t{0},
               status, asks_for_2 ? kRmcpPlusOnly : std::uint8_t{0},
               0,      0,
               0,      0};
}

/// 22.15: 16 bytes at a time; a shorter piece is the last.
Reply cipher_suites(Device& device, const Request& request) {
  constexpr std::uint8_t kStandardSuite = 0xC0;
  constexpr std::size_t kPiece = 16;
  if (!is_lan(request.data[0])) return Completion::invalid_field;
  const bool algorithms_only = (request.data[2] & 0x80) == 0;
  Bytes all;
  for (const auto& suite : kSuites) {
    if (device.sessions.suite_3_only && suite.id != 3) continue;
    if (!algorithms_only) put(all, Bytes{kStandardSuite, suite.id});
    put(all, Bytes{suite.authentication, static_cast<std::uint8_t>(0x40 | suite.integrity),
                   static_cast<std::uint8_t>(0x80 | suite.confidentiality)});
  }
  const std::size_t from = std::size_t{request.data[2] & 0x3Fu} * kPiece;
  Bytes data{kLan};
  if (from < all.size()) put(data, View{all}.subspan(from, std::min(kPiece, all.size() - from)));
  return data;
}

Reply set_privilege(Device&, const Request& request) {
  auto& session = *request.session;
  const auto requested = static_cast<Privilege>(request.data[0] & 0x0F);
  if (requested == Privilege::unspecified)
    return Bytes{static_cast<std::uint8_t>(session.privilege)};
  // 22.18: 80h: not for this user; 81h: over the session's or the channel's limit.
  if (requested == Privilege::callback || requested > Privilege::oem)
    return Completion::invalid_field;
  if (requested > session.limit) return Completion::special_81;
  session.privilege = requested;
  return Bytes{static_cast<std::uint8_t>(requested)};
}

Reply close_session(Device& device, const Request& request) {
  constexpr auto kNoSuchId = Completion{0x87}, kNoSuchHandle = Completion{0x88};
  Reader reader{request.data};
  const auto id = reader.u32();
  auto* session = device.sessions.find(id);
  if (id == 0) {
    if (reader.left() == 0) return kNoSuchHandle;
    session = device.sessions.by_handle(reader.u8());
    if (session == nullptr) return kNoSuchHandle;
  } else if (reader.left() != 0) {
    return Completion::wrong_length;
  }
  if (session == nullptr) return kNoSuchId;
  const bool own = session == request.session;
  if (!own && request.session->privilege < Privilege::administrator)
    return Completion::insufficient_privilege;
  device.close_requested = session->id;
  return {};
}

/// 22.20.
Reply session_info(Device& device, const Request& request) {
  constexpr std::uint8_t kRmcpPlus = 0x10;
  constexpr std::uint8_t kById = 0xFF, kByHandle = 0xFE;
  Reader reader{request.data};
  const auto which = reader.u8();
  auto* session = request.session;
  if (which == kById) session = device.sessions.find(reader.u32());
  if (which == kByHandle) session = device.sessions.by_handle(reader.u8());
  if (!reader.good()) return Completion::wrong_length;
  if (which != 0 && which < kByHandle && which > device.sessions.active())
    return Completion::out_of_range;
  Bytes data{0, Sessions::kMost, static_cast<std::uint8_t>(device.sessions.active())};
  if (session == nullptr || (which > 1 && which < kByHandle)) return data;
  data[0] = session->handle;
  put(data, Bytes{session->user, static_cast<std::uint8_t>(session->privilege), kRmcpPlus | kLan});
  put(data, session->peer.address().to_v4().to_bytes());
  put(data, Bytes(6));
  put16(data, session->peer.port());
  return data;
}

/// 22.23.
Reply channel_access(Device&, const Request& request) {
  constexpr std::uint8_t kAlwaysAvailable = 0x22;
  if (!is_lan(request.data[0])) return Completion::invalid_field;
  const auto which = request.data[1] >> 6;
  if (which != 1 && which != 2) return Completion::invalid_field;
  return Bytes{kAlwaysAvailable, static_cast<std::uint8_t>(Privilege::administrator)};
}

/// 22.24.
Reply channel_info(Device& device, const Request& request) {
  const auto channel = static_cast<std::uint8_t>(request.data[0] & 0x0F);
  const bool lan = is_lan(channel);
  if (!lan && channel != kSystem) return Completion::invalid_field;
  constexpr std::uint8_t kIpmb = 0x01, kKcs = 0x05, kMultiSession = 0x80;
  Bytes data{lan ? kLan : kSystem, lan ? kMedium802_3 : kMediumSystem, lan ? kIpmb : kKcs};
  const auto active = static_cast<std::uint8_t>(device.sessions.active());
  put8(data, lan ? kMultiSession | active : 0u);
  put(data, Bytes{0xF2, 0x1B, 0x00});  // IANA's enterprise number of IPMI
  put(data, Bytes{0, 0});
  return data;
}

constexpr auto kNone = Privilege::unspecified;
constexpr auto kUser = Privilege::user;

constexpr std::array<Command, 7> kTable{{
    {kApp, 0x38, kNone, 2, 2, authentication_capabilities},
    {kApp, 0x3B, Privilege::callback, 1, 1, set_privilege},
    {kApp, 0x3C, Privilege::callback, 4, 5, close_session},
    {kApp, 0x3D, kUser, 1, 5, session_info},
    {kApp, 0x41, kUser, 2, 2, channel_access},
    {kApp, 0x42, kUser, 1, 1, channel_info},
    {kApp, 0x54, kNone, 3, 3, cipher_suites},
}};

}  // namespace

std::span<const Command> session_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
