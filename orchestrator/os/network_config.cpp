#include "orchestrator/os/network_config.h"

#include "inventory/node_network.h"

namespace cupel::os {
namespace {

constexpr int kLinkPolling = 100;  // ms: Linux, bonding, "miimon"

json::object addressing(const inventory::Addressing& has) {
  json::object one;
  if (has.dhcp4) one["dhcp4"] = true;
  if (has.dhcp6) one["dhcp6"] = true;
  if (!has.addresses.empty()) one["addresses"] = json::value_from(has.addresses);
  if (has.mtu) one["mtu"] = *has.mtu;
  json::array routes;
  for (const auto& route : has.routes)
    routes.push_back(json::object{{"to", route.to}, {"via", route.via}});
  if (!routes.empty()) one["routes"] = std::move(routes);
  json::object servers;
  if (!has.dns.empty()) servers["addresses"] = json::value_from(has.dns);
  if (!has.search.empty()) servers["search"] = json::value_from(has.search);
  if (!servers.empty()) one["nameservers"] = std::move(servers);
  return one;
}

json::object parameters_of(const inventory::Bond& bond) {
  json::object parameters{{"mode", bond.mode}, {"mii-monitor-interval", kLinkPolling}};
  // By addresses and ports: the default sends all that goes to one gateway over one link.
  if (bond.mode == "802.3ad") parameters["transmit-hash-policy"] = "layer3+4";
  return parameters;
}

}  // namespace

json::object network_config(const inventory::NodeNetwork& network) {
  json::object ethernets, bonds, vlans;
  for (const auto& port : network.ports) {
    auto one = addressing(port.has);
    one["match"] = json::object{{"macaddress", port.mac}};
    one["set-name"] = port.name;
    ethernets[port.name] = std::move(one);
  }
  for (const auto& bond : network.bonds) {
    auto one = addressing(bond.has);
    one["interfaces"] = json::value_from(bond.members);
    one["parameters"] = parameters_of(bond);
    bonds[bond.name] = std::move(one);
  }
  for (const auto& vlan : network.vlans) {
    auto one = addressing(vlan.has);
    one["id"] = vlan.id;
    one["link"] = vlan.link;
    vlans[vlan.name] = std::move(one);
  }
  json::object config{{"version", 2}, {"ethernets", std::move(ethernets)}};
  if (!bonds.empty()) config["bonds"] = std::move(bonds);
  if (!vlans.empty()) config["vlans"] = std::move(vlans);
  return config;
}

}  // namespace cupel::os
