// What no item of `nodes:` can see by itself: the same thing used twice, and what is not there.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "inventory/identity.h"
#include "inventory/names.h"
#include "inventory/node_network.h"
#include "inventory/read_boot.h"
#include "inventory/read_nodes.h"
#include "inventory/read_slurm.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::uint16_t kSshPort = 22;
constexpr std::size_t kMostOutlets = 12;  // of one feed of one node

/// Remembers where each word was first used, and reports its second use.
class Once {
 public:
  Once(std::string what, Problems& problems) : what_{std::move(what)}, problems_{problems} {}
  /// False where it was used before, which is a problem.
  bool use(const std::string& word, const Node& node) { return use(word, word, node); }
  /// `key`: the same for all ways to write it.
  bool use(const std::string& word, const std::string& key, const Node& node) {
    if (word.empty()) return true;
    const auto [found, fresh] = seen_.try_emplace(key, word, &node);
    if (fresh) return true;
    const auto& [first, owner] = found->second;
    problems_.push_back(
        {node.where, fmt::format("{} {} of node '{}' is already that of '{}' ({}){}", what_, word,
                                 node.name, owner->name, to_string(owner->where),
                                 first == word ? "" : ", written there as " + first)});
    return false;
  }

 private:
  std::string what_;
  Problems& problems_;
  std::unordered_map<std::string, std::pair<std::string, const Node*>> seen_{};
};

/// What nodes point at. A name that is not there is compared with all that are, which is slow: the
/// same wrong name is looked up once, and after many none any more.
class Names {
 public:
  void add(const std::string& name) {
    if (known_.insert(name).second) all_.push_back(name);
  }
  bool has(const std::string& name) const { return known_.contains(name); }
  std::string hint(const std::string& wrong) {
    const auto [found, fresh] = hints_.try_emplace(wrong);
    if (fresh && hints_.size() <= kMostHints) found->second = did_you_mean(wrong, std::span{all_});
    return found->second;
  }

 private:
  static constexpr std::size_t kMostHints = 20;

  std::unordered_set<std::string> known_;
  std::vector<std::string> all_;
  std::map<std::string, std::string, std::less<>> hints_;
};

/// Everything that the nodes of one inventory are held against.
struct Known {
  explicit Known(const Inventory& inventory) {
    for (const auto& rack : inventory.racks) {
      rack_names.add(rack.name);
      racks.emplace(rack.name, &rack);
    }
    for (const auto& level : inventory.power)
      if (level.kind == PowerNode::Kind::breaker) breakers.add(level.name);
  }
  std::unordered_map<std::string_view, const Rack*> racks;
  Names rack_names;
  Names breakers;
};

void check_place(const Inventory& inventory, const Node& node, Known& known, Once& units,
                 Problems& problems) {
  if (node.rack.empty()) return;
  const auto found = known.racks.find(node.rack);
  if (found == known.racks.end()) {
    problems.push_back({node.where, "node '" + node.name + "': there is no rack '" + node.rack +
                                        "'" + known.rack_names.hint(node.rack)});
    return;
  }
  if (node.unit == 0) return;
  const auto& rack = *found->second;
  const auto height = inventory.profile_of(node).units;
  if (node.unit + height - 1 > rack.units)
    problems.push_back(
        {node.where, fmt::format("node '{}' of {} units at unit {} does not fit into "
                                 "rack '{}' of {} units",
                                 node.name, height, node.unit, rack.name, rack.units)});
  for (int unit = node.unit; unit < node.unit + height && unit <= rack.units; ++unit)
    units.use(fmt::format("{} of rack {}", unit, node.rack), node);
}

