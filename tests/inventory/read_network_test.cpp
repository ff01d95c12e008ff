// The networks of installed systems: what is read for each node, and every mistake with its place.
#include "inventory/read_network.h"

#include <gmock/gmock.h>

#include "inventory/load.h"
#include "inventory/model.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kBefore =
    "site: lab\n"
    "defaults:\n"
    "  profile: cpu-server\n"
    "  bmc: {user: admin, password: \"env:P\", tls: {trust: first-use}}\n"
    "nodes:\n"
    "  - name: n[1-2]\n"
    "    bmc: {address: \"10.0.1.[1-2]\"}\n"
    "    ssh: {address: \"10.0.2.[1-2]\"}\n"
    "    network:\n";

Loaded load(const std::string& network) {
  return parse_inventory(std::string{kBefore} + network, "i.yaml", "/srv");
}

std::vector<std::string> problem_texts(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const auto& problem : problems)
    lines.push_back(to_string(problem.where) + ": " + problem.what);
  return lines;
}

TEST(NetworkOfNodes, IsReadForEachWithItsMacsAndAddresses) {
  const auto loaded = load(
      "      ports:\n"
      "        - {name: lan0, mac: \"52:54:00:00:00:[11-12]\"}\n"
      "        - {name: lan1, mac: [\"52:54:00:00:01:11\", \"52:54:00:00:01:12\"]}\n"
      "        - {name: oob, mac: \"52:54:00:00:02:[11-12]\", dhcp4: yes}\n"
      "      bonds:\n"
      "        - name: bond0\n"
      "          mode: 802.3ad\n"
      "          ports: [lan0, lan1]\n"
      "          mtu: 9000\n"
      "          addresses: [\"10.0.2.[1-2]/24\", \"fd00::[1-2]/64\"]\n"
      "          routes: [{to: default, via: 10.0.2.254}, {to: default, via: \"fd00::ff\"}]\n"
      "          dns: 10.0.0.2\n"
      "          search: lab.example\n"
      "      vlans:\n"
      "        - {name: bond0.100, id: 100, link: bond0, addresses: \"10.9.0.[1-2]/24\"}\n");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  const auto& second = *loaded.inventory->nodes[1].network;
  ASSERT_EQ(second.ports.size(), 3U);
  EXPECT_EQ(second.ports[0].mac, "52:54:00:00:00:12");
  EXPECT_EQ(second.ports[1].mac, "52:54:00:00:01:12");
  EXPECT_TRUE(second.ports[2].has.dhcp4);
  ASSERT_EQ(second.bonds.size(), 1U);
  const auto& bond = second.bonds[0];
  EXPECT_THAT(bond.members, ElementsAre("lan0", "lan1"));
  EXPECT_EQ(bond.mode, "802.3ad");
  EXPECT_THAT(bond.has.addresses, ElementsAre("10.0.2.2/24", "fd00::2/64"));
  EXPECT_EQ(bond.has.mtu, 9000);
  ASSERT_EQ(bond.has.routes.size(), 2U);
  EXPECT_EQ(bond.has.routes[0].to, "0.0.0.0/0");
  EXPECT_EQ(bond.has.routes[1].to, "::/0");
  EXPECT_THAT(bond.has.dns, ElementsAre("10.0.0.2"));
  EXPECT_THAT(bond.has.search, ElementsAre("lab.example"));
  ASSERT_EQ(second.vlans.size(), 1U);
  EXPECT_EQ(second.vlans[0].id, 100);
  EXPECT_EQ(second.vlans[0].link, "bond0");
  EXPECT_THAT(loaded.inventory->nodes[0].network->vlans[0].has.addresses,
              ElementsAre("10.9.0.1/24"));
}

