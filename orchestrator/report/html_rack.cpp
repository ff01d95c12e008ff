#include "orchestrator/report/html_rack.h"

#include <fmt/format.h>

#include <algorithm>

#include "burnin/verdict_text.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

constexpr int kUnit = 11;  // pixels
constexpr int kWidth = 190;
constexpr int kLeft = 30;
constexpr int kTop = 22;

std::string node_box(const NodeSummary& node, int units) {
  const int height = node.position.height * kUnit;
  const int top = kTop + (units - node.position.unit - node.position.height + 1) * kUnit;
  const auto decision = to_string(node.decision);
  // Not by colour alone.
  const auto told =
      node.decision == burnin::Decision::pass ? std::string{} : fmt::format(" {}", decision);
  const auto title = node.causes.empty() ? std::string{} : ": " + burnin::to_string(node.causes[0]);
  return fmt::format(
      "<a href=\"#{0}\"><title>{0} {1}{2}</title><rect class={1} x={3} y={4} width={5} height={6} "
      "/>"
      "<text x={7} y={8}>{0}{9}</text></a>",
      escaped(node.record.node), decision, escaped(title), kLeft, top, kWidth, height, kLeft + 8,
      top + height / 2 + 4, told);
}

std::string rack_svg(const RackSummary& rack, const RunSummary& summary) {
  const int height = rack.units * kUnit;
  auto text = fmt::format(
      "<svg class=rack width={0} height={1} viewBox=\"0 0 {0} {1}\" role=img aria-label=\"rack "
      "{2}\">"
      "<text class=name x={3} y=14>{2}</text><rect class=free x={3} y={4} width={5} height={6} />",
      kLeft + kWidth + 4, height + kTop + 6, escaped(rack.name), kLeft, kTop, kWidth, height);
  for (int unit = 1; unit <= rack.units; unit += unit == 1 ? 4 : 5)
    text += fmt::format("<text class=unit x=4 y={}>{}</text>",
                        kTop + (rack.units - unit + 1) * kUnit - 1, unit);
  for (const auto& node : summary.nodes)
    if (node.position.rack == rack.name && node.position.unit > 0)
      text += node_box(node, rack.units);
  return text + fmt::format("<rect class=frame x={} y={} width={} height={} /></svg>", kLeft, kTop,
                            kWidth, height);
}

}  // namespace

std::string racks_html(const RunSummary& summary) {
  std::string text;
  for (const auto& rack : summary.racks) {
    const bool used = std::ranges::any_of(summary.nodes, [&](const auto& node) {
      return node.position.rack == rack.name && node.position.unit > 0;
    });
    if (used) text += rack_svg(rack, summary);
  }
  return text.empty()
             ? text
             : "<section id=racks><h2>Racks</h2><div class=racks>" + text + "</div></section>";
}

}  // namespace cupel::report
