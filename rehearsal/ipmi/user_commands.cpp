// IPMI 2.0, 22.26 to 22.31: users.
#include <algorithm>

#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kApp = 0x06;

std::string text_of(View bytes) {
  const auto end = std::ranges::find(bytes, 0);
  return {bytes.begin(), end};
}

Reply set_access(Device& device, const Request& request) {
  auto* user = device.users.at(request.data[1] & 0x3F);
  if (user == nullptr) return Completion::invalid_field;
  const auto limit = static_cast<Privilege>(request.data[2] & 0x0F);
  const bool known = limit <= Privilege::oem || limit == Privilege::none;
  if (!known) return Completion::invalid_field;
  const auto flags = request.data[0];
  if ((flags & 0x80) != 0) {
    user->callback_only = (flags & 0x40) != 0;
    user->link = (flags & 0x20) != 0;
    user->ipmi = (flags & 0x10) != 0;
  }
  user->limit = limit;
  return {};
}

Reply access(Device& device, const Request& request) {
  const auto* user = device.users.at(request.data[1] & 0x3F);
  if (user == nullptr) return Completion::invalid_field;
  constexpr unsigned kFixedNames = 1, kEnabled = 0x40, kDisabled = 0x80;
  return Bytes{
      Users::kSlots,
      static_cast<std::uint8_t>((user->enabled ? kEnabled : kDisabled) |
                                static_cast<unsigned>(device.users.enabled())),
      kFixedNames,
      static_cast<std::uint8_t>((user->callback_only ? 0x40 : 0) | (user->link ? 0x20 : 0) |
                                (user->ipmi ? 0x10 : 0) | static_cast<int>(user->limit))};
}

Reply set_name(Device& device, const Request& request) {
  auto* user = device.users.at(request.data[0] & 0x3F);
  const bool fixed = (request.data[0] & 0x3F) == 1;
  if (user == nullptr || fixed) return Completion::invalid_field;
  const auto name = text_of(request.data.subspan(1));
  for (std::uint8_t id = 1; id <= Users::kSlots; ++id) {
    const auto* other = device.users.at(id);
    if (other != user && !name.empty() && other->name == name) return Completion::invalid_field;
  }
  user->name = name;
  return {};
}

Reply name(Device& device, const Request& request) {
  const auto* user = device.users.at(request.data[0] & 0x3F);
  if (user == nullptr) return Completion::invalid_field;
  Bytes data{user->name.begin(), user->name.end()};
  data.resize(kMostName);
  return data;
}

/// 22.30: 80h: another password; 81h: it was stored with another size.
Reply set_password(Device& device, const Request& request) {
  constexpr auto kMismatch = Completion::special_80, kOtherSize = Completion::special_81;
  enum : unsigned { kDisable, kEnable, kSet, kTest };
  const bool twenty = (request.data[0] & 0x80) != 0;
  auto* user = device.users.at(request.data[0] & 0x3F);
  if (user == nullptr) return Completion::invalid_field;
  const unsigned operation = request.data[1] & 3u;
  const auto password = request.data.subspan(2);
  if (operation == kDisable || operation == kEnable) {
    user->enabled = operation == kEnable;
    return {};
  }
  if (password.size() != (twenty ? kMostPassword : kMostOldPassword))
    return Completion::wrong_length;
  if (operation == kTest) {
    if (user->twenty != twenty) return kOtherSize;
    return text_of(password) == user->password ? Reply{} : kMismatch;
  }
  user->password = text_of(password);
  user->twenty = twenty;
  return {};
}

constexpr auto kOperator = Privilege::operator_;
constexpr auto kAdministrator = Privilege::administrator;

constexpr std::array<Command, 5> kTable{{
    {kApp, 0x43, kAdministrator, 3, 4, set_access},
    {kApp, 0x44, kOperator, 2, 2, access},
    {kApp, 0x45, kAdministrator, 2, 17, set_name},
    {kApp, 0x46, kOperator, 1, 1, name},
    {kApp, 0x47, kAdministrator, 2, 22, set_password},
}};

}  // namespace

std::span<const Command> user_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