void check_feeds(const Inventory& inventory, const Node& node, Names& breakers, Once& outlets,
                 Problems& problems) {
  for (std::size_t i = 0; i < node.feeds.size(); ++i) {
    const auto& feed = node.feeds[i];
    const auto& outlet = node.outlets[i];
    if (!breakers.has(feed)) {
      problems.push_back({node.where, "node '" + node.name + "': there is no breaker '" + feed +
                                          "'" + breakers.hint(feed)});
      continue;
    }
    if (outlet.empty()) continue;
    const auto* pdu = inventory.pdu_of(feed);
    if (pdu == nullptr) {
      problems.push_back({node.where, fmt::format("node '{}': the PDU of breaker '{}' has no "
                                                  "redfish: by which outlet {} could be switched",
                                                  node.name, feed, outlet)});
      continue;
    }
    const auto names = outlet_names(outlet);
    if (names.size() > kMostOutlets)
      problems.push_back({node.where, fmt::format("node '{}': {} outlets of one feed, and {} are "
                                                  "possible",
                                                  node.name, names.size(), kMostOutlets)});
    for (const auto name : names) outlets.use(std::string{name} + " of PDU " + pdu->name, node);
  }
}

void check_mirrors(const Inventory& inventory, Known& known, Problems& problems) {
  if (!inventory.boot) return;
  for (const auto& mirror : inventory.boot->mirrors)
    if (!mirror.rack.empty() && !known.racks.contains(mirror.rack))
      problems.push_back({mirror.where, "mirror: there is no rack '" + printable(mirror.rack) +
                                            "'" + known.rack_names.hint(mirror.rack)});
}

using NodeOfHost = std::unordered_map<std::string, const Node*>;

/// Behind one address with the usual ports is one machine. With other ports it may be a gateway.
NodeOfHost usual_ssh_hosts(const Inventory& inventory) {
  NodeOfHost hosts;
  for (const auto& node : inventory.nodes)
    if (node.ssh.endpoint.port == kSshPort && !node.ssh.endpoint.host.empty())
      hosts.try_emplace(canonical_host(node.ssh.endpoint.host), &node);
  return hosts;
}

NodeOfHost usual_bmc_hosts(const Inventory& inventory) {
  NodeOfHost hosts;
  for (const auto& node : inventory.nodes)
    if (node.bmc.endpoint.port == kHttpsPort && !node.bmc.endpoint.host.empty())
      hosts.try_emplace(canonical_host(node.bmc.endpoint.host), &node);
  return hosts;
}

/// One that stands for none or for many. Source: RFC 6890, 2.2; RFC 5771; RFC 4291, 2.5.2 and 2.7.
void check_host(const Node& node, std::string_view what, const std::string& host,
                Problems& problems) {
  boost::system::error_code none;
  const auto address = boost::asio::ip::make_address(canonical_host(host), none);
  if (none || (!address.is_unspecified() && !address.is_multicast())) return;
  problems.push_back(
      {node.where, fmt::format("{} {} of node '{}' is no machine's: it stands for {}", what, host,
                               node.name, address.is_multicast() ? "many" : "none")});
}

void check_addresses(const Node& node, const NodeOfHost& ssh_hosts, Problems& problems) {
  check_host(node, "BMC address", node.bmc.endpoint.host, problems);
  check_host(node, "SSH address", node.ssh.endpoint.host, problems);
  if (node.bmc.endpoint.port != kHttpsPort) return;
  const auto found = ssh_hosts.find(canonical_host(node.bmc.endpoint.host));
  if (found == ssh_hosts.end()) return;
  problems.push_back(
      {node.where, fmt::format("BMC address {} of node '{}' is the SSH address of "
                               "'{}': a BMC is not the machine",
                               node.bmc.endpoint.host, node.name, found->second->name)});
}

/// All interfaces of a node's networks.
std::vector<const Addressing*> interfaces_of(const NodeNetwork& network) {
  std::vector<const Addressing*> all;
  for (const auto& port : network.ports) all.push_back(&port.has);
  for (const auto& bond : network.bonds) all.push_back(&bond.has);
  for (const auto& vlan : network.vlans) all.push_back(&vlan.has);
  return all;
}

/// Of an interface's address, without its prefix: the same for all ways to write it.
std::string host_of(const std::string& address) {
  return canonical_host(address.substr(0, address.find('/')));
}

