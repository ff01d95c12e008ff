#pragma once
// A rail-optimised fabric with slow parts and the noise of real readings, for tests and curves of
// the search by pairs.
#include <algorithm>
#include <cmath>
#include <random>

#include "burnin/fabric/screen.h"

namespace cupel::test {

struct SimulatedFabric {
  int nodes = 232, rails = 8, group = 32;
  double noise = 0.006;  // standard deviation of a reading
  double dips = 0.005;   // share of readings that are 6 to 30 % lower, once
  double spread = 0;     // of access links, always the same of one

  int groups() const { return (nodes + group - 1) / group; }
  int spines() const { return std::clamp(groups(), 4, group); }

  burnin::fabric::Wiring wiring() const {
    burnin::fabric::Wiring made;
    made.nodes = nodes;
    made.rails = rails;
    made.leaves = groups() * rails;
    made.spines = spines();
    made.uplinks = group;
    for (int node = 0; node < nodes; ++node)
      for (int rail = 0; rail < rails; ++rail)
        made.ports.push_back({node / group * rails + rail, node % group});
    for (int leaf = 0; leaf < made.leaves; ++leaf)
      for (int uplink = 0; uplink < group; ++uplink)
        made.spine_of_uplink.push_back(uplink * spines() / group);
    return made;
  }
};

/// What is slow, and how much is left of it.
class SlowParts {
 public:
  SlowParts(const burnin::fabric::Topology& topology, const SimulatedFabric& fabric,
            std::uint64_t seed)
      : topology_{topology}, fabric_{fabric}, draw_{seed}, share_(topology.part_count(), 1.0) {
    std::normal_distribution<double> spread{0, 1};
    if (fabric.spread > 0)
      for (int node = 0; node < fabric.nodes; ++node)
        for (int rail = 0; rail < fabric.rails; ++rail)
          share_[topology.id({burnin::fabric::PartKind::access, {}, node, rail})] =
              1 - fabric.spread * std::abs(spread(draw_));
  }

  void slow(burnin::fabric::PartId part, double share) {
    share_[part] = share;
    bad_.push_back(part);
  }
  /// So many, as a new fabric has them: half are access links, a fifth each nodes and uplinks.
  void plant(int count, double least_share, double most_share) {
    while (static_cast<int>(bad_.size()) < count) {
      const auto part = any_part();
      if (std::ranges::find(bad_, part) != bad_.end()) continue;
      slow(part, std::uniform_real_distribution{least_share, most_share}(draw_));
    }
  }
  const std::vector<burnin::fabric::PartId>& bad() const { return bad_; }

  double read(const burnin::fabric::Flow& flow) {
    crossed_.clear();
    topology_.add_parts(flow, crossed_);
    double share = 1;
    for (const auto part : crossed_) share = std::min(share, share_[part]);
    share *= 1 + fabric_.noise * normal_(draw_);
    if (chance_(draw_) < fabric_.dips) share *= 0.7 + 0.24 * chance_(draw_);
    return share;
  }

 private:
  burnin::fabric::PartId any_part() {
    using burnin::fabric::PartKind;
    const auto below = [&](int end) { return std::uniform_int_distribution{0, end - 1}(draw_); };
    for (;;) {
      const double kind = chance_(draw_);
      if (kind < 0.2) return topology_.id({PartKind::node, {}, below(fabric_.nodes), 0});
      if (kind < 0.7)
        return topology_.id({PartKind::access, {}, below(fabric_.nodes), below(fabric_.rails)});
      if (fabric_.groups() < 2) continue;
      if (kind < 0.9) {
        const int group = below(fabric_.groups());
        const int places = std::min(fabric_.group, fabric_.nodes - group * fabric_.group);
        const int leaf = group * fabric_.rails + below(fabric_.rails);
        return topology_.id({PartKind::uplink, {}, leaf, below(places)});
      }
      if (kind < 0.96)
        return topology_.id({PartKind::leaf, {}, below(fabric_.groups() * fabric_.rails), 0});
      return topology_.id({PartKind::spine, {}, below(fabric_.spines()), 0});
    }
  }

  const burnin::fabric::Topology& topology_;
  const SimulatedFabric fabric_;
  std::mt19937_64 draw_;
  std::normal_distribution<double> normal_{0, 1};
  std::uniform_real_distribution<double> chance_{0, 1};
  std::vector<double> share_;
  std::vector<burnin::fabric::PartId> bad_, crossed_;
};

}  // namespace cupel::test
