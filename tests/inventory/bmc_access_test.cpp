// What an inventory says of BMCs besides their address: IPMI, factory logins, MACs, networks.
#include <gmock/gmock.h>

#include "inventory/load.h"
#include "inventory/read_bmc.h"

namespace cupel::inventory {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two nodes; `bmc` and `defaults` are what they say besides what every inventory must.
Loaded loaded(const std::string& bmc, const std::string& defaults = {},
              const std::string& top = {}) {
  return parse_inventory("site: lab\n" + top + R"(defaults:
  profile: dgx-h100
  bmc: {user: admin, password: "env:P")" +
                             defaults + R"(}
nodes:
  - name: n[1-2]
    bmc: {address: "10.0.1.[11-12]")" +
                             bmc + R"(}
    ssh: {address: "10.0.2.[11-12]"}
)",
                         "site.yaml", "/nowhere");
}

TEST(BmcAccess, UsesNoIpmiByDefault) {
  for (const auto* options : {"", ", ipmi: false"}) {
    const auto result = loaded(options);

    ASSERT_TRUE(result.inventory) << to_string(result.problems);
    EXPECT_FALSE(result.inventory->nodes[0].bmc.ipmi);
    EXPECT_EQ(result.inventory->nodes[0].bmc.protocol, BmcProtocol::redfish);
  }
}

TEST(BmcAccess, SendsIpmiToTheBmcsHostByDefault) {
  const auto result = loaded(", ipmi: true");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  EXPECT_EQ(result.inventory->nodes[1].bmc.ipmi, (IpmiAccess{{"10.0.1.12", 623}, {}}));
}

TEST(BmcAccess, GivesEachNodeASecretOfItsOwnWhereThePlaceNamesIt) {
  const auto result = loaded(
      R"(, password: "file:secrets/{node}", factory: {user: a, password: "env:F_{node}_{node}"})");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  const auto& nodes = result.inventory->nodes;
  EXPECT_EQ(nodes[0].bmc.password.where, "/nowhere/secrets/n1");
  EXPECT_EQ(nodes[1].bmc.password.where, "/nowhere/secrets/n2");
  EXPECT_EQ(nodes[1].bmc.factory->password.where, "F_n2_n2");
}

TEST(BmcAccess, PutsNoNameIntoASecretsPlaceThatCouldLeadElsewhere) {
  for (const auto* name : {"../x", "a b", "$(id)", "..", "-rf", "a/b", ""}) {
    std::vector<Problem> problems;
    const SecretRef place{SecretRef::Kind::cmd, "pass bmc/{node}"};

    EXPECT_EQ(secret_of_node(place, name, {}, problems), place) << name;
    EXPECT_EQ(problems.size(), 1) << name;
  }
}

TEST(BmcAccess, ZipsIpmiAddressesAndTakesTheRestFromTheDefaults) {
  const auto result =
      loaded(R"(, ipmi: {address: "10.0.9.[1-2]:7623"})", ", ipmi: {port: 6230, cipher: 3}");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  EXPECT_EQ(result.inventory->nodes[0].bmc.ipmi, (IpmiAccess{{"10.0.9.1", 7623}, 3}));
  EXPECT_EQ(result.inventory->nodes[1].bmc.ipmi, (IpmiAccess{{"10.0.9.2", 7623}, 3}));
}

TEST(BmcAccess, ANodeMaySayNoWhereTheDefaultsSayYes) {
  const auto result = loaded(", ipmi: false", ", ipmi: {cipher: 17}");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  EXPECT_FALSE(result.inventory->nodes[0].bmc.ipmi);
}

TEST(BmcAccess, ABmcThatSpeaksOnlyIpmiNeedsNoFurtherWord) {
  const auto result = loaded(", protocol: ipmi");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  EXPECT_EQ(result.inventory->nodes[0].bmc.protocol, BmcProtocol::ipmi);
  EXPECT_EQ(result.inventory->nodes[0].bmc.ipmi->endpoint, (Endpoint{"10.0.1.11", 623}));
}

TEST(BmcAccess, ReadsFactoryLoginsMacsAndNetworks) {
  const auto result = loaded(R"(, mac: ["AA-BB-CC-00-11-22", "aa:bb:cc:00:11:23"])",
                             R"(, factory: {user: root, password: "file:factory"})",
                             "bmc_networks: [10.0.1.0/24, 10.0.3.0/30]\n");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  const auto& node = result.inventory->nodes[0];
  EXPECT_EQ(node.bmc.factory, (FactoryLogin{"root", {SecretRef::Kind::file, "/nowhere/factory"}}));
  EXPECT_EQ(node.bmc.mac, "aa:bb:cc:00:11:22");
  EXPECT_THAT(result.inventory->bmc_networks, ElementsAre("10.0.1.0/24", "10.0.3.0/30"));
}

