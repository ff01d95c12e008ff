#pragma once
// All flows that were measured so far: what each crossed, and how much each speaks for a slow part.
#include <span>
#include <vector>

#include "burnin/fabric/topology.h"

namespace cupel::burnin::fabric {

using FlowId = std::uint32_t;

class Readings {
 public:
  /// `expected`: about how many flows there will be.
  Readings(const Topology& topology, std::size_t expected);

  FlowId add(const Flow& flow);
  /// One more reading of the flow, `share` of the rate that is usual.
  void read(FlowId id, double share, double evidence);

  std::size_t size() const { return flows_.size(); }
  const Flow& flow(FlowId id) const { return flows_[id]; }
  std::span<const PartId> parts(FlowId id) const;
  /// Of all readings of the flow, in nats; above 0: slow.
  double evidence(FlowId id) const { return evidence_[id]; }
  /// The best of its readings: what lowers one reading alone is not the fabric.
  double best(FlowId id) const { return best_[id]; }
  int count(FlowId id) const { return counts_[id]; }
  /// Of each part: the sum over the flows that cross it.
  const std::vector<float>& scores() const { return scores_; }

 private:
  std::vector<Flow> flows_;
  std::vector<PartId> parts_;
  std::vector<std::size_t> begins_{0};
  std::vector<float> evidence_, best_;
  std::vector<std::uint16_t> counts_;
  std::vector<float> scores_;
  const Topology& topology_;
};

}  // namespace cupel::burnin::fabric
