#include "burnin/cpu/stress_ng.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostRows = 64;

/// A worker may see the end of its time a little early; one that ran for less than this share of
/// it was ended by something else.
constexpr double kEnough = 0.9;

/// "stress-ng: metrc: [13290] cpu  3372  2.00 ..." without what is in front of the stressor.
std::string_view message_of(std::string_view line) {
  const auto bracket = line.find("] ");
  return bracket == line.npos ? std::string_view{} : trimmed(line.substr(bracket + 2));
}

bool says_gave_up(std::string_view message) {
  constexpr std::array<std::string_view, 6> kSigns{"skipping",           "not implemented",
                                                   "out of memory",      "no resource(s)",
                                                   "failed to allocate", "cannot allocate memory"};
  const auto text = lower_case(message);
  return std::ranges::any_of(kSigns, [&](auto sign) { return text.find(sign) != text.npos; });
}

/// Columns are found by the header: stressor, bogo ops, real time come first in every version.
void read_row(std::string_view message, StressReport& report) {
  const auto cells = words(message);
  if (cells.size() < 4) return;
  const auto ops = script::finite(cells[1]), time = script::finite(cells[2]);
  if (!ops || !time || !script::finite(cells[3]) || report.rows.size() == kMostRows) return;
  report.rows[script::clean(cells[0])] = {*ops, *time};
}

bool is_header(std::string_view message) {
  const auto cells = words(message);
  constexpr std::array<std::string_view, 5> kHeader{"stressor", "bogo", "ops", "real", "time"};
  return cells.size() >= kHeader.size() &&
         std::ranges::equal(kHeader, std::span{cells}.first(kHeader.size()));
}

/// "stream  210.47 memory read rate (MB per sec) (geometic mean of 2 instances)" of 0.15; since
/// 0.16 "stream  210.47 MB per sec memory read rate (harmonic mean of 2 instances)"; before 0.15
/// "stream 350.78 memory rate (MB per sec) (average per stressor)". Source: stress-ng,
/// stress-stream.c.
void read_stream(std::string_view message, StressReport& report) {
  const auto cells = words(message);
  const auto has = [&](std::string_view word) {
    return std::ranges::find(cells, word) != cells.end();
  };
  if (cells.size() < 6 || cells[0] != "stream" || !has("memory") || !has("rate")) return;
  if (!has("MB") && !has("(MB")) return;
  const auto rate = script::finite(cells[1]);
  if (!rate || *rate <= 0) return;
  (has("read")    ? report.stream_read
   : has("write") ? report.stream_write
                  : report.stream_both) = rate;
  const auto of = std::ranges::find(cells, std::string_view{"of"});
  if (of != cells.end() && of + 1 != cells.end()) report.instances = script::finite(*(of + 1));
}

/// "dispatching hogs: 2 vm, 4 stream": where the table does not tell how many there were.
void read_instances(std::string_view message, StressReport& report) {
  if (!message.starts_with("dispatching hogs: ") || report.instances) return;
  for (const auto piece : split(message.substr(18), ',')) {
    const auto cells = words(piece);
    if (cells.size() == 2 && cells[1] == "stream") report.instances = script::finite(cells[0]);
  }
}

}  // namespace

StressReport read_stress_report(std::string_view text) {
  StressReport report;
  bool headed = false;
  for (const auto line : lines(text)) {
    if (!line.starts_with("stress-ng: ")) continue;
    const auto message = message_of(line);
    report.fail_lines += line.starts_with("stress-ng: fail:") ? 1 : 0;
    headed = headed || is_header(message);
    if (headed) read_row(message, report);
    read_stream(message, report);
    read_instances(message, report);
    if (report.gave_up.empty() && says_gave_up(message)) report.gave_up = script::clean(message);
  }
  return report;
}

std::string left_undone(const StressReport& report, std::string_view stressor, double seconds) {
  if (!report.gave_up.empty()) return "stress-ng: " + report.gave_up;
  const auto row = report.rows.find(stressor);
  if (row == report.rows.end() || row->second.bogo_ops <= 0)
    return fmt::format("stressor {} did no work", stressor);
  if (row->second.real_seconds < kEnough * seconds)
    return fmt::format("stressor {} ran for {} of {} s", stressor,
                       plain(row->second.real_seconds, 1), plain(seconds));
  return {};
}

}  // namespace cupel::burnin
