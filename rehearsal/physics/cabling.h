#pragma once
// The cables of a virtual fabric: which leaf each HCA is plugged into, and which uplinks each leaf
// has. Made of a cable plan (inventory/fabric.h), or of a usual rule where a rack has none. What is
// wrong with switches and uplinks lies beside it. Pure: no time, no traffic.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fabric.h"
#include "inventory/fwd.h"
#include "rehearsal/hardware.h"
#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {

struct FabricAdapter {
  std::string name;  // "mlx5_0"; its number says nothing of its rail
  std::string guid;  // "946d:ae12:3456:789a"
  double gbit = 400;
};

struct FabricNode {
  std::string name;
  std::vector<FabricAdapter> adapters;  // that are there
  std::vector<std::string> expected{};  // rail by rail, compute HCAs first; empty: its adapters
};

/// The HCAs of a machine; their rate as the profile's criteria and models say it. HCAs of no rail
/// come after the others.
FabricNode fabric_node(const Hardware& hardware, const inventory::Profile& profile);

struct FabricPlan {
  std::vector<FabricNode> nodes{};
  int nodes_of_group = 32;  // half the 64 ports of an NDR switch (QM9700) look down
  int spines = 8;
  bool adaptive = false;  // routing: each stream goes over all uplinks alike
  /// As the site has it; nullptr: rail-optimised, by the two numbers above. HCAs that it does not
  /// have are cabled to switches of their own.
  std::shared_ptr<const inventory::Fabric> planned{};
  SpreadShape spread = SpreadShape::normal;  // of healthy links
};

/// Where a cable from an HCA ends.
struct LeafPort {
  std::size_t leaf = 0;  // number of the switch
  int port = 0;
  friend bool operator==(const LeafPort&, const LeafPort&) = default;
};

class Cabling {
 public:
  struct Uplink {
    std::size_t spine = 0;
    int port = 0;  // of the leaf
    int spine_port = 0;
  };
  struct Switch {
    std::string name;
    int ports_per_cage = 1;
    std::vector<int> node_ports{};  // ascending
    std::vector<Uplink> uplinks{};  // in the order of the plan
    int last_port = 0;
  };
  /// The way between two leaves: numbers of uplinks in the order of each leaf's list.
  struct Route {
    std::size_t up = 0, down = 0, spine = 0;
  };

  explicit Cabling(const FabricPlan& plan);

  const std::vector<Switch>& switches() const { return switches_; }
  const Switch& at(std::size_t number) const { return switches_[number]; }
  std::optional<LeafPort> port(std::string_view node, std::string_view hca) const;
  /// Static routing: a leaf sends what is for the k-th of a leaf's ports up its k-th uplink, and
  /// the spine takes the uplink down that is next to it. Nothing where no spine connects them.
  std::optional<Route> route(std::size_t from, const LeafPort& to) const;
  /// Of each switch: whether cables lead there from this one.
  std::vector<bool> connected(std::size_t from) const;
  /// "leaf1-r1/spine3", "leaf1-r1/spine3#2".
  std::string uplink_name(std::size_t leaf, std::size_t uplink) const;

 private:
  void add(const inventory::Fabric& fabric);
  std::size_t number_of(const std::string& name);

  std::vector<Switch> switches_{};
  std::map<std::string, std::size_t, std::less<>> numbers_{};
  std::map<std::string, LeafPort, std::less<>> ports_{};  // by "node/hca"
};

/// What faults leave of the rate of switches and uplinks; what is not in it is well.
struct SwitchCondition {
  struct Ways {
    double out = 1, in = 1;     // to the spine, and from it
    std::optional<int> port{};  // of the leaf, where the uplink's plug is not in its own
  };
  std::map<std::size_t, double> switches{};
  std::map<std::pair<std::size_t, std::size_t>, Ways> uplinks{};  // leaf, number of the uplink

  double of(std::size_t number) const;
  Ways of(std::size_t leaf, std::size_t uplink) const;
};

}  // namespace cupel::rehearsal
