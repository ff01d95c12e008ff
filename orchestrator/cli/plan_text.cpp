#include "orchestrator/cli/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

using engine::Forecast;

constexpr std::size_t kBar = 18;
constexpr std::size_t kWide = 60;  // of the power plot: a divisor of Forecast::kSamples
constexpr int kTall = 8;
constexpr std::size_t kMostNever = 20;

std::string bar(std::chrono::seconds first, std::chrono::seconds last, std::chrono::seconds end) {
  const auto length = std::max<std::int64_t>(end.count(), 1);
  const auto cells = static_cast<std::int64_t>(kBar);
  const auto from = std::min(first.count() * cells / length, cells - 1);
  const auto to = std::clamp((last.count() * cells + length - 1) / length, from + 1, cells);
  std::string drawn(kBar, '.');
  std::fill(drawn.begin() + from, drawn.begin() + to, '=');
  return drawn;
}

std::string kilowatts(double watts) { return plain(watts / 1000, 1); }

std::string_view word(inventory::PowerNode::Kind kind) {
  constexpr std::array<std::string_view, 4> kWords{"room", "rack", "PDU", "breaker"};
  return kWords[static_cast<std::size_t>(kind)];
}

/// The level to draw: the widest one, the busiest of those.
const Forecast::Level* widest(const Forecast& forecast) {
  const Forecast::Level* found = nullptr;
  for (const auto& level : forecast.levels) {
    const bool other =
        found == nullptr || (level.kind == found->kind && level.peak_watts > found->peak_watts);
    if (level.peak_watts > 0 && other) found = &level;
  }
  return found;
}

std::string drawn(const Forecast::Level& level, std::chrono::seconds end) {
  std::array<double, kWide> columns{};
  for (std::size_t i = 0; i < level.watts.size(); ++i) {
    auto& column = columns[i * kWide / level.watts.size()];
    column = std::max(column, level.watts[i]);
  }
  std::string text;
  for (int row = kTall; row > 0; --row) {
    const double least = level.peak_watts * (row - 0.5) / kTall;
    const bool reported = row == kTall || row == kTall / 2;
    auto line = fmt::format("{:>8} |", reported ? kilowatts(level.peak_watts * row / kTall) : "");
    for (const auto watts : columns) line += watts >= least ? '#' : ' ';
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const auto last = report::span_text(end);
  text += fmt::format("{:>8} +{}\n", "kW", std::string(kWide, '-'));
  return text + fmt::format("{:>10}{:>{}}\n", "0", last, kWide - 0);
}

std::string nearest_of(const Forecast& forecast, inventory::PowerNode::Kind kind) {
  const Forecast::Level* found = nullptr;
  const auto share = [](const Forecast::Level& level) {
    return level.peak_watts / level.limit_watts;
  };
  std::size_t count = 0;
  for (const auto& level : forecast.levels) {
    if (level.kind != kind || level.limit_watts <= 0) continue;
    ++count;
    if (found == nullptr || share(level) > share(*found)) found = &level;
  }
  if (found == nullptr) return {};
  return fmt::format("  {:<8} {:<18} {:>7} of {:>7} kW {:>5} %{}\n", word(kind),
                     printable(found->name), kilowatts(found->peak_watts),
                     kilowatts(found->limit_watts), plain(100 * share(*found), 0),
                     count > 1 ? fmt::format("   the fullest of {}", count) : "");
}

}  // namespace

std::string time_line(const Forecast& forecast) {
  std::vector<Row> rows{{"step", "from", "until", "at once", "waits", ""}};
  for (const auto& step : forecast.steps) {
    const bool done = step.nodes > 0;
    rows.push_back({step.name, done ? report::span_text(step.first_begin) : "-",
                    done ? report::span_text(step.last_end) : "-",
                    std::to_string(step.most_at_once),
                    step.waited.count() > 0 ? report::span_text(step.waited) : "-",
                    done ? bar(step.first_begin, step.last_end, forecast.end) : "no partner"});
  }
  return table(rows) + "\n";
}

std::string power_plot(const Forecast& forecast) {
  const auto* level = widest(forecast);
  if (level == nullptr) return {};
  using Kind = inventory::PowerNode::Kind;
  auto text = fmt::format("power of {} {}", word(level->kind), printable(level->name));
  if (level->limit_watts > 0)
    text += fmt::format(", which carries {} kW", kilowatts(level->limit_watts));
  text += "\n" + drawn(*level, forecast.end);
  std::string peaks;
  for (const auto kind : {Kind::room, Kind::rack, Kind::pdu, Kind::breaker})
    peaks += nearest_of(forecast, kind);
  return peaks.empty() ? text : text + "peaks\n" + peaks;
}

std::string bottleneck(const Forecast& forecast) {
  if (forecast.bounds.empty()) return {};
  const auto& tightest = forecast.bounds.front();
  auto text = fmt::format("about        {}\n", report::span_text(forecast.end));
  text += fmt::format("at least     {} in any order", report::span_text(tightest.at_least));
  const auto over = (forecast.over_bound() - 1) * 100;
  text += over < 0.05 ? "\n" : fmt::format(" (this one takes {} % more)\n", plain(over, 1));
  return text + fmt::format("held up by   {}: {}\n", printable(tightest.what),
                            report::span_text(tightest.at_least));
}

std::string never_text(const Forecast& forecast) {
  std::string text;
  for (std::size_t i = 0; i < std::min(forecast.never.size(), kMostNever); ++i) {
    const auto& each = forecast.never[i];
    text += fmt::format("{} can never begin on {}: {}\n",
                        each.step.empty() ? "the first step" : printable(each.step),
                        printable(inventory::fold(each.nodes)), printable(each.why));
  }
  if (forecast.never.size() > kMostNever)
    text += fmt::format("and {} more like these\n", forecast.never.size() - kMostNever);
  return text;
}

}  // namespace cupel::cli
