#include "orchestrator/report/html_distributions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "burnin/measures/measure.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

constexpr int kWide = 560, kHigh = 36;
constexpr std::size_t kMostNamed = 3;

struct NodePlace {
  const NodeSummary* node = nullptr;
  std::string part{};
  double value = 0;
  bool met = true;
};

struct Distribution {
  std::string unit{};
  std::optional<double> at_least{}, at_most{};
  burnin::Better better{};
  std::string criterion{};  // the first one; others of the measure have the same values
  std::vector<double> values{};
  std::vector<NodePlace> places{};
};
/// By stage and measure.
using Distributions = std::map<std::pair<std::string, std::string>, Distribution>;

/// Only what is measured, not counted: of errors there are none, or there is a cause.
bool is_drawn(const burnin::Checked& checked, const burnin::MeasureRow* row) {
  const auto& quantity = checked.quantity;
  return row != nullptr && row->better != burnin::Better::neither && !row->precondition &&
         quantity.value && std::isfinite(*quantity.value) && !quantity.unit.empty() &&
         quantity.unit != "errors" && quantity.unit != "count" && quantity.unit_of_limits.empty();
}

void add_place(Distribution& into, const NodeSummary& node, const burnin::Checked& checked) {
  const auto value = *checked.quantity.value;
  const bool met = checked.met == burnin::Met::met;
  into.values.push_back(value);
  if (into.places.empty() || into.places.back().node != &node) {
    into.places.push_back({&node, checked.part, value, met});
    return;
  }
  auto& place = into.places.back();
  const bool worse =
      into.better == burnin::Better::more ? value < place.value : value > place.value;
  if (!worse && met) return;
  if (worse) place = {&node, checked.part, value, met && place.met};
  place.met = place.met && met;
}

Distributions distributions_of(const RunSummary& summary) {
  Distributions all;
  for (const auto& node : summary.nodes) {
    if (!node.record.verdict) continue;
    for (const auto& each : node.record.verdict->checked) {
      const auto* row = burnin::measure_row(each.measure);
      if (!is_drawn(each, row)) continue;
      auto& into = all[{each.stage, each.measure}];
      if (into.values.empty()) into.criterion = each.criterion_id;
      if (into.criterion != each.criterion_id) continue;
      into.unit = each.quantity.unit;
      into.better = row->better;
      into.at_least = each.quantity.at_least;
      into.at_most = each.quantity.at_most;
      add_place(into, node, each);
    }
  }
  std::erase_if(all, [](const auto& item) {
    const auto [low, high] = std::ranges::minmax(item.second.values);
    return item.second.places.size() < 2 || low == high;
  });
  return all;
}

/// Where values stand in the drawing.
class Scale {
 public:
  explicit Scale(const Distribution& of) {
    std::tie(low_, high_) = std::pair{std::ranges::min(of.values), std::ranges::max(of.values)};
    // A limit that is far away would press all values into one place: then it is not drawn.
    const auto reach = (high_ - low_) * 3;
    for (const auto& limit : {of.at_least, of.at_most})
      if (limit && *limit > low_ - reach && *limit < high_ + reach) {
        low_ = std::min(low_, *limit);
        high_ = std::max(high_, *limit);
      }
  }
  bool holds(double value) const { return value >= low_ && value <= high_; }
  double x(double value) const { return 6 + (kWide - 12) * (value - low_) / (high_ - low_); }

 private:
  double low_ = 0, high_ = 1;
};

/// One stroke for each pixel that has values, as long as it has many.
std::string strokes(const Distribution& of, const Scale& scale) {
  std::map<int, int> counts;
  for (const auto value : of.values) ++counts[static_cast<int>(std::lround(scale.x(value)))];
  int most = 1;
  for (const auto& [x, count] : counts) most = std::max(most, count);
  std::string path;
  for (const auto& [x, count] : counts) {
    const int length = 4 + 12 * count / most;
    path += fmt::format("M{} 33v-{}", x, length);
  }
  return fmt::format("<path class=fleet d=\"{}\" />", path);
}

