#include "burnin/fabric/readings.h"

#include <algorithm>
#include <map>

namespace cupel::burnin::fabric {

Readings::Readings(const Topology& topology, std::size_t expected) : topology_{topology} {
  constexpr std::size_t kPartsOfAFlow = 13;  // at most
  flows_.reserve(expected);
  judged_.reserve(expected);
  read_.reserve(expected);
  parts_.reserve(kPartsOfAFlow * expected);
}

FlowId Readings::add(const Flow& flow) {
  flows_.push_back(flow);
  topology_.add_parts(flow, parts_);
  begins_.push_back(parts_.size());
  judged_.emplace_back();
  return static_cast<FlowId>(flows_.size() - 1);
}

void Readings::take_routes() {
  parts_.clear();
  begins_.assign(1, 0);
  for (const auto& flow : flows_) {
    topology_.add_parts(flow, parts_);
    begins_.push_back(parts_.size());
  }
}

void Readings::read(FlowId id, double gigabits) {
  read_.emplace_back(id, static_cast<float>(gigabits));
  judge(id, read_.back().second);
}

void Readings::judge_by(const LimitsOfKinds& limits) {
  limits_ = limits;
  std::ranges::fill(judged_, Judged{});
  for (const auto& [id, gigabits] : read_) judge(id, gigabits);
}

/// However often a slow flow is read again, it counts as one: half of what a fast one may count.
void Readings::judge(FlowId id, float gigabits) {
  constexpr float kMostOfAFlow = 10, kLeastOfAFlow = -20;
  auto& judged = judged_[id];
  const auto& limits = limits_[kind(id)];
  const auto share = static_cast<float>(gigabits / limits.usual);
  const auto more = static_cast<float>(limits.evidence(gigabits));
  judged.evidence = std::clamp(judged.evidence + more, kLeastOfAFlow, kMostOfAFlow);
  judged.best = std::max(judged.best, share);
  judged.worst = judged.count == 0 ? share : std::min(judged.worst, share);
  ++judged.count;
}

std::vector<double> Readings::middles(std::span<const FlowId> flows) const {
  std::map<FlowId, std::vector<double>> of_flow;
  for (const auto id : flows) of_flow.try_emplace(id);
  for (const auto& [id, gigabits] : read_)
    if (const auto at = of_flow.find(id); at != of_flow.end())
      at->second.push_back(gigabits / limits_[kind(id)].usual);
  std::vector<double> middles;
  for (auto& [id, readings] : of_flow) {
    if (readings.empty()) continue;
    const auto middle = readings.begin() + static_cast<std::ptrdiff_t>(readings.size() / 2);
    std::ranges::nth_element(readings, middle);
    middles.push_back(*middle);
  }
  return middles;
}

/// By its own best: a link that is always a little slower dips no more than others.
std::vector<int> Readings::dips() const {
  std::vector<int> dips(size());
  for (const auto& [id, gigabits] : read_) {
    const auto& limits = limits_[kind(id)];
    if (gigabits / limits.usual < best(id) * (1 - limits.dip)) ++dips[id];
  }
  return dips;
}

std::span<const PartId> Readings::parts(FlowId id) const {
  return std::span{parts_}.subspan(begins_[id], begins_[id + 1] - begins_[id]);
}

}  // namespace cupel::burnin::fabric
