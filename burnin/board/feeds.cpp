#include "burnin/board/feeds.h"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::burnin {
namespace {

/// Why it is not known what a feed does; empty: it can.
std::string unproven(const FeedCut& cut, const SupplyTranscript& reported) {
  if (!cut.why.empty() || cut.fell) return cut.why;
  double longest = 0;
  for (const auto& reading : reported.readings) longest = std::max(longest, reading.seconds);
  if (!cut.back) return "the stage was over while it was off: have more patience";
  if (cut.readings > 0) return {};
  return fmt::format(
      "the BMC was not read while it was off, and one reading takes up to {:.0f} s: "
      "set PowerCycleDelaySeconds of the PDU's outlet to more than twice that",
      longest);
}

}  // namespace

void add_feeds(const SupplyTranscript& reported, Findings& findings) {
  const auto say = [&](const char* measure, const FeedCut& cut, double value,
                       const std::string& unit, const std::string& where) {
    findings.measurements.push_back(
        {measure, fmt::format("feed{}", cut.number), value, unit, where});
  };
  for (const auto& cut : reported.cuts) {
    const auto why = unproven(cut, reported);
    say("psu.feed.tested", cut, why.empty() ? 1 : 0, "", why.empty() ? cut.name : why);
    if (!why.empty()) continue;
    say("psu.feed.carried", cut, cut.fell ? 0 : 1, "", cut.name);
    if (cut.fell) continue;
    say("psu.feed.lost", cut, static_cast<double>(cut.lost.size()), "count", cut.name);
    say("psu.feed.back", cut, cut.well ? 1 : 0, "", cut.name);
  }
  // Those that nobody came to, for no reason that is reported already.
  if (std::ranges::any_of(reported.cuts, &FeedCut::fell)) return;
  for (auto number = static_cast<int>(reported.cuts.size()) + 1; number <= reported.feeds; ++number)
    say("psu.feed.tested", {.number = number}, 0, "", "not reached");
}

}  // namespace cupel::burnin