/// A keyboard stops at nodes beyond the limit alone: there is one mark for each node and measure.
std::string mark(const NodePlace& place, const Distribution& of, const Scale& scale) {
  return fmt::format(
      "<a href=\"#{0}\"{8}><circle class={1} cx={2:.0f} cy={3} r=3><title>{0}{4}{5}: {6} "
      "{7}</title></circle></a>",
      escaped(place.node->record.node), place.met ? "pass" : "fail", scale.x(place.value),
      place.met ? 11 : 7, place.part.empty() ? "" : " ", escaped(place.part), plain(place.value),
      escaped(of.unit), place.met ? " tabindex=-1" : "");
}

/// Names of nodes that did not meet the limit; those at one place stand there together.
std::string names(const Distribution& of, const Scale& scale) {
  std::map<int, std::vector<std::string>> at;
  std::size_t named = 0;
  for (const auto& place : of.places)
    if (!place.met && named++ < kMostNamed)
      at[static_cast<int>(std::lround(scale.x(place.value)))].push_back(place.node->record.node);
  std::string text;
  for (const auto& [x, nodes] : at) {
    const bool left = x < kWide / 2;
    text += fmt::format("<text x={} y=10 text-anchor={}>{}</text>", x + (left ? 6 : -6),
                        left ? "start" : "end", escaped(fmt::format("{}", fmt::join(nodes, ", "))));
  }
  return text;
}

std::string drawing(const Distribution& of, std::string_view name) {
  const Scale scale{of};
  auto text = fmt::format(
      "<svg class=dist viewBox=\"0 0 {0} {1}\" role=group aria-label=\"{2} of {3} nodes\">", kWide,
      kHigh, escaped(name), of.places.size());
  text += strokes(of, scale);
  for (const auto& limit : {of.at_least, of.at_most})
    if (limit && scale.holds(*limit))
      text += fmt::format("<path class=limit d=\"M{:.0f} 0V{}\" />", scale.x(*limit), kHigh);
  for (const auto& place : of.places) text += mark(place, of, scale);
  text += names(of, scale);
  return text + "</svg>";
}

std::string limits_of(const Distribution& of) {
  const burnin::Quantity quantity{{}, of.at_least, of.at_most, of.unit, {}};
  std::string text;
  if (quantity.at_least) text += "at least " + plain(*quantity.at_least) + " ";
  if (quantity.at_most) text += "at most " + plain(*quantity.at_most) + " ";
  return text + of.unit;
}

/// What each mark stands for, drawn as it is in the table.
std::string legend() {
  const auto item = [](std::string_view drawn, std::string_view words) {
    return fmt::format(
        "<li><svg class=key viewBox=\"0 0 28 18\" width=28 height=18 aria-hidden=true>{}</svg>{}",
        drawn, words);
  };
  return "<ul class=legend>" +
         item("<circle class=pass cx=14 cy=9 r=3 />",
              "a node at its worst part, within the limit") +
         item("<circle class=fail cx=14 cy=9 r=3 />", "a node that is not") +
         item("<path class=fleet d=\"M9 15v-5M14 15v-12M19 15v-5\" />",
              "values of all parts: the longer, the more of them") +
         item("<path class=limit d=\"M14 0V18\" />",
              "a limit; one that is far from all values is not drawn") +
         "</ul>";
}

}  // namespace

std::string distributions_html(const RunSummary& summary) {
  auto all = distributions_of(summary);
  if (all.empty()) return {};
  auto text = "<section id=distributions><h2>Distributions</h2>" + legend() +
              table_begin({{"Stage", 10},
                           {"Measure", 17},
                           {"Median", 10},
                           {"From, to", 14},
                           {"Every node at its worst part", 49}});
  for (auto& [name, of] : all) {
    auto sorted = of.values;
    std::ranges::sort(sorted);
    text +=
        fmt::format("<tr><td>{}<td>{}<br><span class=dim>{}</span><td>{} {}<td>{} to {}<td>{}</tr>",
                    escaped(name.first), escaped(name.second), escaped(limits_of(of)),
                    plain(sorted[sorted.size() / 2]), escaped(of.unit), plain(sorted.front()),
                    plain(sorted.back()), drawing(of, name.second));
  }
  return text.append(kTableEnd) + "</section>";
}

}  // namespace cupel::report
