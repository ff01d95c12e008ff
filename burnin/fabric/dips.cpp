#include "burnin/fabric/dips.h"

#include <algorithm>
#include <cmath>

namespace cupel::burnin::fabric {
namespace {

/// In so many of its readings a part that comes and goes is slow, or in more.
constexpr double kDuty = 0.3;
/// Readings of one flow follow each other within a minute: what holds it back once may do so in
/// several. It takes several flows.
constexpr double kMostOfAFlow = 9;

}  // namespace

Dips::Dips(const Readings& readings, const std::vector<bool>& explained, bool known_routes)
    : readings_{readings},
      speaks_(readings.size()),
      scores_(readings.topology().part_count(), 0.0F) {
  // What is counted as seen before anything was: one reading in two hundred dips.
  double dips = 1, all = 200;
  for (FlowId id = 0; id < readings.size(); ++id) {
    const int count = readings.count(id), dipped = readings.dips(id);
    // A flow that is slow in each reading does not come and go.
    if (count == 0 || dipped == count || explained[id]) continue;
    if (known_routes && !readings.topology().knows_parts(readings.flow(id))) continue;
    speaks_[id] = true;
    dips += dipped;
    all += count;
  }
  rate_ = dips / all;
  for (FlowId id = 0; id < readings.size(); ++id) {
    if (!speaks(id)) continue;
    const auto score = static_cast<float>(score_of(id));
    for (const auto part : readings.parts(id)) scores_[part] += score;
  }
}

double Dips::score_of(FlowId id) const {
  const double slow = std::log(std::max(kDuty / rate_, 1.0)),
               fast = std::log((1 - kDuty) / (1 - std::min(rate_, kDuty)));
  const int dipped = readings_.dips(id);
  return std::min(dipped * slow + (readings_.count(id) - dipped) * fast, kMostOfAFlow);
}

void Dips::explain(PartId part) {
  for (FlowId id = 0; id < readings_.size(); ++id) {
    if (!speaks(id)) continue;
    const auto parts = readings_.parts(id);
    if (std::ranges::find(parts, part) == parts.end()) continue;
    speaks_[id] = false;
    const auto score = static_cast<float>(score_of(id));
    for (const auto each : parts) scores_[each] -= score;
  }
}

Dips::Count Dips::of(PartId part) const {
  Count count;
  std::vector<double> levels;
  for (FlowId id = 0; id < readings_.size(); ++id) {
    if (!speaks(id)) continue;
    const auto parts = readings_.parts(id);
    if (std::ranges::find(parts, part) == parts.end()) continue;
    count.dips += readings_.dips(id);
    count.readings += readings_.count(id);
    if (readings_.dips(id) > 0) levels.push_back(readings_.worst(id));
  }
  if (levels.empty()) return count;
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::ranges::nth_element(levels, middle);
  count.level = *middle;
  return count;
}

}  // namespace cupel::burnin::fabric
