#pragma once
// What is slow between leaves, where no single part can be named: all uplinks alike, a group of
// them, flows that share one by a hash. A finding about the fabric; no node is to blame. Pure.
#include <vector>

#include "burnin/fabric/culprits.h"

namespace cupel::burnin::fabric {

/// Slow flows that each cross an uplink of one of these leaves; which of them, only the subnet
/// manager's tables say. Empty `leaves`: of so many leaves that a spine is more likely, or many
/// uplinks.
struct UplinkGroup {
  std::vector<int> leaves{};
  std::vector<FlowId> flows{};
  double level = 1;  // what it leaves of the usual rate: the middle flow
  friend bool operator==(const UplinkGroup&, const UplinkGroup&) = default;
};

struct WholeFabric {
  double loss = 0;   // of flows across leaves, against those inside; 0: none beyond their noise
  double split = 0;  // share of flows across leaves that are slow without a part that explains it
  double split_level = 1;  // what these still carry: the middle one
  /// As many flows have a half, and a third or less, of the usual rate as have where a hash puts
  /// several on one uplink.
  bool collides = false;
  /// What no part explains is slow on several rails of one pair of nodes, or two: no uplink.
  bool between_few_nodes = false;
  std::vector<UplinkGroup> groups{};

  bool is_well() const { return loss <= 0 && split <= 0 && groups.empty(); }
};

WholeFabric whole_fabric(const Readings& readings, const Culprits& culprits);

}  // namespace cupel::burnin::fabric
