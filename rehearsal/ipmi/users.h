#pragma once
// Who may log in over IPMI: slots, as the standard has them. Source: IPMI 2.0, 22.26 to 22.30.
#include <array>
#include <optional>
#include <string>

#include "rehearsal/ipmi/bytes.h"

namespace cupel::rehearsal::ipmi {

/// 6.8. `none` is what a user has who may not come over this channel.
enum class Privilege : std::uint8_t {
  unspecified = 0,
  callback = 1,
  user = 2,
  operator_ = 3,
  administrator = 4,
  oem = 5,
  none = 0xF,
};

/// 20: what RAKP takes (22.30). Shorter ones end at the first zero.
inline constexpr std::size_t kMostPassword = 20;
inline constexpr std::size_t kMostOldPassword = 16;
inline constexpr std::size_t kMostName = 16;

struct User {
  std::string name{};
  std::string password{};
  bool twenty = false;  // the password was set as one of 20 bytes
  bool enabled = false;
  bool ipmi = false;  // IPMI messaging is allowed
  bool link = false;
  bool callback_only = false;
  bool sol = true;
  Privilege limit = Privilege::none;
};

class Users {
 public:
  static constexpr std::uint8_t kSlots = 10;

  /// Slot 1 is nobody's, slot 2 the administrator's. A password of more than 20 bytes is none that
  /// IPMI can carry: that user does not get in this way.
  Users(const std::string& name, const std::string& password);

  /// Of whoever has that name; nobody may have it.
  void set_password(const std::string& name, const std::string& password);

  /// nullptr: there is no such slot.
  User* at(std::uint8_t id);
  const User* at(std::uint8_t id) const;
  int enabled() const;

  struct Found {
    std::uint8_t id = 0;         // 0: nobody
    bool name_is_known = false;  // and may not have that privilege
  };
  /// 13.20: the first enabled entry of that name; with `by_privilege`, the first that may have it.
  Found find(const std::string& name, Privilege requested, bool by_privilege) const;

 private:
  std::array<User, kSlots> users_{};
};

/// As keys and comparisons take it: 20 bytes, zeros behind.
Bytes key_of(const std::string& password);

}  // namespace cupel::rehearsal::ipmi
