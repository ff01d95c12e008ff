#include "burnin/group_stage.h"

#include <algorithm>

namespace cupel::burnin {

bool is_shared_value(std::string_view value) {
  constexpr std::size_t kMost = 1024;
  constexpr std::string_view kSigns = " .:_+/=-";
  return !value.empty() && value.size() <= kMost && std::ranges::all_of(value, [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || kSigns.contains(c);
  });
}

Result<std::optional<std::string>> GroupRounds::shared(std::size_t, std::string_view) const {
  return std::optional<std::string>{};
}

void GroupRounds::gave_up(std::size_t, std::string_view) {}

}  // namespace cupel::burnin
