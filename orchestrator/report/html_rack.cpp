#include "orchestrator/report/html_rack.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/clusters.h"
#include "orchestrator/report/html_text.h"
#include "orchestrator/report/wrapped.h"

namespace cupel::report {
namespace {

constexpr int kUnit = 11;  // pixels
constexpr int kWidth = 190;
constexpr int kLeft = 30;
constexpr int kTop = 22;
constexpr int kPage = 1320;  // as wide as the report's column
constexpr int kGap = 28;     // between racks
constexpr int kLeastWords = 180;
/// Of words beside a box, in pixels; wide fonts need as much for a letter.
struct Words {
  int line = 17;
  double letter = 8.0;
  std::string_view style = "why";
};
constexpr Words kLowWords{14, 6.8, "\"why low\""};  // beside a box of one unit

/// Pixels beside each rack for why its nodes did not pass; 0 where the racks fill the page.
int room_for_words(std::size_t racks) {
  const auto count = static_cast<int>(std::max<std::size_t>(racks, 1));
  const int room = (kPage - kGap * (count - 1)) / count - (kLeft + kWidth + 4);
  return room < kLeastWords ? 0 : room;
}

/// Why the node did not pass, beside its box: as many lines as it is high.
std::string words_beside(const NodeSummary& node, int top, int height, int room) {
  if (node.causes.empty() || room == 0) return {};
  const auto drawn = height < Words{}.line ? kLowWords : Words{};
  const auto letters = static_cast<std::size_t>((room - 16) / drawn.letter);
  const auto most = static_cast<std::size_t>(std::max(height / drawn.line, 1));
  const auto more = node.causes.size() > 1 ? fmt::format(" (and {} more)", node.causes.size() - 1)
                                           : std::string{};
  const auto output = words_of_cause(burnin::to_string(node.causes[0]), node.record.node);
  // Lines end at words: a little less than all of the letters is used.
  const auto cut = shortened_at_word(output, std::max<std::size_t>(most * letters * 4 / 5, 12));
  const auto whole = wrapped(cut + more, 0, letters);
  std::string text;
  int line = 0;
  for (const auto words : lines(whole)) {
    if (line == static_cast<int>(most)) break;
    text += fmt::format("<text class={} x={} y={}>{}</text>", drawn.style, kLeft + kWidth + 10,
                        top + drawn.line - 3 + drawn.line * line++, escaped(words));
  }
  return text;
}

std::string node_box(const NodeSummary& node, int units, int room) {
  const int height = node.position.height * kUnit;
  const int top = kTop + (units - node.position.unit - node.position.height + 1) * kUnit;
  const auto decision = to_string(node.decision);
  // Not by colour alone.
  const auto reported =
      node.decision == burnin::Decision::pass ? std::string{} : fmt::format(" {}", decision);
  const auto title = node.causes.empty() ? std::string{} : ": " + burnin::to_string(node.causes[0]);
  return fmt::format(
             "<a href=\"#{0}\"><title>{0} {1}{2}</title><rect class={1} x={3} y={4} width={5} "
             "height={6} /><text x={7} y={8}>{0}{9}</text></a>",
             escaped(node.record.node), decision, escaped(title), kLeft, top, kWidth, height,
             kLeft + 8, top + height / 2 + 4, reported) +
         words_beside(node, top, height, room);
}

std::string rack_svg(const RackSummary& rack, const RunSummary& summary, int room) {
  const int height = rack.units * kUnit;
  auto text = fmt::format(
      "<svg class=rack width={0} height={1} viewBox=\"0 0 {0} {1}\" role=group aria-label=\"rack "
      "{2}\">"
      "<text class=name x={3} y=14>{2}</text><rect class=free x={3} y={4} width={5} height={6} />",
      kLeft + kWidth + 4 + room, height + kTop + 6, escaped(rack.name), kLeft, kTop, kWidth,
      height);
  for (int unit = 1; unit <= rack.units; unit += unit == 1 ? 4 : 5)
    text += fmt::format("<text class=unit x=4 y={}>{}</text>",
                        kTop + (rack.units - unit + 1) * kUnit - 1, unit);
  for (const auto& node : summary.nodes)
    if (node.position.rack == rack.name && node.position.unit > 0)
      text += node_box(node, rack.units, room);
  return text + fmt::format("<rect class=frame x={} y={} width={} height={} /></svg>", kLeft, kTop,
                            kWidth, height);
}

}  // namespace

std::string racks_html(const RunSummary& summary) {
  std::vector<const RackSummary*> used;
  for (const auto& rack : summary.racks)
    if (std::ranges::any_of(summary.nodes, [&](const auto& node) {
          return node.position.rack == rack.name && node.position.unit > 0;
        }))
      used.push_back(&rack);
  if (used.empty()) return {};
  std::string text;
  const int room = room_for_words(used.size());
  for (const auto* rack : used) text += rack_svg(*rack, summary, room);
  return "<section id=racks><h2>Racks</h2><div class=racks>" + text + "</div></section>";
}

}  // namespace cupel::report