TEST(BmcAccess, SaysAllErrorsAtOnceWithTheirPlace) {
  const auto result = loaded(
      R"(, protocol: ipmi, ipmi: {address: "10.0.9.[1-3]", chipher: 17}, mac: ["ff:ff:ff:ff:ff:ff", nine])",
      R"(, ipmi: {cipher: 5}, factory: {user: root, password: calvin, usr: x})",
      "bmc_networks: [10.0.1.5/24, 10.0.0.0/8, somewhere]\n");

  EXPECT_FALSE(result.inventory);
  const auto text = to_string(result.problems);
  for (const auto* line :
       {"site.yaml:2:15: '10.0.1.5/24' is an address within 10.0.1.0/24",
        "site.yaml:2:15: '10.0.0.0/8' has 16777216 addresses: at most 4096, a /20",
        "site.yaml:2:15: 'somewhere' is not an IPv4 network such as 10.0.1.0/24",
        "site.yaml:5:56: cipher must be suite 3 or 17",
        "site.yaml:5:92: password must say where the secret is",
        "site.yaml:5:100: unknown key 'usr' in factory (did you mean 'user'?)",
        "site.yaml:8:70: 3 addresses for 2 nodes: give one for each",
        "site.yaml:8:86: unknown key 'chipher' in ipmi (did you mean 'cipher'?)",
        "'ff:ff:ff:ff:ff:ff' is not the MAC of a port", "'nine' is not the MAC of a port"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("calvin")));
}

TEST(BmcAccess, RefusesIpmiAloneWhereIpmiIsForbidden) {
  const auto result = loaded(", protocol: ipmi, ipmi: false");

  EXPECT_THAT(to_string(result.problems), HasSubstr("bmc protocol is ipmi, and ipmi is false"));
}

TEST(BmcAccess, RefusesTwoNodesWithOneIpmiAddressOrMac) {
  const auto one_address = loaded(
      R"(, ipmi: {address: "10.0.9.[1,1]"}, mac: ["02:00:00:00:00:01", "02:00:00:00:00:01"])");

  const auto text = to_string(one_address.problems);
  EXPECT_THAT(text, HasSubstr("IPMI address 10.0.9.1:623 of node 'n2' is already that of 'n1'"));
  EXPECT_THAT(text, HasSubstr("BMC MAC 02:00:00:00:00:01 of node 'n2' is already that of 'n1'"));
}

TEST(HostsOf, LeavesOutWhatNoHostMayHave) {
  EXPECT_THAT(hosts_of("10.0.3.0/30").value(), ElementsAre("10.0.3.1", "10.0.3.2"));
  EXPECT_THAT(hosts_of("10.0.3.4/31").value(), ElementsAre("10.0.3.4", "10.0.3.5"));
  EXPECT_THAT(hosts_of("10.0.3.7/32").value(), ElementsAre("10.0.3.7"));
  EXPECT_EQ(hosts_of("10.0.16.0/20").value().size(), 4094);
}

TEST(HostsIn, AreTheHostsOfAllNetworksOnce) {
  const std::vector<std::string> networks{"10.0.1.4/30", "10.0.1.4/31", "10.0.1.9/32"};

  EXPECT_THAT(hosts_in(networks).value(),
              ElementsAre("10.0.1.5", "10.0.1.6", "10.0.1.4", "10.0.1.9"));
}

TEST(HostsIn, AreBoundedInAll) {
  const std::vector<std::string> networks{"10.0.0.0/20", "10.0.16.0/24"};

  EXPECT_EQ(hosts_in(networks).error().code, Code::kInvalid);
}

TEST(HostsOf, RefusesWhatIsNoNetwork) {
  for (const auto* wrong :
       {"", "10.0.3.0", "10.0.3.0/", "10.0.3.0/33", "10.0.3/24", "10.0.3.256/32", "010.0.3.0/24",
        "10.0.3.0/19", "10.0.0.0/19", "::/120", "10.0.3.0/-1"})
    EXPECT_FALSE(hosts_of(wrong)) << wrong;
}

}  // namespace
}  // namespace cupel::inventory
