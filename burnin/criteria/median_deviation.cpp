#include "burnin/criteria/median_deviation.h"

#include <cmath>
#include <map>
#include <set>

#include "burnin/criteria/robust.h"

namespace cupel::burnin {

Comparison median_deviation(const Population& population, const FleetLimits& limits) {
  Comparison result;
  std::set<std::uint32_t> nodes;
  std::map<std::uint32_t, std::vector<double>> by_position;
  std::vector<double> all;
  for (const auto& each : population.members) {
    if (!std::isfinite(each.value)) return result;
    nodes.insert(each.node);
    by_position[each.position].push_back(each.value);
    all.push_back(each.value);
  }
  if (static_cast<int>(nodes.size()) < limits.fewest_nodes) return result;
  std::map<std::uint32_t, Center> centers;
  for (const auto& [position, values] : by_position) centers[position] = median_center(values);
  result.state = Comparison::State::judged;
  const auto whole = median_center(all);
  result.typical = whole.location;
  result.spread = whole.location == 0 ? 0 : whole.spread / std::abs(whole.location);
  const double sign = population.better == Better::less ? -1 : 1;
  for (const auto& each : population.members) {
    const auto& center = centers[each.position];
    const double spread = std::max(center.spread, limits.noise * std::abs(center.location));
    // The median deviation of n values is as exact as a deviation of some 0.37 n.
    constexpr double kEfficiency = 0.37;
    const double degrees = kEfficiency * static_cast<double>(by_position[each.position].size());
    const double limit = alarm_limit(limits.false_alarms, degrees);
    Standing standing;
    standing.expected = center.location;
    standing.limit = center.location - sign * limit * spread;
    standing.score = spread > 0 ? sign * (center.location - each.value) / spread : 0;
    standing.outlier = standing.score > limit;
    result.standings.push_back(standing);
  }
  return result;
}

}  // namespace cupel::burnin
