#pragma once
// Who started this process: for records in which a reader must find a person.
#include <cstdint>
#include <optional>
#include <string>

namespace cupel {

struct Login {
  std::uint32_t user = 0;  // that the process runs as
  /// Who logged in, as the kernel's audit has it: it survives su and sudo. Source: proc(5),
  /// /proc/pid/loginuid.
  std::optional<std::uint32_t> audited{};
  std::string sudo{};  // $SUDO_USER, which whoever calls may set as he likes; may be empty
};

Login current_login();

/// "alice"; "alice (as root)" where the kernel says that she logged in and works as somebody else;
/// "root (sudo: alice)" where only the environment says so. `name` gives a user's name, or nothing.
std::string name_of(const Login& login, std::optional<std::string> (*name)(std::uint32_t));

/// Of this process, by the system's users.
std::string login_name();

}  // namespace cupel
