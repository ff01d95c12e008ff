#include "orchestrator/report/html_heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

constexpr std::size_t kMostNames = 32;

/// By both names, each way.
struct GpuPairs {
  std::string unit{};
  std::vector<std::string> names{};
  std::map<std::pair<std::string, std::string>, double> values{};
  double most = 0;
};

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// A stage's measures of pairs, by their names.
std::map<std::string, GpuPairs> pairs_of(const burnin::Findings& findings) {
  std::map<std::string, GpuPairs> all;
  for (const auto& each : findings.measurements) {
    const auto dash = each.part.find('-');
    const bool pair = dash != std::string::npos && each.name.ends_with(".pair.bandwidth");
    if (!pair || !std::isfinite(each.value)) continue;
    auto& pairs = all[each.name];
    const auto one = each.part.substr(0, dash), other = each.part.substr(dash + 1);
    add_name(pairs.names, one);
    add_name(pairs.names, other);
    pairs.values[{one, other}] = each.value;
    pairs.most = std::max(pairs.most, each.value);
    pairs.unit = each.unit;
  }
  return all;
}

std::string cell(const GpuPairs& pairs, const std::string& row, const std::string& column) {
  auto found = pairs.values.find({row, column});
  if (found == pairs.values.end()) found = pairs.values.find({column, row});
  if (found == pairs.values.end()) return "<td>";
  const auto share = pairs.most > 0 ? found->second / pairs.most : 1;
  if (share < 0.9) return fmt::format("<td class=low>&#9662;{}", plain(found->second, 0));
  // From nine tenths of the best to all of it.
  return fmt::format("<td class=h{}>{}", static_cast<int>(std::lround((share - 0.9) * 40)),
                     plain(found->second, 0));
}

std::string table(const std::string& name, GpuPairs pairs) {
  std::ranges::sort(pairs.names, [](const auto& left, const auto& right) {
    return std::pair{left.size(), left} < std::pair{right.size(), right};  // gpu9 before gpu10
  });
  auto text = fmt::format("<table class=heat><caption>{}, {}</caption><tr><th>", escaped(name),
                          escaped(pairs.unit));
  for (const auto& column : pairs.names) text += "<th>" + escaped(column);
  for (const auto& row : pairs.names) {
    text += "<tr><th>" + escaped(row);
    for (const auto& column : pairs.names) text += cell(pairs, row, column);
  }
  return text + "</table>";
}

}  // namespace

std::string pairs_html(const record::NodeRecord& record) {
  std::string text;
  for (const auto& [stage, findings] : record.findings)
    for (const auto& [name, pairs] : pairs_of(findings))
      if (pairs.names.size() <= kMostNames) text += table(stage + ": " + name, pairs);
  return text.empty() ? text
                      : folded(record.node + ".pairs", "From GPU to GPU",
                               "<div class=heats>" + text + "</div>");
}

}  // namespace cupel::report
