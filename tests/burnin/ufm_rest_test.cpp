// UFM's REST answers as a fabric that was seen: the forms of 6.11 and of 6.20, and what is wrong
// with them.
#include "burnin/fabric/discovery/ufm_rest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/fabric_audit.h"
#include "inventory/fabric_rule.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = inventory::SeenDevice::Kind;

json::value parsed(std::string_view text) { return parse_json(text).value(); }

// As the guide of 6.20 shows an access link and one between switches.
constexpr std::string_view kLinks = R"([
  {"source_guid": "0c42a103001b7ab6", "source_port": "1", "destination_guid": "900a840300ac8c40",
   "destination_port": "13", "source_port_dname": "HCA-2/1", "destination_port_dname": "1/7/1",
   "source_port_name": "0c42a103001b7bf6_1", "destination_port_name": "900a840300ac8c40_13",
   "width": "4x", "severity": "Info", "source_port_node_description": "n05 mlx5_3",
   "destination_port_node_description": "leaf1-r3:1/7/1", "name":
   "0c42a103001b7bf6_1:900a840300ac8c40_13", "capabilities": []},
  {"source_guid": "900a840300ac8c40", "source_port": "5", "destination_guid": "9c0591030085abc0",
   "destination_port": "5", "source_port_dname": "1/3/1", "destination_port_dname": "1/3/1",
   "source_port_name": "900a840300ac8c40_5", "destination_port_name": "9c0591030085abc0_5",
   "width": "4x", "source_port_node_description": "leaf1-r3:1/3/1",
   "destination_port_node_description": "spine1:1/3/1",
   "name": "900a840300ac8c40_5:9c0591030085abc0_5"}])";

constexpr std::string_view kPorts = R"([
  {"name": "900a840300ac8c40_13", "guid": "900a840300ac8c40", "number": 13, "active_speed": "NDR",
   "physical_state": "Link Up", "logical_state": "Active", "node_description": "leaf1-r3:1/7/1"},
  {"name": "900a840300ac8c40_52", "guid": "900a840300ac8c40", "number": 52, "active_speed": null,
   "physical_state": "Polling", "logical_state": "Down", "node_description": "leaf1-r3:1/26/2"},
  {"name": "x", "number": 3}, 7])";

TEST(UfmRest, ReadsLinksWithTheirSpeedsAndPortsThatAreDown) {
  const auto seen = parse_ufm_rest(parsed(kLinks), parsed(kPorts), json::value{});

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->doubts, IsEmpty());
  ASSERT_THAT(seen->devices, SizeIs(3));
  EXPECT_EQ(seen->devices[0].name, "n05");
  EXPECT_EQ(seen->devices[0].hca, "mlx5_3");
  EXPECT_EQ(seen->devices[1].name, "leaf1-r3") << "without the label of the port";
  EXPECT_EQ(seen->devices[1].kind, Kind::switch_device);
  EXPECT_EQ(seen->devices[2].name, "spine1");
  EXPECT_THAT(seen->links, ElementsAre(inventory::SeenLink{{0, 1}, {1, 13}, 4, "NDR"},
                                       inventory::SeenLink{{1, 5}, {2, 5}, 4, ""}));
  EXPECT_THAT(seen->down, ElementsAre(inventory::SeenDown{{1, 52}, "Down/Polling"}));
}

TEST(UfmRest, ReadsTheFormThatHasNoDescriptionsFromPortsAndSystems) {
  const auto links = parsed(R"([{"source_guid": "248a070300f88fe0", "source_port": "20",
    "destination_guid": "b8599f03000a77d0", "destination_port": "2", "width": "IB_4x",
    "source_port_dname": "20", "destination_port_dname": "HCA-1/2",
    "name": "ec0d9a03007d7d0b_2:248a070300f88fe0_20"}])");
  const auto ports = parsed(R"([
    {"name": "ec0d9a03007d7d0b_2", "guid": "ec0d9a03007d7d0b", "number": 2, "active_speed": "EDR",
     "node_description": "n07 mlx5_2"},
    {"name": "248a070300f88fe0_20", "guid": "248a070300f88fe0", "number": 20,
     "node_description": "leaf1:20"}])");
  const auto systems = parsed(R"([{"guid": "248a070300f88fe0", "type": "switch"},
                                  {"guid": "b8599f03000a77d0", "type": "host"}])");

  const auto seen = parse_ufm_rest(links, ports, systems);

  ASSERT_TRUE(seen) << seen.error().what;
  ASSERT_THAT(seen->devices, SizeIs(2));
  EXPECT_EQ(seen->devices[0].name, "leaf1");
  EXPECT_EQ(seen->devices[0].kind, Kind::switch_device);
  EXPECT_EQ(seen->devices[1].name, "n07");
  EXPECT_EQ(seen->devices[1].hca, "mlx5_2");
  EXPECT_EQ(seen->links[0].speed, "EDR");
  EXPECT_EQ(seen->links[0].width, 4);
}

