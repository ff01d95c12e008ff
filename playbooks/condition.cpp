#include "playbooks/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "inventory/node.h"
#include "playbooks/left_out.h"

namespace cupel::playbooks {
namespace {

using About = Condition::About;
using Test = Condition::Test;

constexpr std::size_t kLongestShown = 80;

std::optional<double> finite(std::string_view text) {
  const auto value = number<double>(trimmed(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool same(std::string_view left, std::string_view right) {
  const auto one = finite(left), other = finite(right);
  if (one && other) return *one == *other;
  return lower_case(trimmed(left)) == lower_case(trimmed(right));
}

std::string shown(std::string_view value) { return shortened(printable(value), kLongestShown); }

std::string any_of(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : " or ") + shown(value);
  return text;
}

std::string expectation(const Condition& condition) {
  switch (condition.test) {
    case Test::is:
      return any_of(condition.values);
    case Test::is_not:
      return "anything but " + any_of(condition.values);
    case Test::at_least:
      return "at least " + plain(condition.number, 6);
    case Test::at_most:
      return "at most " + plain(condition.number, 6);
  }
  __builtin_unreachable();
}

/// Nothing where the value is no number and one is needed.
std::optional<bool> met(const Condition& condition, std::string_view value) {
  const auto is = [&] {
    return std::ranges::any_of(condition.values,
                               [&](const auto& each) { return same(value, each); });
  };
  if (condition.test == Test::is) return is();
  if (condition.test == Test::is_not) return !is();
  const auto amount = finite(value);
  if (!amount) return std::nullopt;
  return condition.test == Test::at_least ? *amount >= condition.number
                                          : *amount <= condition.number;
}

bool about_node(const Condition& condition) {
  return condition.about == About::profile || condition.about == About::rack;
}

bool is_settled(const Condition& condition) {
  return about_node(condition) || condition.about == About::parameter;
}

/// Why it is not met; nothing where it is.
std::optional<std::string> missed(const Condition& condition, const Facts& facts) {
  const auto fact = facts.find(condition.name);
  if (fact == facts.end())
    return fmt::format("{} is not reported, expected {}", condition.name, expectation(condition));
  const auto is_met = met(condition, fact->second);
  if (!is_met)
    return fmt::format("{} is no number: '{}', expected {}", condition.name, shown(fact->second),
                       expectation(condition));
  if (*is_met) return std::nullopt;
  return fmt::format("{} is {}, expected {}", condition.name, shown(fact->second),
                     expectation(condition));
}

}  // namespace

std::optional<std::string> unmet(const std::vector<Condition>& conditions, const Facts& facts) {
  if (auto why = left_out(conditions)) return why;
  for (const auto& condition : conditions) {
    if (is_settled(condition)) continue;
    if (auto why = missed(condition, facts)) return why;
  }
  return std::nullopt;
}

bool unreported(const std::vector<Condition>& conditions, const Facts& facts) {
  if (left_out(conditions)) return false;
  for (const auto& condition : conditions) {
    if (is_settled(condition) || !missed(condition, facts)) continue;
    const auto fact = facts.find(condition.name);
    return fact == facts.end() || !met(condition, fact->second);
  }
  return false;
}

bool settle(std::vector<Condition>& conditions, const Facts& values) {
  const auto of_parameter = [](const Condition& condition) {
    return condition.about == About::parameter;
  };
  const bool so = std::ranges::none_of(conditions, [&](const Condition& condition) {
    return of_parameter(condition) && missed(condition, values);
  });
  std::erase_if(conditions, of_parameter);
  return so;
}

bool applies(const std::vector<Condition>& conditions, const inventory::Node& node) {
  return std::ranges::all_of(conditions, [&](const Condition& condition) {
    if (!about_node(condition)) return true;
    const auto& value = condition.about == About::profile ? node.profile : node.rack;
    const bool named = std::ranges::find(condition.values, value) != condition.values.end();
    return named == (condition.test == Test::is);
  });
}

std::vector<Condition> left_for_the_run(const std::vector<Condition>& conditions) {
  auto left = conditions;
  std::erase_if(left, is_settled);
  return left;
}

}  // namespace cupel::playbooks
