#include "burnin/fabric/plan_wiring.h"

#include <fmt/format.h>

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

using AccessPorts = std::map<std::string, std::set<int>, std::less<>>;

/// Of each leaf the ports for nodes: the place of a port is its rank among them.
AccessPorts node_ports(const inventory::Fabric& fabric) {
  AccessPorts ports;
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

/// By the tables: the leaf's port to the HCA is an uplink's, and the port of the spine at its other
/// end leads to the HCA's own leaf.
class Routes {
 public:
  Routes(const FabricMap& map, const inventory::ForwardingTables& tables, const AccessPorts& access,
         PlannedWiring& made)
      : map_{map}, tables_{tables}, access_{access}, made_{made} {
    for (const auto& leaf : made_.names.leaves)
      for (const auto& up : map_.uplinks(leaf))
        leaf_at_.emplace(std::pair{up.spine, up.spine_port}, leaf);
  }

  void add() {
    auto& wiring = made_.wiring;
    std::set<std::pair<int, int>> used;
    for (int node = 0; node < wiring.nodes; ++node)
      for (int rail = 0; rail < wiring.rails; ++rail)
        if (const int leaf = port(node, rail).leaf; leaf >= 0) used.insert({leaf, rail});
    for (const auto& [leaf, rail] : used) {
      std::vector<Route> routes;
      bool any = false;
      for (int node = 0; node < wiring.nodes; ++node) {
        routes.push_back(route(leaf, node, rail));
        any = any || routes.back().known();
      }
      if (any) wiring.routes.emplace(std::pair{leaf, rail}, std::move(routes));
    }
    if (!made_.stale.empty()) wiring.routes.clear();
  }

 private:
  /// Among those of all nodes.
  std::size_t place_of(int node, int rail) const {
    const int place = node * made_.wiring.rails + rail;
    return static_cast<std::size_t>(place);
  }

  const Wiring::Port& port(int node, int rail) const {
    return made_.wiring.ports[place_of(node, rail)];
  }

  /// The first place where the tables and the cables of the plan cannot both be true.
  void contradict(std::string_view at, int port, std::string_view where, int node, int rail) {
    if (!made_.stale.empty()) return;
    made_.stale = fmt::format(
        "they contradict the cable plan: {} sends packets for {} {} by port {}, which the plan "
        "cables to {}; they were made before the fabric was cabled so, or the plan is wrong. Run "
        "dump_fts again and replace the file",
        at, made_.names.nodes[static_cast<std::size_t>(node)],
        made_.names.hcas[place_of(node, rail)], port, where);
  }

  Route route(int leaf, int node, int rail) {
    const auto& to = port(node, rail);
    if (to.leaf < 0 || to.leaf == leaf || is_stale(node, rail)) return {};
    const auto& from_name = made_.names.leaves[static_cast<std::size_t>(leaf)];
    const auto& to_name = made_.names.leaves[static_cast<std::size_t>(to.leaf)];
    const auto& ups = map_.uplinks(from_name);
    const auto& downs = map_.uplinks(to_name);
    const int leaf_port = port_to(from_name, node, rail);
    const auto up = std::ranges::find(ups, leaf_port, &inventory::Uplink::leaf_port);
    const auto own = access_.find(from_name);
    if (own != access_.end() && own->second.contains(leaf_port))
      contradict(from_name, leaf_port, "a node", node, rail);
    if (up == ups.end()) return {};
    const int spine_port = port_to(up->spine, node, rail);
    const auto down = std::ranges::find_if(downs, [&](const inventory::Uplink& each) {
      return each.spine == up->spine && each.spine_port == spine_port;
    });
    const auto other = leaf_at_.find({up->spine, spine_port});
    if (other != leaf_at_.end() && other->second != to_name)
      contradict(up->spine, spine_port, other->second, node, rail);
    if (down == downs.end()) return {};
    return {static_cast<std::int16_t>(up - ups.begin()),
            static_cast<std::int16_t>(down - downs.begin())};
  }

  /// By the table of the HCA's own leaf it sits at another port than in the plan: LIDs were given
  /// anew since, or it is cabled elsewhere. The uplinks that tables have for it are another HCA's.
  bool is_stale(int node, int rail) const {
    const auto at = map_.rail_port(made_.names.nodes[static_cast<std::size_t>(node)], rail);
    if (!at) return false;
    const int own = port_to(at->leaf, node, rail);
    return own >= 0 && own != at->port;
  }

  /// -1: no table has it.
  int port_to(std::string_view from, int node, int rail) const {
    const auto& name = made_.names.nodes[static_cast<std::size_t>(node)];
    const auto& hca = made_.names.hcas[place_of(node, rail)];
    const auto* planned = map_.find_node(name);
    if (planned != nullptr && !planned->host.empty())
      if (const auto found = tables_.port_to(from, planned->host, hca)) return *found;
    return tables_.port_to(from, name, hca).value_or(-1);
  }

  const FabricMap& map_;
  const inventory::ForwardingTables& tables_;
  const AccessPorts& access_;
  PlannedWiring& made_;
  std::map<std::pair<std::string_view, int>, std::string_view> leaf_at_{};  // by spine and its port
};

}  // namespace

Result<PlannedWiring> wiring_of(const inventory::Fabric& fabric, std::span<const std::string> nodes,
                                Routing routing, const inventory::ForwardingTables* forwarding) {
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
  for (const auto& leaf : made.names.leaves) {
    const auto* planned = map.find_switch(leaf);
    made.names.leaf_guids.push_back(planned != nullptr ? planned->guid : "");
  }
  wiring.leaves = static_cast<int>(leaves.names().size());
  add_uplinks(map, leaves, made);
  if (forwarding == nullptr || forwarding->empty()) return made;
  made.stale = forwarding->stale();
  if (made.stale.empty()) Routes{map, *forwarding, ports, made}.add();
  return made;
}

}  // namespace cupel::burnin::fabric
