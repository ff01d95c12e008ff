#include "burnin/verdict.h"

#include <algorithm>

#include "base/enum_words.h"

namespace cupel::burnin {

std::string_view to_string(Decision decision) { return enum_word<'-'>(decision); }

std::string_view to_string(Met met) { return enum_word<'-'>(met); }

std::optional<double> margin(const Quantity& quantity) {
  const auto &value = quantity.value, &at_least = quantity.at_least, &at_most = quantity.at_most;
  if (!value || !quantity.unit_of_limits.empty()) return std::nullopt;
  std::optional<double> least;
  if (at_least) least = *value - *at_least;
  if (at_most) least = std::min(least.value_or(*at_most - *value), *at_most - *value);
  return least;
}

bool is_missing(const Quantity& quantity) {
  return !quantity.value && (quantity.at_least || quantity.at_most);
}

}  // namespace cupel::burnin
