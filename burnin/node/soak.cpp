#include "burnin/node/soak.h"

#include <algorithm>
#include <cmath>

namespace cupel::burnin {
namespace {

constexpr std::size_t kFewest = 5;
/// Sensors tell whole degrees: one step of 1 C in the middle of a window is a line that rises
/// by 1.5.
constexpr double kStill = 1.6;    // degree in a window
constexpr double kMoment = 1e-6;  // square seconds: samples of one moment, but for rounding

}  // namespace

std::optional<double> rise_in(std::span<const HeatSample> samples, double seconds) {
  const auto count = static_cast<double>(samples.size());
  if (samples.size() < kFewest) return std::nullopt;
  double time = 0, heat = 0;
  for (const auto& each : samples) {
    time += each.seconds / count;
    heat += each.celsius / count;
  }
  double spread = 0, both = 0;
  for (const auto& each : samples) {
    spread += (each.seconds - time) * (each.seconds - time);
    both += (each.seconds - time) * (each.celsius - heat);
  }
  if (spread < kMoment) return std::nullopt;
  const double slope = both / spread;
  double rest = 0;
  for (const auto& each : samples) {
    const double off = each.celsius - heat - slope * (each.seconds - time);
    rest += off * off;
  }
  const double error = std::sqrt(rest / (count - 2) / spread);
  const double sure = std::max(std::abs(slope) - 2 * error, 0.0) * seconds;
  return slope < 0 ? -sure : sure;
}

bool is_steady(const std::vector<std::vector<HeatSample>>& rows, double until, double window) {
  if (rows.empty()) return false;
  return std::ranges::all_of(rows, [&](const std::vector<HeatSample>& row) {
    const auto begin = std::ranges::lower_bound(row, until - window, {}, &HeatSample::seconds);
    const auto end = std::ranges::upper_bound(row, until, {}, &HeatSample::seconds);
    if (begin == row.end() || begin >= end) return false;
    // One sample may be late; a window that is half empty tells nothing.
    if (row.front().seconds > until - window * 0.8) return false;
    const auto rise = rise_in(std::span{begin, end}, window);
    return rise && std::abs(*rise) < kStill;
  });
}

}  // namespace cupel::burnin
