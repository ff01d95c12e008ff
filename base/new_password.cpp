#include "base/new_password.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace cupel {
namespace {

constexpr std::string_view kLower = "abcdefghijkmnopqrstuvwxyz",
                           kUpper = "ABCDEFGHJKLMNPQRSTUVWXYZ", kDigits = "23456789",
                           kOthers = "-_.+=";

/// Below `count`, each as likely as the others.
std::size_t any_below(std::size_t count) {
  const auto limit = 256 - 256 % count;
  for (;;) {
    unsigned char byte = 0;
    // Without randomness there is nothing right to go on with.
    if (RAND_bytes(&byte, 1) != 1) std::abort();
    if (byte < limit) return byte % count;
  }
}

char any_of(std::string_view characters) { return characters[any_below(characters.size())]; }

}  // namespace

std::string new_password(std::size_t length) {
  length = std::clamp<std::size_t>(length, 16, 20);
  constexpr std::array kClasses{kLower, kUpper, kDigits, kOthers};
  std::string all;
  for (const auto characters : kClasses) all += characters;
  std::string password;
  for (const auto characters : kClasses) password += any_of(characters);
  while (password.size() < length) password += any_of(all);
  for (auto i = password.size() - 1; i > 0; --i) std::swap(password[i], password[any_below(i + 1)]);
  return password;
}

}  // namespace cupel
