#include "burnin/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cupel::burnin {
namespace {

/// Six figures are what people read; a count is reported whole.
std::string six_figures(double value) {
  const bool whole = std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

/// All its figures where six would make it look like the limit that it misses ("79, expected at
/// least 79").
std::string figures_beside_limits(const Quantity& quantity) {
  const auto value = quantity.value.value_or(0);
  auto text = six_figures(value);
  for (const auto& limit : {quantity.at_least, quantity.at_most})
    if (limit && *limit != value && six_figures(*limit) == text) return fmt::format("{}", value);
  return text;
}

std::string with_unit(std::string text, const std::string& unit) {
  return unit.empty() || unit == "count" ? text : text + " " + unit;
}

std::string with_place(std::string text, const std::string& place) {
  return place.empty() ? text : text + " (" + place + ")";
}

bool is_number(const Quantity& quantity) {
  return quantity.value || quantity.at_least || quantity.at_most;
}

}  // namespace

std::string measured_text(const Quantity& quantity) {
  if (!quantity.value) return "nothing";
  return with_unit(figures_beside_limits(quantity), quantity.unit);
}

std::string measured_text(std::span<const Quantity> quantities) {
  if (quantities.empty()) return "nothing";
  const auto any_missing =
      std::ranges::any_of(quantities, [](const Quantity& each) { return !each.value; });
  if (any_missing) return measured_text(quantities.front());
  const auto [low, high] = std::ranges::minmax(quantities, {}, &Quantity::value);
  const auto most = measured_text(high);
  if (measured_text(low) == most) return most;
  return fmt::format("{} to {}", figures_beside_limits(low), most);
}

std::string expectation_text(const Quantity& quantity) {
  const auto& unit = quantity.unit_of_limits.empty() ? quantity.unit : quantity.unit_of_limits;
  const auto &least = quantity.at_least, &most = quantity.at_most;
  if (least && most && *least == *most) return with_unit("exactly " + six_figures(*least), unit);
  if (least && most)
    return with_unit(fmt::format("between {} and {}", six_figures(*least), six_figures(*most)),
                     unit);
  if (least) return with_unit("at least " + six_figures(*least), unit);
  if (most) return with_unit("at most " + six_figures(*most), unit);
  return "a number";
}

std::string measured_text(const Checked& checked) {
  return with_place(measured_text(checked.quantity), checked.place);
}

std::string expectation_text(const Checked& checked) { return expectation_text(checked.quantity); }

std::string measured_text(const Cause& cause) {
  if (!cause.measured.empty() || !is_number(cause.quantity)) return cause.measured;
  return with_place(measured_text(cause.quantity), cause.place);
}

std::string expectation_text(const Cause& cause) {
  if (!cause.expected.empty() || !is_number(cause.quantity)) return cause.expected;
  return expectation_text(cause.quantity);
}

std::string to_string(const Cause& cause) {
  std::string text = cause.part.empty() ? "" : cause.part + ": ";
  text += cause.criterion;
  if (const auto measured = measured_text(cause); !measured.empty()) text += " " + measured;
  if (const auto expected = expectation_text(cause); !expected.empty())
    text += ", expected " + expected;
  return text;
}

}  // namespace cupel::burnin
