#include "burnin/fabric/plan_wiring.h"

#include <algorithm>
#include <map>
#include <set>

namespace cupel::burnin::fabric {
namespace {

using inventory::FabricMap;

/// Numbers names in the order in which they come.
class Numbers {
 public:
  int of(std::string_view name) {
    const auto [at, added] = numbers_.try_emplace(std::string{name}, static_cast<int>(all_.size()));
    if (added) all_.emplace_back(name);
    return at->second;
  }
  const std::vector<std::string>& names() const { return all_; }

 private:
  std::map<std::string, int, std::less<>> numbers_;
  std::vector<std::string> all_;
};

/// Of each leaf the ports for nodes: the place of a port is its rank among them.
std::map<std::string, std::set<int>, std::less<>> node_ports(const inventory::Fabric& fabric) {
  std::map<std::string, std::set<int>, std::less<>> ports;
  for (const auto& cable : fabric.cables)
    if (cable.is_access()) ports[cable.to.device].insert(cable.to.port);
  return ports;
}

int rank_of(const std::set<int>& ports, int port) {
  return static_cast<int>(std::distance(ports.begin(), ports.find(port)));
}

void add_uplinks(const FabricMap& map, const Numbers& leaves, PlannedWiring& made) {
  auto& wiring = made.wiring;
  Numbers spines;
  std::size_t most = 0;
  for (const auto& leaf : leaves.names()) most = std::max(most, map.uplinks(leaf).size());
  wiring.uplinks = static_cast<int>(most);
  for (const auto& leaf : leaves.names()) {
    const auto& uplinks = map.uplinks(leaf);
    for (std::size_t i = 0; i < most; ++i) {
      const bool there = i < uplinks.size();
      wiring.spine_of_uplink.push_back(there ? spines.of(uplinks[i].spine) : -1);
      made.names.uplink_ports.push_back(there ? std::to_string(uplinks[i].leaf_port) : "");
    }
  }
  made.names.spines = spines.names();
  wiring.spines = static_cast<int>(spines.names().size());
}

}  // namespace

Result<PlannedWiring> wiring_of(const inventory::Fabric& fabric, std::span<const std::string> nodes,
                                Routing routing) {
  const FabricMap map{fabric};
  const auto ports = node_ports(fabric);
  PlannedWiring made;
  auto& wiring = made.wiring;
  wiring.nodes = static_cast<int>(nodes.size());
  wiring.routing = routing;
  std::size_t rails = 1;
  for (const auto& name : nodes) {
    const auto* node = map.find_node(name);
    if (node == nullptr)
      return Error{Code::kInvalid, name +
                                       " is not in the fabric's plan: add it to fabric: of the "
                                       "inventory, or leave it out"};
    rails = std::max(rails, node->hcas.size());
  }
  wiring.rails = static_cast<int>(rails);
  Numbers leaves;
  for (const auto& name : nodes) {
    bool cabled = false;
    for (int rail = 0; rail < wiring.rails; ++rail) {
      const auto at = map.rail_port(name, rail);
      cabled |= at.has_value();
      wiring.ports.push_back(
          at ? Wiring::Port{leaves.of(at->leaf), rank_of(ports.find(at->leaf)->second, at->port)}
             : Wiring::Port{});
      made.names.hcas.emplace_back(at ? at->hca : "");
      const auto* leaf = at ? map.find_switch(at->leaf) : nullptr;
      made.names.leaf_ports.push_back(leaf ? inventory::port_label(*leaf, at->port) : "");
    }
    if (!cabled)
      return Error{Code::kInvalid, name + ": the fabric's plan has no cable for its HCAs"};
    made.names.nodes.push_back(name);
  }
  made.names.leaves = leaves.names();
  wiring.leaves = static_cast<int>(leaves.names().size());
  add_uplinks(map, leaves, made);
  return made;
}

}  // namespace cupel::burnin::fabric
