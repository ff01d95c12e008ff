#include "orchestrator/report/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "burnin/verdict_text.h"
#include "inventory/node_range.h"

namespace cupel::report {
namespace {

constexpr double kNear = 0.02;     // of the limit
constexpr double kSpreads = 2;     // of a comparison
constexpr double kOfSpread = 100;  // spreads are sorted among shares: one is a percent

double limit_of(const burnin::Quantity& quantity) {
  if (quantity.at_least && quantity.at_most)
    return std::max(std::abs(*quantity.at_least), std::abs(*quantity.at_most));
  return std::abs(quantity.at_least ? *quantity.at_least : quantity.at_most.value_or(0));
}

bool is_exact(const burnin::Quantity& quantity) {
  if (quantity.at_least && quantity.at_most) return *quantity.at_least == *quantity.at_most;
  // A count or a yes that is reached is reached.
  return quantity.unit.empty() || quantity.unit == "count" || quantity.unit == "errors" ||
         quantity.unit == "GPUs" || quantity.unit == "lanes" || quantity.unit == "links";
}

/// The first `most` of them: parts of which a stage says the same are one.
std::vector<Nearest> one_a_number(std::vector<Nearest> sorted, std::size_t most) {
  std::vector<Nearest> rows;
  const auto key = [](const Nearest& each) {
    return std::tuple{each.stage, each.criterion, each.words, each.part.empty()};
  };
  std::map<decltype(key({})), std::vector<std::string>> parts;
  for (auto& each : sorted) {
    auto& same = parts[key(each)];
    same.push_back(each.part);
    if (same.size() == 1 && rows.size() < most) rows.push_back(std::move(each));
  }
  for (auto& row : rows)
    if (!row.part.empty()) row.part = inventory::fold(parts.at(key(row)));
  return rows;
}

}  // namespace

std::string Nearest::margin_text() const {
  return spreads ? fmt::format("{:.1f} spreads", margin) : fmt::format("{:.2g} %", 100 * margin);
}

std::vector<Nearest> nearest(std::span<const burnin::Checked> checked,
                             std::span<const burnin::Compared> compared, std::size_t most) {
  std::vector<Nearest> all;
  for (const auto& each : checked) {
    const auto inside = margin(each.quantity);
    const double limit = limit_of(each.quantity);
    if (each.met != burnin::Met::met || !inside || limit <= 0 || is_exact(each.quantity)) continue;
    // What stands exactly at its limit was set so.
    if (*inside > kNear * limit || *inside == 0) continue;
    all.push_back({each.stage, each.part, each.measure,
                   measured_text(each) + ", expected " + expectation_text(each), *inside / limit,
                   false});
  }
  for (const auto& each : compared) {
    const double inside = margin(each);
    if (each.found != burnin::Likeness::alike || inside > kSpreads) continue;
    all.push_back(
        {each.stage, each.part, fmt::format("{}: {}", to_string(each.against), each.measure),
         fmt::format("{:.6g} {}, expected {}", each.value, each.unit, expected_text(each)), inside,
         true});
  }
  std::ranges::stable_sort(all, {}, [](const Nearest& each) {
    return each.spreads ? each.margin / kOfSpread : each.margin;
  });
  return one_a_number(std::move(all), most);
}

boost::json::object to_json(const Nearest& nearest) {
  return {{"stage", nearest.stage},
          {"part", nearest.part},
          {"criterion", nearest.criterion},
          {"text", nearest.words},
          {"margin", nearest.margin},
          {"margin_unit", nearest.spreads ? "spreads" : "of the limit"}};
}

}  // namespace cupel::report
