#include "burnin/fabric/dips.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace cupel::burnin::fabric {
namespace {

/// In so many of its readings a part that comes and goes is slow, or in more.
constexpr double kDuty = 0.3;
/// Readings of one flow follow each other within a minute: what holds it back once may do so in
/// several. It takes several partners.
constexpr double kMostOfAPair = 9;

}  // namespace

Dips::Dips(const Readings& readings, const std::vector<bool>& explained, bool known_routes)
    : readings_{readings},
      dips_{readings.dips()},
      speaks_(readings.size()),
      scores_(readings.topology().part_count(), 0.0F) {
  // What is counted as seen before anything was: one reading in two hundred dips.
  double dips = 1, all = 200;
  for (FlowId id = 0; id < readings.size(); ++id) {
    const int count = readings.count(id), dipped = dips_[id];
    // A flow that is slow in each reading does not come and go.
    if (count == 0 || (dipped == 0 && readings.evidence(id) > 0) || explained[id]) continue;
    if (known_routes && !readings.topology().knows_parts(readings.flow(id))) continue;
    speaks_[id] = true;
    dips += dipped;
    all += count;
  }
  dips_of_all_ = dips;
  readings_of_all_ = all;
  score();
}

/// Of the fleet without this part: in a small fleet its own dips would be what is usual.
double Dips::rate_without(const Sum& part) const {
  return (dips_of_all_ - part.dips) / (readings_of_all_ - part.readings);
}

/// What the flows of two nodes say together counts once: what is between these two may come and go.
void Dips::score() {
  std::ranges::fill(scores_, 0.0F);
  std::vector<Sum> sums(scores_.size());
  for (FlowId id = 0; id < readings_.size(); ++id) {
    if (!speaks(id)) continue;
    for (const auto part : readings_.parts(id)) {
      sums[part].dips += dips_[id];
      sums[part].readings += readings_.count(id);
    }
  }
  std::map<std::tuple<PartId, int, int>, double> of_pairs;
  for (FlowId id = 0; id < readings_.size(); ++id) {
    if (!speaks(id)) continue;
    const auto& flow = readings_.flow(id);
    const auto [low, high] = std::minmax(flow.from, flow.to);
    for (const auto part : readings_.parts(id)) {
      const double score = score_of(id, rate_without(sums[part]));
      if (dips_[id] > 0)
        of_pairs[{part, low, high}] += score;
      else
        scores_[part] += static_cast<float>(score);
    }
  }
  for (const auto& [at, score] : of_pairs)
    scores_[std::get<0>(at)] += static_cast<float>(std::min(score, kMostOfAPair));
}

double Dips::score_of(FlowId id, double rate) const {
  const double slow = std::log(std::max(kDuty / rate, 1.0)),
               fast = std::log((1 - kDuty) / (1 - std::min(rate, kDuty)));
  const int dipped = dips_[id];
  return dipped * slow + (readings_.count(id) - dipped) * fast;
}

void Dips::explain(PartId part) {
  for (FlowId id = 0; id < readings_.size(); ++id) {
    if (!speaks(id)) continue;
    const auto parts = readings_.parts(id);
    if (std::ranges::find(parts, part) != parts.end()) speaks_[id] = false;
  }
  score();
}

bool Dips::covers(PartId one, PartId other) const {
  const auto crosses = [&](FlowId id, PartId part) {
    const auto parts = readings_.parts(id);
    return std::ranges::find(parts, part) != parts.end();
  };
  for (FlowId id = 0; id < readings_.size(); ++id)
    if (speaks(id) && dips_[id] > 0 && crosses(id, one) && !crosses(id, other)) return false;
  return true;
}

Dips::Count Dips::of(PartId part) const {
  Count count;
  std::vector<double> levels;
  for (FlowId id = 0; id < readings_.size(); ++id) {
    if (!speaks(id)) continue;
    const auto parts = readings_.parts(id);
    if (std::ranges::find(parts, part) == parts.end()) continue;
    count.dips += dips_[id];
    count.readings += readings_.count(id);
    if (dips_[id] > 0) levels.push_back(readings_.worst(id));
  }
  if (levels.empty()) return count;
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::ranges::nth_element(levels, middle);
  count.level = *middle;
  return count;
}

}  // namespace cupel::burnin::fabric
