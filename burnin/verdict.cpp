#include "burnin/verdict.h"

#include <algorithm>

namespace cupel::burnin {

std::string_view to_string(Decision decision) {
  switch (decision) {
    case Decision::pass:
      return "pass";
    case Decision::fail:
      return "fail";
    case Decision::inconclusive:
      return "inconclusive";
  }
  __builtin_unreachable();
}

std::string_view to_string(Met met) {
  switch (met) {
    case Met::met:
      return "met";
    case Met::failed:
      return "failed";
    case Met::missing:
      return "missing";
  }
  __builtin_unreachable();
}

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
