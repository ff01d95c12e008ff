#pragma once
// All flows that were measured so far: what each crossed, what was read of it, and how much that
// speaks for a slow part.
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "burnin/fabric/limits.h"
#include "burnin/fabric/topology.h"

namespace cupel::burnin::fabric {

using FlowId = std::uint32_t;

/// Of flows inside a leaf, and across.
using LimitsOfKinds = std::array<Limits, 2>;

class Readings {
 public:
  /// `expected`: about how many flows there will be.
  Readings(const Topology& topology, std::size_t expected);

  FlowId add(const Flow& flow);
  /// One more reading of the flow, in Gb/s. It is judged by the limits that were given last.
  void read(FlowId id, double gigabits);
  /// All readings are judged again.
  void judge_by(const LimitsOfKinds& limits);
  /// Routes were measured: what each flow crosses is worked out anew.
  void take_routes();

  std::size_t size() const { return flows_.size(); }
  const Flow& flow(FlowId id) const { return flows_[id]; }
  std::span<const PartId> parts(FlowId id) const;
  std::size_t kind(FlowId id) const { return topology_.across(flows_[id]) ? 1 : 0; }
  /// Of all readings of the flow, in nats; above 0: slow.
  double evidence(FlowId id) const { return judged_[id].evidence; }
  /// The best of its readings, as a share of the usual rate: what lowers one reading alone is not
  /// the fabric.
  double best(FlowId id) const { return judged_[id].best; }
  /// The middle one of the readings of each of these flows, as a share of the usual rate.
  std::vector<double> middles(std::span<const FlowId> flows) const;
  int count(FlowId id) const { return judged_[id].count; }
  /// The lowest of them, as a share of the usual rate.
  double worst(FlowId id) const { return judged_[id].worst; }
  /// Of each flow, how many of its readings are so far below its best that no noise explains it.
  std::vector<int> dips() const;
  const LimitsOfKinds& limits() const { return limits_; }
  const Topology& topology() const { return topology_; }

 private:
  struct Judged {
    float evidence = 0, best = 0, worst = 0;
    std::uint16_t count = 0;
  };
  void judge(FlowId id, float gigabits);

  std::vector<Flow> flows_;
  std::vector<PartId> parts_;
  std::vector<std::size_t> begins_{0};
  std::vector<std::pair<FlowId, float>> read_;  // in their order
  std::vector<Judged> judged_;
  LimitsOfKinds limits_{};
  const Topology& topology_;
};

}  // namespace cupel::burnin::fabric
