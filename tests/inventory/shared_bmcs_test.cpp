// Nodes that have one BMC, which shows a System for each.
#include <gmock/gmock.h>

#include "inventory/load.h"

namespace cupel::inventory {
namespace {
using ::testing::HasSubstr;

Loaded loaded(const std::string& nodes) {
  return parse_inventory(R"(site: lab
defaults:
  profile: dgx-h100
  bmc: {user: admin, password: "env:P"}
nodes:
)" + nodes,
                         "site.yaml", "/nowhere");
}

TEST(SharedBmcs, AreSharedByNodesThatNameTheirSystem) {
  const auto result = loaded(R"(  - name: n[1-2]
    bmc: {address: 10.0.1.11, system: "Node[0-1]"}
    ssh: {address: "10.0.2.[11-12]"}
  - name: n3
    bmc: {address: 10.0.1.12}
    ssh: {address: 10.0.2.13}
)");

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  const auto& nodes = result.inventory->nodes;
  EXPECT_EQ(nodes[0].bmc.endpoint, nodes[1].bmc.endpoint);
  EXPECT_EQ(nodes[0].bmc.system, "Node0");
  EXPECT_EQ(nodes[1].bmc.system, "Node1");
  EXPECT_EQ(bmc_name(nodes[1]), "n1");
  EXPECT_EQ(bmc_name(nodes[2]), "n3");
  EXPECT_EQ(result.inventory->nodes_of_bmc(nodes[1]), (std::vector{&nodes[0], &nodes[1]}));
  EXPECT_EQ(result.inventory->nodes_of_bmc(nodes[2]), std::vector{&nodes[2]});
}

TEST(SharedBmcs, AreFaultsWithoutASystemForEach) {
  const auto result = loaded(R"(  - name: n[1-2]
    bmc: {address: "10.0.1.[11,11]"}
    ssh: {address: "10.0.2.[11-12]"}
)");

  EXPECT_FALSE(result.inventory);
  const auto text = to_string(result.problems);
  EXPECT_THAT(text, HasSubstr("BMC address 10.0.1.11:443 of node 'n2' is already that of 'n1'"));
  EXPECT_THAT(text, HasSubstr("name the System of each: bmc: {system: ...}"));
}

// One machine twice, in other words.
TEST(SharedBmcs, AreKnownInEverySpellingOfTheirAddress) {
  const auto result = loaded(R"(  - {name: n1, bmc: {address: 127.9.3.1}, ssh: {address: 127.9.4.1}}
  - {name: n2, bmc: {address: "::ffff:127.9.3.1"}, ssh: {address: "::ffff:127.9.4.1"}}
  - {name: N1, bmc: {address: 127.9.3.9}, ssh: {address: 127.9.4.9}}
  - {name: n4, bmc: {address: "[fd00::1]"}, ssh: {address: 127.9.4.10}}
  - {name: n5, bmc: {address: "[fd00:0:0::1]"}, ssh: {address: 127.9.4.11}}
  - {name: n6, bmc: {address: bmc6.example}, ssh: {address: 127.9.4.12}}
  - {name: n8, bmc: {address: BMC6.example}, ssh: {address: 127.9.4.14}}
  - {name: n9, serial: NA, bmc: {address: 127.9.3.10}, ssh: {address: "::ffff:127.9.3.9"}}
)");

  EXPECT_FALSE(result.inventory);
  const auto text = to_string(result.problems);
  for (const auto* fault :
       {"BMC address [::ffff:127.9.3.1]:443 of node 'n2' is already that of 'n1'",
        "SSH address [::ffff:127.9.4.1]:22 of node 'n2' is already that of 'n1' (site.yaml:6:12), "
        "written there as 127.9.4.1:22",
        "name N1 of node 'N1' is already that of 'n1'",
        "BMC address [fd00:0:0::1]:443 of node 'n5' is already that of 'n4'",
        "BMC address BMC6.example:443 of node 'n8' is already that of 'n6'",
        "BMC address 127.9.3.9 of node 'N1' is the SSH address of 'n9'",
        "node 'n9': 'NA' is no serial number"})
    EXPECT_THAT(text, HasSubstr(fault));
}

TEST(SharedBmcs, MustAgreeOnWhatBelongsToTheBmc) {
  const auto result = loaded(R"(  - name: n1
    bmc: {address: 10.0.1.11, system: Node0}
    ssh: {address: 10.0.2.11}
  - name: n2
    bmc: {address: 10.0.1.11, system: Node0}
    ssh: {address: 10.0.2.12}
  - name: n3
    bmc: {address: 10.0.1.11, system: Node2, user: root}
    ssh: {address: 10.0.2.13}
  - name: n4
    bmc: {address: 10.0.1.12, system: Node2, ipmi: true}
    ssh: {address: 10.0.2.14}
  - name: n5
    bmc: {address: 10.0.1.13, system: "/redfish/v1/Systems/1"}
    ssh: {address: 10.0.2.15}
)");

  EXPECT_FALSE(result.inventory);
  const auto text = to_string(result.problems);
  EXPECT_THAT(text, HasSubstr("System Node0 of BMC 10.0.1.11:443 of node 'n2' is already that of "
                              "'n1'"));
  EXPECT_THAT(text, HasSubstr("node 'n3' has the same BMC as 'n1'"));
  EXPECT_THAT(text, HasSubstr("node 'n4' is a System of its BMC, which IPMI cannot name"));
  EXPECT_THAT(text, HasSubstr("is not the Id of a System"));
}

}  // namespace
}  // namespace cupel::inventory