TEST(NetworkOfNodes, ListsAllMistakesAtOnceWithTheirPlaces) {
  const auto loaded = load(
      "      ports:\n"
      "        - {name: lan0, mac: \"52:54:00:00:00:[11-12]\", addresses: \"10.0.2.[1-2]/24\"}\n"
      "        - {name: a/b, mac: \"x[1-2]\"}\n"
      "        - {name: lan2, mac: \"52:54:00:00:02:11\", mtu: 100}\n"
      "        - {name: lan3, mac: \"52:54:00:00:03:[11-12]\", addresses: \"10.0.3.[1-2]\"}\n"
      "      bonds:\n"
      "        - {name: lan0, mode: lacp, ports: [lan0, lan9]}\n"
      "      vlans:\n"
      "        - {name: v, id: 4095, link: lan0}\n"
      "        - {name: w, id: 2, link: none}\n"
      "        - {name: x, id: 3, link: lan3, routes: [{to: 10.8.0.0/16, via: \"fd00::1\"}]}\n"
      "      xyz12345: []\n");

  EXPECT_FALSE(loaded.inventory);
  EXPECT_THAT(
      problem_texts(loaded.problems),
      UnorderedElementsAre(
          "i.yaml:12:18: name is that of an interface: at most 15 letters, digits, '.', '_' and "
          "'-'",
          "i.yaml:12:28: 'x1' is not the MAC of a port (aa:bb:cc:00:11:22)",
          "i.yaml:12:28: 'x2' is not the MAC of a port (aa:bb:cc:00:11:22)",
          "i.yaml:13:29: 1 MACs for 2 nodes: give one for each",
          "i.yaml:13:55: mtu must be a whole number from 576 to 65535, not '100'",
          "i.yaml:14:66: '10.0.3.1' is not an address with a prefix: 10.0.2.11/24",
          "i.yaml:14:66: '10.0.3.2' is not an address with a prefix: 10.0.2.11/24",
          "i.yaml:16:18: interface 'lan0' is there twice",
          "i.yaml:16:30: mode of a bond is 802.3ad or active-backup, not 'lacp'",
          "i.yaml:16:43: port 'lan0' has an address of its own: give it to the bond",
          "i.yaml:16:43: there is no port 'lan9'",
          "i.yaml:18:25: id must be a whole number from 1 to 4094, not '4095'",
          "i.yaml:18:37: port 'lan0' is in a bond: link the bond",
          "i.yaml:19:34: there is no port or bond 'none'",
          "i.yaml:20:54: to is default, or a network of the same family as via: 10.9.0.0/16",
          "i.yaml:21:7: unknown key 'xyz12345' in network"));
}

TEST(NetworkOfNodes, HasNoMacOfAnotherNode) {
  const auto loaded = load(
      "      ports: [{name: lan0, mac: [\"52:54:00:00:00:11\", \"52:54:00:00:00:11\"], dhcp4: "
      "yes}]\n");

  EXPECT_THAT(problem_texts(loaded.problems),
              ElementsAre("i.yaml:10:33: 52:54:00:00:00:11 is there twice",
                          "i.yaml:6:11: MAC of a port 52:54:00:00:00:11 of node 'n2' is already "
                          "that of 'n1' (i.yaml:6:11)"));
}

TEST(NetworkOfNodes, HasNoAddressAndNoBootMacOfAnotherNode) {
  const auto loaded = load(
      "      ports: [{name: lan0, mac: \"52:54:00:00:00:[11-12]\", addresses: "
      "\"10.0.2.[1-2]/24\"}]\n"
      "  - name: n3\n"
      "    bmc: {address: 10.0.1.3}\n"
      "    ssh: {address: 10.0.2.3}\n"
      "    boot: {macs: \"52:54:00:00:00:12\"}\n"
      "    network: {ports: [{name: a, mac: \"52:54:00:00:00:13\", addresses: [10.0.2.3/24, "
      "10.0.2.2/16, 10.0.2.4/24]}]}\n"
      "  - name: n4\n"
      "    bmc: {address: 10.0.1.4}\n"
      "    ssh: {address: 10.0.2.4}\n");

  EXPECT_FALSE(loaded.inventory);
  EXPECT_THAT(
      problem_texts(loaded.problems),
      UnorderedElementsAre(
          "i.yaml:6:11: MAC of a port 52:54:00:00:00:12 of node 'n2' is a boot MAC of 'n3'",
          "i.yaml:11:11: network address 10.0.2.2/16 of node 'n3' is already that of 'n2' "
          "(i.yaml:6:11), written there as 10.0.2.2/24",
          "i.yaml:11:11: network address 10.0.2.4/24 of node 'n3' is the SSH address of 'n4'"));
}

TEST(NetworkOfNodes, HasTheAddressByWhichItIsLoggedInTo) {
  const auto lacking = load(
      "      ports: [{name: lan0, mac: \"52:54:00:00:00:[11-12]\", addresses: "
      "\"10.0.3.[1-2]/24\"}]\n");
  const auto by_dhcp =
      load("      ports: [{name: lan0, mac: \"52:54:00:00:00:[11-12]\", dhcp4: yes}]\n");

  EXPECT_THAT(problem_texts(lacking.problems),
              ElementsAre("i.yaml:6:11: no interface in network: of node 'n1' has its ssh: address "
                          "10.0.2.1, by which it is logged in to",
                          "i.yaml:6:11: no interface in network: of node 'n2' has its ssh: address "
                          "10.0.2.2, by which it is logged in to"));
  EXPECT_THAT(problem_texts(by_dhcp.problems), IsEmpty());
}

TEST(NetworkOfNodes, WithoutPortsIsAMistake) {
  EXPECT_THAT(problem_texts(load("      {}\n").problems),
              ElementsAre("i.yaml:10:7: network has no ports: ports: [{name: lan0, mac: ...}]"));
}

}  // namespace
}  // namespace cupel::inventory
