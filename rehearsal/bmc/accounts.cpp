#include "rehearsal/bmc/accounts.h"

#include <fmt/format.h>

namespace cupel::rehearsal {
namespace {

int classes_of(std::string_view password) {
  bool lower = false, upper = false, digit = false, sign = false;
  for (const char c : password) {
    if (c >= 'a' && c <= 'z')
      lower = true;
    else if (c >= 'A' && c <= 'Z')
      upper = true;
    else if (c >= '0' && c <= '9')
      digit = true;
    else
      sign = true;
  }
  return int{lower} + int{upper} + int{digit} + int{sign};
}

}  // namespace

BmcAccounts::BmcAccounts(const AccountBehavior& behavior, std::string user, std::string password,
                         bool must_change)
    : behavior_{behavior} {
  for (int slot = 1; slot <= behavior.slots; ++slot)
    users_[std::to_string(slot)] = {.role = "None", .enabled = false};
  const auto id = behavior.id_is_name ? user : std::to_string(behavior.admin_slot);
  users_[id] = {
      .name = std::move(user), .password = std::move(password), .must_change = must_change};
}

BmcUser* BmcAccounts::find(const std::string& id) {
  const auto found = users_.find(id);
  return found == users_.end() ? nullptr : &found->second;
}

std::string BmcAccounts::id_of(const std::string& name) const {
  for (const auto& [id, user] : users_)
    if (!name.empty() && user.name == name) return id;
  return {};
}

bool BmcAccounts::locked(const BmcUser& user, VirtualTime now) const {
  return user.locked_until && now < *user.locked_until;
}

BmcAccounts::Login BmcAccounts::check(const std::string& name, const std::string& password,
                                      VirtualTime now) {
  auto* user = find(id_of(name));
  if (user == nullptr || !user->enabled) return Login::wrong;
  if (locked(*user, now)) return Login::locked;
  if (user->password == password) {
    user->wrong = 0;
    return Login::good;
  }
  if (++user->wrong >= behavior_.lockout && behavior_.lockout > 0) {
    user->locked_until = now + kLockout;
    user->wrong = 0;
  }
  return Login::wrong;
}

std::string BmcAccounts::complaint(const std::string& password) const {
  if (password.size() < behavior_.shortest)
    return fmt::format("it is shorter than {} characters", behavior_.shortest);
  if (password.size() > behavior_.longest)
    return fmt::format("it is longer than {} characters", behavior_.longest);
  if (classes_of(password) < behavior_.classes)
    return fmt::format("it needs {} of lower case, upper case, digits and signs",
                       behavior_.classes);
  return {};
}

std::optional<std::string> BmcAccounts::add(BmcUser user) {
  if (behavior_.slots > 0 || users_.size() >= kMostUsers) return std::nullopt;
  auto id = user.name;
  for (int slot = behavior_.first_slot; !behavior_.id_is_name; ++slot) {
    id = std::to_string(slot);
    if (!users_.contains(id)) break;
  }
  users_[id] = std::move(user);
  return id;
}

}  // namespace cupel::rehearsal
