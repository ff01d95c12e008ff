#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "burnin/fabric/link_criteria.h"

namespace cupel::burnin {
namespace {

// Source: NVIDIA UFM SDK, PDR plugin, pdr_deterministic.conf, TMAX and D_TMAX.
constexpr double kHottest = 70;  // degrees Celsius
constexpr double kFastestRise = 10;

/// Source: NVIDIA Cable Validation Tool 1.9.1, "Hierarchical anomalies".
constexpr double kTimesTheOthers = 10;
constexpr double kLessLight = 2;  // dB below the best lane
/// Of fewer errors it cannot be known that one lane has more than the others.
constexpr double kLeastBer = 1e-12;

void judge_lanes(const LinkCase& one, const MlxlinkReport& report, const PortId& port,
                 Opinion& opinion) {
  const auto& bers = report.lane_ber;
  const auto& light = report.module.rx_dbm;
  if (bers.size() < 2 || bers.size() != light.size() || !ber_counts(one, report)) return;
  const auto worst = static_cast<std::size_t>(std::ranges::max_element(bers) - bers.begin());
  double next = 0;
  for (std::size_t lane = 0; lane < bers.size(); ++lane)
    if (lane != worst) next = std::max(next, bers[lane]);
  const double best = std::ranges::max_element(light, {}, &Ranged::value)->value;
  const double lack = best - light[worst].value;
  if (bers[worst] < kLeastBer || bers[worst] < kTimesTheOthers * next || lack <= kLessLight) return;
  opinion.defects.push_back(
      {LinkFault::dirty_optics,
       fmt::format("lane {} at {} has a raw BER of {:.1e}, the next lane {:.1e}, and {} dB less "
                   "light than the best: clean the optics",
                   worst + 1, to_string(port), bers[worst], next, plain(lack, 1))});
}

void judge_heat(const LinkCase& one, const MlxlinkReport& report, const PortId& port,
                Opinion& opinion) {
  const auto& heat = report.module.celsius;
  if (!heat) return;
  const double hottest = heat->high ? std::min(kHottest, *heat->high) : kHottest;
  if (heat->value > hottest)
    opinion.defects.push_back(
        {LinkFault::temperature, fmt::format("the transceiver at {} has {} C, more than {} C",
                                             to_string(port), plain(heat->value), hottest)});
  const auto* earlier = one.earlier_report(port);
  if (earlier == nullptr || !earlier->module.celsius) return;
  const double rise = heat->value - earlier->module.celsius->value;
  if (rise > kFastestRise)
    opinion.defects.push_back(
        {LinkFault::temperature,
         fmt::format("the transceiver at {} grew warmer by {} C between the looks, more than {} C",
                     to_string(port), plain(rise), kFastestRise)});
}

/// From here down a receiver has no signal, whatever its range. Source: IEEE 802.3, 95.5.4 and
/// 121.5.4, "PMD global signal detect function".
constexpr double kNoSignal = -30;  // dBm

void judge_light(const MlxlinkReport& report, const PortId& port, Opinion& opinion) {
  const auto& lanes = report.module.rx_dbm;
  const bool has_range = std::ranges::any_of(
      lanes, [](const Ranged& lane) { return lane.low.has_value() || lane.high.has_value(); });
  if (!lanes.empty() && !has_range)
    opinion.unassessed.emplace_back(
        "received light: the transceiver reports no range that is allowed", port);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto& [value, low, high] = lanes[lane];
    const bool outside = (low && value < *low) || (high && value > *high);
    if (!low && value <= kNoSignal)
      opinion.defects.push_back(
          {LinkFault::optical_power,
           fmt::format("lane {} at {} receives {} dBm; at {} dBm and below there is no signal",
                       lane + 1, to_string(port), plain(value), plain(kNoSignal))});
    else if (outside)
      opinion.defects.push_back(
          {LinkFault::optical_power,
           fmt::format("lane {} at {} receives {} dBm; the transceiver allows {} to {}", lane + 1,
                       to_string(port), plain(value), low ? plain(*low) : "any",
                       high ? plain(*high) : "any")});
  }
}

}  // namespace

void judge_optics(const LinkCase& one, Opinion& opinion) {
  for (const auto& port : {one.link.from, one.link.to}) {
    const auto* report = one.report(port);
    if (report == nullptr) continue;
    judge_lanes(one, *report, port, opinion);
    judge_heat(one, *report, port, opinion);
    judge_light(*report, port, opinion);
  }
}

}  // namespace cupel::burnin