/// Good on one link alone, so that many nodes may have it. Source: RFC 3927, 1; RFC 4291, 2.5.6.
bool is_link_local(std::string_view host) {
  return host.starts_with("169.254.") || host.starts_with("fe80:");
}

/// A name in DNS, a gateway's port and what DHCP gives cannot be seen here.
bool lacks_ssh_address(const Node& node) {
  const auto& [host, port] = node.ssh.endpoint;
  if (node.network->ports.empty() || port != kSshPort || !is_address(host)) return false;
  const auto requested = canonical_host(host);
  for (const auto* interface : interfaces_of(*node.network)) {
    if (interface->dhcp4 || interface->dhcp6) return false;
    for (const auto& address : interface->addresses)
      if (host_of(address) == requested) return false;
  }
  return true;
}

void check_network(const Node& node, const NodeOfHost& ssh_hosts, Once& addresses,
                   Problems& problems) {
  for (const auto* interface : interfaces_of(*node.network))
    for (const auto& address : interface->addresses) {
      const auto host = host_of(address);
      if (is_link_local(host) || !addresses.use(address, host, node)) continue;
      const auto found = ssh_hosts.find(host);
      if (found != ssh_hosts.end() && found->second != &node)
        problems.push_back(
            {node.where, fmt::format("network address {} of node '{}' is the SSH "
                                     "address of '{}'",
                                     printable(address), node.name, found->second->name)});
    }
  if (lacks_ssh_address(node))
    problems.push_back({node.where, fmt::format("no interface in network: of node '{}' has its "
                                                "ssh: address {}, by which it is logged in to",
                                                node.name, node.ssh.endpoint.host)});
}

/// The address that an installed system and the RAM system get. Its own network: may have it too.
void check_boot_address(const Node& node, const NodeOfHost& bmc_hosts, Once& addresses,
                        Problems& problems) {
  const auto& address = node.boot.address;
  const auto host = host_of(address);
  if (address.empty() || is_link_local(host)) return;
  const auto has = [&](const Addressing* interface) {
    return std::ranges::any_of(interface->addresses,
                               [&](const auto& each) { return host_of(each) == host; });
  };
  const bool is_listed = node.network && std::ranges::any_of(interfaces_of(*node.network), has);
  if (!is_listed && !addresses.use(address, host, node)) return;
  if (const auto bmc = bmc_hosts.find(host); bmc != bmc_hosts.end())
    problems.push_back(
        {node.where, fmt::format("boot address {} of node '{}' is the BMC address of "
                                 "'{}'",
                                 printable(address), node.name, bmc->second->name)});
}

using NodeOfMac = std::unordered_map<std::string_view, const Node*>;

NodeOfMac boot_mac_owners(const Inventory& inventory) {
  NodeOfMac owners;
  for (const auto& node : inventory.nodes)
    for (const auto& mac : node.boot.macs) owners.try_emplace(mac, &node);
  return owners;
}

/// A BMC may share the port of its own machine (NC-SI), not its MAC, and not another machine's.
void check_bmc_macs(const Inventory& inventory, const NodeOfMac& owners, Problems& problems) {
  for (const auto& node : inventory.nodes) {
    const auto found = owners.find(node.bmc.mac);
    if (node.bmc.mac.empty() || found == owners.end()) continue;
    problems.push_back({node.where, fmt::format("BMC MAC {} of node '{}' is a boot MAC of '{}'",
                                                node.bmc.mac, node.name, found->second->name)});
  }
}

/// A port is found by its MAC, which no other node boots by.
void check_port_macs(const Inventory& inventory, const NodeOfMac& owners, Problems& problems) {
  for (const auto& node : inventory.nodes) {
    if (!node.network) continue;
    for (const auto& port : node.network->ports) {
      const auto found = owners.find(port.mac);
      if (found != owners.end() && found->second != &node)
        problems.push_back({node.where, fmt::format("MAC of a port {} of node '{}' is a boot MAC "
                                                    "of '{}'",
                                                    port.mac, node.name, found->second->name)});
    }
  }
}

