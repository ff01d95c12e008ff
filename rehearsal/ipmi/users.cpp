#include "rehearsal/ipmi/users.h"

#include <algorithm>

namespace cupel::rehearsal::ipmi {

Users::Users(const std::string& name, const std::string& password) {
  constexpr std::uint8_t kAdministrator = 2;
  users_[0] = {.link = true, .limit = Privilege::none};
  const bool fits = password.size() <= kMostPassword && name.size() <= kMostName;
  users_[kAdministrator - 1] = {.name = name.substr(0, kMostName),
                                .password = fits ? password : std::string{},
                                .twenty = password.size() > kMostOldPassword,
                                .enabled = fits,
                                .ipmi = true,
                                .link = true,
                                .limit = Privilege::administrator};
}

void Users::set_password(const std::string& name, const std::string& password) {
  const auto user = std::ranges::find(users_, name, &User::name);
  if (name.empty() || user == users_.end()) return;
  const bool fits = password.size() <= kMostPassword;
  user->password = fits ? password : std::string{};
  user->twenty = password.size() > kMostOldPassword;
  user->enabled = fits;
}

User* Users::at(std::uint8_t id) { return id >= 1 && id <= kSlots ? &users_[id - 1u] : nullptr; }
const User* Users::at(std::uint8_t id) const {
  return id >= 1 && id <= kSlots ? &users_[id - 1u] : nullptr;
}

int Users::enabled() const {
  return static_cast<int>(std::ranges::count(users_, true, &User::enabled));
}

Users::Found Users::find(const std::string& name, Privilege requested, bool by_privilege) const {
  Found found;
  for (std::uint8_t id = 1; id <= kSlots; ++id) {
    const auto& user = users_[id - 1u];
    const bool can_come = user.enabled && user.ipmi && user.limit != Privilege::none;
    if (!can_come || user.name != name) continue;
    found.name_is_known = true;
    const bool may = user.limit >= requested;
    if (may) {
      found.id = id;
      return found;
    }
    if (!by_privilege) return found;
  }
  return found;
}

Bytes key_of(const std::string& password) {
  Bytes key(kMostPassword);
  std::copy_n(password.begin(), std::min(password.size(), kMostPassword), key.begin());
  return key;
}

}  // namespace cupel::rehearsal::ipmi
