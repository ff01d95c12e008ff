#include "orchestrator/report/html_timeline.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

constexpr int kRow = 17, kBar = 14;  // pixels
constexpr int kNames = 130;
constexpr int kDrawn = 1170;
constexpr int kHead = 20;
constexpr double kLetter = 6.6;  // pixels, of a text of 10: wide fonts need as much
/// Beyond, bars have no words of their own: they would be most of the page.
constexpr std::size_t kMostWithWords = 128;
/// Rows under one axis: fewer than a screen or a sheet of paper holds.
constexpr std::size_t kRowsOfADrawing = 40;

struct Times {
  engine::WallTime from{}, to{};
  double place(engine::WallTime time) const {
    const auto whole = static_cast<double>((to - from).count());
    return kNames + kDrawn * static_cast<double>((time - from).count()) / whole;
  }
};

bool has_times(const record::StepRecord& step) {
  return step.began != engine::WallTime{} && step.ended >= step.began && step.outcome != "skipped";
}

std::optional<Times> times_of(const RunSummary& summary) {
  Times times{engine::WallTime::max(), engine::WallTime::min()};
  for (const auto& node : summary.nodes)
    for (const auto& step : node.record.steps) {
      if (!has_times(step)) continue;
      times.from = std::min(times.from, step.began);
      times.to = std::max(times.to, step.ended);
    }
  if (times.from >= times.to) return std::nullopt;
  return times;
}

std::string bar(const record::StepRecord& step, const Times& times, bool words) {
  const auto left = times.place(step.began);
  const auto width = std::max(0.8, times.place(step.ended) - left - 1);
  const auto* kind = step.outcome == "done" ? "pass" : "fail";
  auto text =
      fmt::format("<rect class={} x={:.1f} width={:.1f} height={}", kind, left, width, kBar);
  if (!words) return text + " />";
  text += fmt::format("><title>{}: {}, {}</title></rect>", escaped(step.name),
                      escaped(step.outcome), span_text(step.ended - step.began));
  // A name that is cut to a letter tells nothing.
  const bool fits = kLetter * static_cast<double>(step.name.size()) + 8 <= width;
  if (!fits) return text;
  return text + fmt::format("<text class=on-{} x={:.1f} y=11>{}</text>", kind, left + 4,
                            escaped(step.name));
}

/// `place`: the row of the drawing, from 0.
std::string row(const NodeSummary& node, std::size_t place, const Times& times, bool words) {
  auto text = fmt::format(
      "<g transform=\"translate(0 {})\"><a href=\"#{}\"><text x=0 y=11 class={}>{}</text></a>",
      kHead + static_cast<int>(place) * kRow, escaped(node.record.node), to_string(node.decision),
      escaped(node.record.node));
  for (const auto& step : node.record.steps)
    if (has_times(step)) text += bar(step, times, words);
  return text + "</g>";
}

/// These nodes under an axis of their own: where the first nodes are long out of sight, and on each
/// sheet of paper, times are read too.
std::string drawing(std::span<const NodeSummary> nodes, const Times& times, bool words) {
  const int height = kHead + static_cast<int>(nodes.size()) * kRow;
  auto text = fmt::format(
      "<svg class=time viewBox=\"0 0 {0} {1}\" width={0} height={1} role=group "
      "aria-label=\"steps of {2} to {3} over time\">",
      kNames + kDrawn, height, escaped(nodes.front().record.node),
      escaped(nodes.back().record.node));
  for (const auto at : axis_times(times.from, times.to, 10))
    text += fmt::format(
        "<path class=grid d=\"M{0:.1f} 14V{1}\" /><text class=unit x={0:.1f} y=10 "
        "text-anchor=middle>{2}</text>",
        times.place(at), height, axis_time(at, times.from));
  for (std::size_t i = 0; i < nodes.size(); ++i) text += row(nodes[i], i, times, words);
  return text + "</svg>";
}

}  // namespace

std::string axis_time(engine::WallTime time, engine::WallTime day_of) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const auto seconds = fmt::gmtime(static_cast<std::time_t>(
      std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count()));
  if (day == std::chrono::floor<std::chrono::days>(day_of)) return fmt::format("{:%H:%M}", seconds);
  return fmt::format("{:%b %d %H:%M}", seconds);
}

std::vector<engine::WallTime> axis_times(engine::WallTime from, engine::WallTime to,
                                         std::size_t most) {
  using std::chrono::seconds;
  constexpr auto kEvery = std::to_array<int>({60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
                                              21600, 43200, 86400, 172800, 604800, 2592000});
  std::vector<engine::WallTime> times;
  for (const int every : kEvery) {
    if ((to - from) / seconds{every} > static_cast<std::int64_t>(most)) continue;
    const auto first = std::chrono::ceil<seconds>(from.time_since_epoch()).count() / every * every;
    for (auto at = first; engine::WallTime{seconds{at}} <= to; at += every)
      if (engine::WallTime{seconds{at}} >= from) times.emplace_back(seconds{at});
    break;
  }
  return times;
}

std::string time_line_html(const RunSummary& summary) {
  const auto times = times_of(summary);
  if (!times) return {};
  const bool words = summary.nodes.size() <= kMostWithWords;
  std::string text = "<section id=time-line><h2>Time line</h2><div class=wide>";
  std::span<const NodeSummary> left = summary.nodes;
  while (!left.empty()) {
    const auto some = left.first(std::min(left.size(), kRowsOfADrawing));
    text += drawing(some, *times, words);
    left = left.subspan(some.size());
  }
  return text +
         "</div><p class=dim>Times are UTC. Green steps are done, red ones are not. A step "
         "is "
         "named where its bar has room; the table of steps of each node names all.</p></section>";
}

}  // namespace cupel::report
