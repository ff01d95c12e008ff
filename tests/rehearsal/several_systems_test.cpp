// Machines that share one virtual BMC, over HTTPS.
#include "rehearsal/rack_of_site.h"
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kRack = R"(rack: v01
profile: dgx-h100
nodes: v01-n[01-04]
bmc: 127.64.1.[1-4]
ssh: 127.64.2.[1-4]
bmcs: {vendor: supermicro, systems: 2, latency: false}
)";

RackSpec read(std::string_view text) {
  std::vector<inventory::Problem> problems;
  auto rack = parse_rack(text, "rack.yaml", problems);
  EXPECT_TRUE(rack) << to_string(problems);
  return rack.value_or(RackSpec{});
}

class SeveralSystems : public ::testing::Test {
 protected:
  SeveralSystems() { browser.log_in(bench.node(0)); }

  std::vector<std::string> members(const std::string& path) {
    std::vector<std::string> all;
    const auto body = parse_json(browser.ask("GET", path).body);
    if (const auto* list = body ? find(*body, "Members") : nullptr)
      for (const auto& member : list->as_array())
        all.push_back(text_at(member, "@odata.id").value_or(""));
    return all;
  }
  std::string serial_of(const std::string& system) {
    const auto body = parse_json(browser.ask("GET", "/redfish/v1/Systems/" + system).body);
    return body ? text_at(*body, "SerialNumber").value_or("") : std::string{};
  }
  std::string serial_behind(const std::string& node) {
    return bench.on(node, [](Machine& machine) { return machine.hardware().serial; });
  }
  Power power_of(const std::string& node) {
    return bench.on(node, [](Machine& machine) { return machine.power(); });
  }

  RackBench bench{read(kRack), 1000};
  Browser browser{bench.node(0).bmc.endpoint};
};

TEST_F(SeveralSystems, AreNamedByTheInventory) {
  EXPECT_EQ(bench.node(0).bmc.endpoint, bench.node(1).bmc.endpoint);
  EXPECT_NE(bench.node(1).bmc.endpoint, bench.node(2).bmc.endpoint);
  std::vector<std::string> systems;
  for (const auto& node : bench.inventory.nodes) systems.push_back(node.bmc.system);
  EXPECT_THAT(systems, ElementsAre("Node0", "Node1", "Node0", "Node1"));
}

TEST_F(SeveralSystems, AreListedByOneBmcEachWithItsOwnSerialNumber) {
  EXPECT_THAT(members("/redfish/v1/Systems"),
              ElementsAre("/redfish/v1/Systems/Node0", "/redfish/v1/Systems/Node1"));
  EXPECT_THAT(members("/redfish/v1/Chassis"),
              ElementsAre("/redfish/v1/Chassis/Node0", "/redfish/v1/Chassis/Node1"));
  EXPECT_EQ(serial_of("Node0"), serial_behind("v01-n01"));
  EXPECT_EQ(serial_of("Node1"), serial_behind("v01-n02"));
}

TEST_F(SeveralSystems, AreTurnedOnOneByOne) {
  const auto pressed = browser.ask("POST", "/redfish/v1/Systems/Node1/Actions/ComputerSystem.Reset",
                                   R"({"ResetType": "On"})");

  EXPECT_LT(pressed.status, 300) << pressed.body;
  EXPECT_NE(power_of("v01-n02"), Power::off);
  EXPECT_EQ(power_of("v01-n01"), Power::off);
}

TEST_F(SeveralSystems, AskForTheLoginOfTheirBmc) {
  Browser other{bench.node(1).bmc.endpoint};

  EXPECT_EQ(other.ask("GET", "/redfish/v1/Systems/Node1").status, 401);
  EXPECT_EQ(other.log_in(bench.node(1)).status, 201);
  EXPECT_EQ(other.ask("GET", "/redfish/v1/Systems/Node1").status, 200);
}

TEST_F(SeveralSystems, HaveALogEach) {
  const std::string log = "/LogServices/Log1/Entries";
  const auto before = members("/redfish/v1/Systems/Node0" + log);

  ASSERT_TRUE(bench.boot("v01-n02"));

  EXPECT_GT(members("/redfish/v1/Systems/Node1" + log).size(), before.size());
  EXPECT_EQ(members("/redfish/v1/Systems/Node0" + log), before);
}

TEST(NodesOfASite, ShareAVirtualBmcWhereTheInventorySaysSo) {
  const test::TemporaryFolder folder;
  const auto loaded = inventory::parse_inventory(
      "site: lab\n"
      "defaults:\n"
      "  profile: dgx-h100\n"
      "  bmc: {user: root, password: \"env:BMC\"}\n"
      "  ssh: {user: root}\n"
      "nodes:\n"
      "  - {name: n1, bmc: {address: 10.0.0.1, system: Blade0}, ssh: {address: 10.0.1.1}}\n"
      "  - {name: n2, bmc: {address: 10.0.0.1, system: Blade1}, ssh: {address: 10.0.1.2}}\n"
      "  - {name: n3, bmc: {address: 10.0.0.2}, ssh: {address: 10.0.1.3}}\n",
      "site.yaml", folder.path());
  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems);

  const auto rack = rack_of(*loaded.inventory);

  ASSERT_TRUE(rack) << rack.error().what;
  EXPECT_EQ(rack->nodes[1].bmc_of, "n1");
  EXPECT_EQ(rack->nodes[1].bmc_address, rack->nodes[0].bmc_address);
  EXPECT_EQ(rack->nodes[1].bmc.system, "Blade1");
  EXPECT_EQ(rack->nodes[2].bmc_of, "");
  const RackBench bench{*rack, 1000};
  EXPECT_EQ(bench.node(0).bmc.endpoint, bench.node(1).bmc.endpoint);
  EXPECT_EQ(bench.node(1).bmc.system, "Blade1");
}

}  // namespace
}  // namespace cupel::rehearsal
