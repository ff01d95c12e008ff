#include "burnin/fabric/readings.h"

#include <algorithm>

namespace cupel::burnin::fabric {

Readings::Readings(const Topology& topology, std::size_t expected)
    : scores_(topology.part_count(), 0.0F), topology_{topology} {
  constexpr std::size_t kPartsOfAFlow = 13;  // at most
  flows_.reserve(expected);
  parts_.reserve(kPartsOfAFlow * expected);
}

FlowId Readings::add(const Flow& flow) {
  flows_.push_back(flow);
  topology_.add_parts(flow, parts_);
  begins_.push_back(parts_.size());
  evidence_.push_back(0);
  best_.push_back(0);
  counts_.push_back(0);
  return static_cast<FlowId>(flows_.size() - 1);
}

void Readings::read(FlowId id, double share, double evidence) {
  constexpr float kMostOfAFlow = 15, kLeastOfAFlow = -30;
  const float before = evidence_[id];
  const float now = std::clamp(before + static_cast<float>(evidence), kLeastOfAFlow, kMostOfAFlow);
  evidence_[id] = now;
  best_[id] = std::max(best_[id], static_cast<float>(share));
  ++counts_[id];
  for (const auto part : parts(id)) scores_[part] += now - before;
}

std::span<const PartId> Readings::parts(FlowId id) const {
  return std::span{parts_}.subspan(begins_[id], begins_[id + 1] - begins_[id]);
}

}  // namespace cupel::burnin::fabric
