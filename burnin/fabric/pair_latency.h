#pragma once
// How long small messages take between pairs of nodes, after their bandwidth: the same pairs, one
// flow for each rail, since a message and its answer cross the link both ways. A link is late where
// it is late with each partner, beyond the fleet's own noise. Pure.
#include <array>
#include <span>
#include <vector>

#include "burnin/fabric/reasons.h"
#include "burnin/fabric/rounds.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

class PairLatency {
 public:
  /// The topology must outlive it.
  explicit PairLatency(const Topology& topology);

  /// What to measure now; empty: all is measured.
  std::span<const Flow> next_flows() const { return asked_; }
  /// Microseconds, in the order of next_flows(); NaN where nothing was measured.
  void take(std::span<const double> readings);
  /// The node does not take part any more: what next_flows() asks for, too, goes without it.
  void leave(int node);
  std::size_t rounds() const { return round_; }

  /// `fabric.link.latency` and `fabric.link.lag` of each HCA, and the limits that they rest on.
  void add_to(const Names& names, GroupFindings& found) const;

 private:
  struct Reading {
    Flow flow{};
    double microseconds = 0;
  };
  struct Noise {
    double usual = 0, limit = 0;  // 0: too few flows to learn from
  };

  void begin_round();
  std::array<Noise, 2> noise() const;
  std::size_t port_of(int node, int rail) const;

  const Topology& topology_;
  std::vector<Round> fixed_;
  std::vector<bool> absent_;
  std::vector<Flow> asked_{};
  std::vector<Reading> readings_{};
  std::size_t round_ = 0;
};

}  // namespace cupel::burnin::fabric
