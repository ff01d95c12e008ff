#include "base/login.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace cupel {
namespace {

constexpr std::uint32_t kNobodyLoggedIn = 0xFFFFFFFF;  // audit(7): loginuid is unset
constexpr std::size_t kLongestName = 64;

std::optional<std::string> system_name(std::uint32_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> room{};
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return std::string{entry.pw_name};
}

}  // namespace

Login current_login() {
  Login login;
  login.user = ::getuid();
  if (const auto text = read_file("/proc/self/loginuid", 64))
    login.audited = number<std::uint32_t>(trimmed(*text));
  if (login.audited == kNobodyLoggedIn) login.audited.reset();
  if (const char* sudo = std::getenv("SUDO_USER"); sudo != nullptr)
    login.sudo = shortened(printable(sudo), kLongestName);
  return login;
}

std::string name_of(const Login& login, std::optional<std::string> (*name)(std::uint32_t)) {
  const auto named = [name](std::uint32_t user) {
    return name(user).value_or(std::to_string(user));
  };
  const auto user = named(login.user);
  if (login.audited)
    return *login.audited == login.user ? user : named(*login.audited) + " (as " + user + ")";
  if (login.sudo.empty() || login.sudo == user) return user;
  return user + " (sudo: " + login.sudo + ")";
}

std::string login_name() { return name_of(current_login(), system_name); }

}  // namespace cupel
