#pragma once
// The users of one BMC: slots, passwords, roles, lockout. No HTTP here.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "rehearsal/bmc/vendor_behavior.h"

namespace cupel::rehearsal {

struct BmcUser {
  std::string name{};  // empty: a free slot
  std::string password{};
  std::string role = "Administrator";
  bool enabled = true;
  bool must_change = false;  // the password, before anything else
  int wrong = 0;             // passwords in a row
  std::optional<VirtualTime> locked_until{};
};

class BmcAccounts {
 public:
  static constexpr std::size_t kMostUsers = 15;
  static constexpr VirtualTime kLockout{60};

  BmcAccounts(const AccountBehavior& behavior, std::string user, std::string password,
              bool must_change);

  /// The slots that are shown, by the id of their resource.
  const std::map<std::string, BmcUser>& all() const { return users_; }
  BmcUser* find(const std::string& id);
  /// Id of the slot of that user; empty: there is none.
  std::string id_of(const std::string& name) const;
  bool locked(const BmcUser& user, VirtualTime now) const;

  enum class Login { good, wrong, locked };
  Login check(const std::string& name, const std::string& password, VirtualTime now);

  /// What the policy has against it; empty: nothing.
  std::string complaint(const std::string& password) const;
  /// Id of the new one; nothing where there is no room.
  std::optional<std::string> add(BmcUser user);
  /// Called with each user who got a new password: one BMC has the same behind every protocol.
  std::function<void(const BmcUser&)> on_password = [](const BmcUser&) {};
  bool remove(const std::string& id) { return users_.erase(id) > 0; }

 private:
  AccountBehavior behavior_;
  std::map<std::string, BmcUser> users_;
};

}  // namespace cupel::rehearsal