TEST(UfmRest, TellsHcasOfOneSystemsGuidByTheGuidsOfTheirPorts) {
  const auto link = [](int hca) {
    return fmt::format(
        R"({{"source_guid": "0c42a103001b7ab6", "source_port": "1",
             "destination_guid": "900a840300ac8c40", "destination_port": "{0}",
             "source_port_dname": "HCA-{0}/1", "destination_port_dname": "{0}",
             "source_port_node_description": "n05 mlx5_{0}",
             "destination_port_node_description": "leaf1:{0}",
             "source_port_name": "0c42a103001b7b0{0}_1"}})",
        hca);
  };

  const auto seen = parse_ufm_rest(parsed(fmt::format("[{},{}]", link(1), link(2))), {}, {});

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->count(Kind::hca), 2u);
  EXPECT_THAT(seen->links, SizeIs(2));
  EXPECT_THAT(seen->doubts, IsEmpty());
}

TEST(UfmRest, ASwappedCableIsFoundAsInTheOutputOfATool) {
  std::vector<inventory::Problem> problems;
  const auto plan = make_fabric({.group = 2, .speed = "NDR"},
                                std::vector<inventory::FabricMember>{{"n1", {"mlx5_0", "mlx5_1"}},
                                                                     {"n2", {"mlx5_0", "mlx5_1"}}},
                                problems);
  std::string links;
  int number = 0;
  for (const auto& cable : plan.cables) {
    // The rails of n1 are crossed.
    const auto leaf = cable.from.device == "n1"
                          ? (cable.to.device == "leaf1-r1" ? "leaf1-r2" : "leaf1-r1")
                          : cable.to.device;
    links += fmt::format(
        R"({}{{"source_guid": "0c42a10300000{:03x}", "source_port": "1", "width": "4x",
               "destination_guid": "900a84030000000{}", "destination_port": "{}",
               "source_port_dname": "HCA-1/1", "destination_port_dname": "{}",
               "source_port_node_description": "{} {}",
               "destination_port_node_description": "{}:{}"}})",
        links.empty() ? "" : ",", ++number, leaf == "leaf1-r1" ? 1 : 2, cable.to.port,
        cable.to.port, cable.from.device, cable.from.hca, leaf, cable.to.port);
  }

  const auto seen = parse_ufm_rest(parsed("[" + links + "]"), {}, {});

  ASSERT_TRUE(seen) << seen.error().what;
  const auto audit = audit_fabric(plan, *seen);
  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, inventory::CableFault::swapped);
  EXPECT_EQ(audit.moves(), 2u);
}

TEST(UfmRest, WithoutALinkItIsAFailureToLook) {
  const auto empty = parse_ufm_rest(parsed("[]"), parsed(kPorts), {});
  const auto none = parse_ufm_rest(parsed(R"({"error": "x"})"), {}, {});

  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::kNoMeasurement);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kMalformed);
}

TEST(UfmRest, PassesOverWhatIsNoLinkAndSaysHowMuch) {
  const auto seen =
      parse_ufm_rest(parsed(fmt::format("[{{}},3,{{\"source_guid\":\"zz\",\"source_port\":-1}},{}",
                                        kLinks.substr(1))),
                     parsed(R"("no list")"), parsed(R"([null, {"guid": 5}])"));

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->links, SizeIs(2));
  EXPECT_THAT(seen->doubts, ElementsAre(HasSubstr("3 links without a GUID and a port")));
}

}  // namespace
}  // namespace cupel::burnin
