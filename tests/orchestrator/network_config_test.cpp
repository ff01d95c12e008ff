// A node's networks as cloud-init is given them, alone and in a seed.
#include "orchestrator/os/network_config.h"

#include <gmock/gmock.h>

#include "inventory/node.h"
#include "inventory/node_network.h"
#include "inventory/yaml.h"
#include "orchestrator/os/seed.h"

namespace cupel::os {
namespace {

inventory::NodeNetwork a_network() {
  inventory::NodeNetwork network;
  network.ports = {
      {.name = "lan0", .mac = "52:54:00:00:00:01"},
      {.name = "oob", .mac = "52:54:00:00:00:02", .has = {.dhcp4 = true, .dhcp6 = true}}};
  network.bonds = {{.name = "bond0",
                    .mode = "active-backup",
                    .members = {"lan0"},
                    .has = {.addresses = {"10.0.2.11/24", "fd00::11/64"},
                            .mtu = 9000,
                            .routes = {{"::/0", "fd00::1"}},
                            .dns = {"10.0.0.2"},
                            .search = {"lab.example"}}}};
  network.vlans = {
      {.name = "storage", .id = 100, .link = "bond0", .has = {.addresses = {"10.9.0.11/24"}}}};
  return network;
}

TEST(NetworkConfig, HasPortsByMacBondsAndVlansAsNetplanDoes) {
  EXPECT_EQ(json::value(network_config(a_network())), parse_json(R"({
    "version": 2,
    "ethernets": {
      "lan0": {"match": {"macaddress": "52:54:00:00:00:01"}, "set-name": "lan0"},
      "oob": {"match": {"macaddress": "52:54:00:00:00:02"}, "set-name": "oob", "dhcp4": true,
              "dhcp6": true}},
    "bonds": {"bond0": {
      "interfaces": ["lan0"], "parameters": {"mode": "active-backup", "mii-monitor-interval": 100},
      "addresses": ["10.0.2.11/24", "fd00::11/64"], "mtu": 9000,
      "routes": [{"to": "::/0", "via": "fd00::1"}],
      "nameservers": {"addresses": ["10.0.0.2"], "search": ["lab.example"]}}},
    "vlans": {"storage": {"id": 100, "link": "bond0", "addresses": ["10.9.0.11/24"]}}})")
                                                          .value());
}

TEST(NetworkConfig, OfANodeTakesThePlaceOfThoseThatItBootsBy) {
  inventory::Node node;
  node.name = "n1";
  SeedRequest request{.node = &node, .home_url = "http://10.0.0.1/home/x"};
  request.networks = {json::object{{"mac", "52:54:00:00:00:09"}, {"dhcp", true}}};
  const std::string before = make_seed(request).at("network-config");
  EXPECT_NE(before.find("boot0"), before.npos);
  node.network = std::make_shared<const inventory::NodeNetwork>(a_network());

  const std::string after = make_seed(request).at("network-config");

  EXPECT_EQ(after, json::serialize(network_config(a_network())) + "\n");
  std::vector<inventory::Problem> problems;
  const auto yaml = inventory::parse_yaml(after, "network-config", problems);
  ASSERT_TRUE(yaml) << inventory::to_string(problems);
  const auto* bond = yaml->root.entry("bonds")->entry("bond0");
  ASSERT_NE(bond, nullptr);
  EXPECT_EQ(bond->entry("mtu")->text, "9000");
}

}  // namespace
}  // namespace cupel::os