/// Source: Kubernetes, "Object Names and IDs": a Node's is a DNS subdomain.
void check_kubernetes_name(const Inventory& inventory, const Node& node, bool fresh, Once& names,
                           Problems& problems) {
  const auto& name = node.kubernetes_name;
  if (fresh || name != node.name) names.use(name, lower_case(name), node);
  if (!inventory.is_of_kubernetes(node) || is_subdomain(name)) return;
  problems.push_back({node.where, fmt::format("Kubernetes name '{}' must be small letters, digits, "
                                              "'-' and '.' (kubernetes_name gives another)",
                                              printable(name))});
}

}  // namespace

void check_nodes(const Inventory& inventory, Problems& problems) {
  Once names{"name", problems};
  Once slurm_names{"Slurm name", problems};
  Once kubernetes_names{"Kubernetes name", problems};
  Once ipmi{"IPMI address", problems};
  Once macs{"BMC MAC", problems};
  Once boot_macs{"boot MAC", problems};
  Once port_macs{"MAC of a port", problems};
  Once addresses{"network address", problems};
  Once disks{"disk", problems};
  Once wwns{"disk WWN", problems};
  Once ssh{"SSH address", problems};
  Once serials{"serial", problems};
  Once units{"unit", problems};
  Once outlets{"outlet", problems};
  Known known{inventory};
  check_mirrors(inventory, known, problems);
  const auto mac_owners = boot_mac_owners(inventory);
  check_port_macs(inventory, mac_owners, problems);
  check_bmc_macs(inventory, mac_owners, problems);
  const auto ssh_hosts = usual_ssh_hosts(inventory);
  const auto bmc_hosts = usual_bmc_hosts(inventory);
  for (const auto& node : inventory.nodes) {
    // A node that is there twice is one error, not one for each of its names.
    const bool fresh = names.use(node.name, lower_case(node.name), node);
    if (fresh || node.slurm_name != node.name)
      slurm_names.use(node.slurm_name, lower_case(node.slurm_name), node);
    if (const auto fault = inventory.is_of_slurm(node)
                               ? fault_in_name(Named::slurm_node, node.slurm_name)
                               : std::nullopt)
      problems.push_back({node.where, *fault + " (slurm_name gives another)"});
    check_kubernetes_name(inventory, node, fresh, kubernetes_names, problems);
    check_addresses(node, ssh_hosts, problems);
    if (node.unit > 0 && node.rack.empty())
      problems.push_back(
          {node.where, "node '" + node.name + "' has a unit and no rack: a unit is a rack's"});
    if (node.bmc.ipmi && !node.bmc.ipmi->endpoint.host.empty())
      ipmi.use(to_string(node.bmc.ipmi->endpoint), canonical(node.bmc.ipmi->endpoint), node);
    if (bmc_name(node) == node.name) macs.use(node.bmc.mac, node);  // else it is another's too
    for (const auto& mac : node.boot.macs) boot_macs.use(mac, node);
    if (node.network) {
      for (const auto& port : node.network->ports) port_macs.use(port.mac, node);
      check_network(node, ssh_hosts, addresses, problems);
    }
    check_boot_address(node, bmc_hosts, addresses, problems);
    disks.use(node.boot.disk, serial_key(node.boot.disk), node);
    wwns.use(node.boot.disk_wwn, node);
    ssh.use(node.ssh.endpoint.host.empty() ? "" : to_string(node.ssh.endpoint),
            canonical(node.ssh.endpoint), node);
    if (!node.serial.empty() && is_no_serial(node.serial))
      problems.push_back(
          {node.where, fmt::format("node '{}': '{}' is no serial number: leave it out", node.name,
                                   printable(node.serial))});
    else
      serials.use(node.serial, serial_key(node.serial), node);
    if (inventory.profiles.contains(node.profile))
      check_place(inventory, node, known, units, problems);
    check_feeds(inventory, node, known.breakers, outlets, problems);
  }
}

}  // namespace cupel::inventory
