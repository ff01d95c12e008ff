#include "orchestrator/api/identity.h"

#include <fmt/format.h>

#include <array>

#include "base/enum_words.h"

namespace cupel::api {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"viewer", "operator", "admin"};

}  // namespace

std::string_view to_string(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::optional<Role> role_of(std::string_view word) {
  for (std::size_t i = 0; i < kRoles.size(); ++i)
    if (kRoles[i] == word) return static_cast<Role>(i);
  return std::nullopt;
}

std::string_view to_string(Identity::Kind kind) { return enum_word<'-'>(kind); }

std::string Identity::signature() const { return fmt::format("{} ({})", name, origin); }

}  // namespace cupel::api
