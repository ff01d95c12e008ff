#include "orchestrator/report/slow.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "base/text.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

constexpr std::size_t kMostRows = 200;  // of a page

std::string limit_text(const burnin::Compared& compared) {
  return fmt::format("{:.6g} {}", compared.limit, compared.unit);
}

std::string place_text(const burnin::Compared& compared) {
  return compared.part.empty() ? std::string{"the node"} : compared.part;
}

/// What the first rows of `all` leave out.
std::string left_out(std::size_t all, std::size_t shown) {
  return all == shown ? std::string{} : fmt::format("and {} more", all - shown);
}

}  // namespace

std::vector<SlowPart> slow_parts(const RunSummary& summary) {
  std::vector<SlowPart> all;
  for (const auto& node : summary.nodes)
    if (node.record.verdict)
      for (const auto& each : node.record.verdict->slow) all.push_back({&node, &each});
  std::ranges::stable_sort(all, std::greater{},
                           [](const SlowPart& each) { return behind(*each.compared); });
  return all;
}

std::string slow_lines(const RunSummary& summary, bool all) {
  constexpr std::size_t kMost = 10;
  const auto parts = slow_parts(summary);
  if (parts.empty()) return {};
  const auto shown = all ? parts.size() : std::min(parts.size(), kMost);
  std::string text = "  slow, which fails nothing:\n";
  for (const auto& each : std::span{parts}.first(shown))
    text +=
        fmt::format("    {} {}\n", each.node->record.node, printable(slow_text(*each.compared)));
  const auto left = left_out(parts.size(), shown);
  if (!left.empty()) text += fmt::format("    {}: cupel report {} --all\n", left, summary.run.id);
  return text;
}

std::string slow_html(const RunSummary& summary) {
  const auto parts = slow_parts(summary);
  if (parts.empty()) return {};
  const auto shown = std::min(parts.size(), kMostRows);
  auto text = "<section id=slow><h2>Slow, which fails nothing</h2>" +
              table_begin({{"Node", 16},
                           {"Part", 14},
                           {"Measure", 22},
                           {"Behind", 10},
                           {"Measured", 19},
                           {"Slow below or above", 19}});
  for (const auto& [node, each] : std::span{parts}.first(shown))
    text += fmt::format(
        "<tr><td><a href=\"#{0}\">{0}</a><td>{1}<td>{2}<td>{3:.2g} %<td>{4:.6g} {5}<td>{6}</tr>",
        escaped(node->record.node), escaped(place_text(*each)), escaped(each->measure),
        100 * behind(*each), each->value, escaped(each->unit), escaped(limit_text(*each)));
  const auto left = left_out(parts.size(), shown);
  text.append(kTableEnd);
  if (!left.empty()) text += "<p class=dim>" + left + "</p>";
  return text + "</section>";
}

}  // namespace cupel::report
