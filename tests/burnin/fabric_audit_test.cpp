// The cable plan against what ibnetdiscover prints of a fabric with planted faults.
#include "inventory/fabric_audit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "inventory/cable_moves.h"
#include "inventory/fabric_rule.h"
#include "tests/support/fabric_files.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two groups of four nodes with four rails, two spines; a fabric that is cabled as planned until a
/// test moves a plug.
class Cabled : public ::testing::Test {
 protected:
  Cabled() {
    std::vector<FabricMember> members;
    for (int i = 1; i <= 8; ++i)
      members.push_back({fmt::format("n{:02}", i), {"mlx5_0", "mlx5_3", "mlx5_6", "mlx5_9"}});
    std::vector<Problem> problems;
    plan = make_fabric({.group = 4,
                        .spines = 2,
                        .switch_ports = 64,
                        .ports_per_cage = 2,
                        .speed = "NDR",
                        .leaf = "leaf{group}-r{rail}"},
                       members, problems);
    EXPECT_THAT(problems, IsEmpty());
    real = plan;
  }

  Cable& cable(const std::string& node, const std::string& hca) {
    return *std::ranges::find_if(real.cables, [&](const Cable& one) {
      return one.from.device == node && one.from.hca == hca;
    });
  }
  void swap(Cable& one, Cable& other) { std::swap(one.to, other.to); }
  void remove(const std::function<bool(const Cable&)>& which) { std::erase_if(real.cables, which); }

  /// As the tools would report `real`.
  SeenFabric seen() const {
    SeenFabricBuilder builder;
    std::map<std::string, std::uint64_t> guids;
    const auto device = [&](const CableEnd& end) {
      const auto name =
          end.at_switch() ? "MF0;" + end.device + ":MQM9700/U1" : end.device + " " + end.hca + " ";
      const auto guid = guids.try_emplace(name, guids.size() + 1).first->second;
      return builder.device(
          guid, end.at_switch() ? SeenDevice::Kind::switch_device : SeenDevice::Kind::hca, name,
          false);
    };
    for (const auto& one : real.cables)
      builder.link({device(one.to), one.to.port}, {device(one.from), one.from.port}, one.width,
                   one.speed);
    return *std::move(builder).finish("ibnetdiscover");
  }

  FabricAudit audit() const { return audit_fabric(plan, seen()); }

  Fabric plan;
  Fabric real;
};

TEST_F(Cabled, PassesAsPlanned) {
  const auto audit = this->audit();

  EXPECT_TRUE(audit.passed());
  EXPECT_EQ(audit.right, plan.cables.size());
}

TEST_F(Cabled, NamesBothCablesOfASwapByTheLabelsOfTheirPorts) {
  swap(cable("n01", "mlx5_6"), cable("n03", "mlx5_6"));

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  const auto& finding = audit.findings[0];
  EXPECT_EQ(finding.fault, CableFault::swapped);
  EXPECT_EQ(finding.what,
            "n01 mlx5_6 (rail 3) is in leaf1-r3 port 2/1, belongs in leaf1-r3 port 1/1; "
            "n03 mlx5_6 (rail 3) is in leaf1-r3 port 1/1, belongs in leaf1-r3 port 2/1");
  EXPECT_EQ(finding.instruction, "Swap the plugs in leaf1-r3 port 2/1 and leaf1-r3 port 1/1.");
  EXPECT_EQ(audit.moves(), 2u);
}

TEST_F(Cabled, OffersTheNodeForTwoCrossedRailsOfOneNode) {
  swap(cable("n02", "mlx5_0"), cable("n02", "mlx5_3"));

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_THAT(audit.findings[0].instruction, HasSubstr("Or swap them at n02: mlx5_0 and mlx5_3."));
}

TEST_F(Cabled, ResolvesACycleOfThreeIntoThreeMoves) {
  swap(cable("n01", "mlx5_0"), cable("n02", "mlx5_0"));
  swap(cable("n02", "mlx5_0"), cable("n03", "mlx5_0"));

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::moved);
  EXPECT_EQ(audit.moves(), 3u);
}

TEST_F(Cabled, TheMovesOfAnyMessEndInThePlanAndNeverUseATakenPort) {
  // Every access cable of the first group one node further, and rails of the second one mixed.
  std::vector<Cable*> first, second;
  for (auto& one : real.cables)
    if (one.is_access()) (one.from.device < "n05" ? first : second).push_back(&one);
  for (std::size_t i = 1; i < first.size(); ++i) swap(*first[i - 1], *first[i]);
  for (std::size_t i = 0; i + 5 < second.size(); i += 3) swap(*second[i], *second[i + 5]);

  const auto audit = this->audit();

  std::map<CableEnd, CableEnd> in_port;  // who is in a port
  for (const auto& one : real.cables) in_port[one.to] = one.from;
  for (const auto& finding : audit.findings)
    for (const auto& move : finding.moves) {
      if (move.from) {
        ASSERT_EQ(in_port.at(*move.from), move.cable);
        in_port.erase(*move.from);
      }
      if (move.to) {
        ASSERT_TRUE(in_port.try_emplace(*move.to, move.cable).second) << "a port that is taken";
      }
    }
  for (const auto& one : plan.cables) EXPECT_EQ(in_port.at(one.to), one.from);
  EXPECT_EQ(audit.moves(), plan.cables.size() - audit.right);
}

TEST_F(Cabled, NamesWhatIsMissingAndWhatItsPortHas) {
  remove([](const Cable& one) { return one.from.device == "n03" && one.from.hca == "mlx5_3"; });

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::missing);
  EXPECT_EQ(audit.findings[0].what,
            "n03 mlx5_3 (rail 2) has no link; it belongs in leaf1-r2 port 2/1, which has nothing");
}

TEST_F(Cabled, NamesACableInAFreePort) {
  cable("n04", "mlx5_9").to.port = 20;

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::moved);
  EXPECT_EQ(audit.findings[0].instruction,
            "Move the plug in leaf1-r4 port 10/2 to leaf1-r4 port 2/2.");
}

TEST_F(Cabled, NamesThePlugThatIsInAnHcaWithoutAPlannedCable) {
  cable("n04", "mlx5_9").from.hca = "mlx5_4";

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  const auto& finding = audit.findings[0];
  EXPECT_EQ(finding.fault, CableFault::moved);
  EXPECT_EQ(finding.cable, (CableEnd{"n04", "mlx5_9", 1}));
  EXPECT_EQ(finding.what,
            "the cable in leaf1-r4 port 2/2 leads to n04 mlx5_4, belongs in n04 mlx5_9 (rail 4)");
  EXPECT_EQ(finding.instruction, "Move the plug in n04 mlx5_4 to n04 mlx5_9 (rail 4).");
  EXPECT_EQ(audit.moves(), 1u);
}

TEST_F(Cabled, NamesTheUplinkThatIsInAnotherPortOfItsLeaf) {
  auto& uplink =
      *std::ranges::find_if(real.cables, [](const Cable& one) { return !one.is_access(); });
  const auto planned = uplink.from;
  uplink.from.port = 60;

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  const auto& finding = audit.findings[0];
  EXPECT_EQ(finding.fault, CableFault::moved);
  EXPECT_THAT(finding.moves,
              ElementsAre(CableMove{uplink.to, CableEnd{planned.device, "", 60}, planned}));
}

TEST_F(Cabled, LeavesACableOfADeviceThatThePlanDoesNotHaveAnExtraOne) {
  cable("n04", "mlx5_9").from = {"storage1", "mlx5_0", 1};

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(2));
  EXPECT_EQ(audit.findings[0].fault, CableFault::missing);
  EXPECT_EQ(audit.findings[1].fault, CableFault::extra);
}

TEST_F(Cabled, NamesALinkThatIsNotPlanned) {
  real.cables.push_back({.from = {"storage1", "mlx5_0", 1}, .to = {"leaf1-r1", "", 60}});

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::extra);
  EXPECT_THAT(audit.findings[0].what, HasSubstr("leaf1-r1 port 30/2"));
}

TEST_F(Cabled, TellsSwappedUplinksByTheirLeaves) {
  std::vector<Cable*> uplinks;
  for (auto& one : real.cables)
    if (!one.is_access()) uplinks.push_back(&one);
  swap(*uplinks[0], *uplinks[5]);

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::swapped);
  EXPECT_THAT(audit.findings[0].what, HasSubstr("leaf1-r2 port 3/2 is in spine1 port 1/1"));
}

TEST_F(Cabled, ReportsFewerLanesAndALowerSpeed) {
  cable("n01", "mlx5_0").width = 1;
  cable("n02", "mlx5_0").speed = "HDR";

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(2));
  EXPECT_EQ(audit.findings[0].what,
            "n01 mlx5_0 (rail 1) in leaf1-r1 port 1/1 runs at 1x NDR, planned 4x NDR");
  EXPECT_EQ(audit.findings[1].what,
            "n02 mlx5_0 (rail 1) in leaf1-r1 port 1/2 runs at 4x HDR, planned 4x NDR");
}

TEST_F(Cabled, SaysOnceThatANodeOrASwitchIsAbsent) {
  remove([](const Cable& one) { return one.from.device == "n06" || one.to.device == "spine2"; });

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(2));
  EXPECT_EQ(audit.findings[0].fault, CableFault::switch_absent);
  EXPECT_THAT(audit.findings[0].what, HasSubstr("switch spine2 is not in the report; 16 planned"));
  EXPECT_EQ(audit.findings[1].fault, CableFault::node_absent);
  EXPECT_THAT(audit.findings[1].what, HasSubstr("n06: none of its 4 HCAs has a link"));
}

TEST_F(Cabled, TakesTwoNodesInEachOthersPortsForExchangedNames) {
  for (const auto* hca : {"mlx5_0", "mlx5_3", "mlx5_6", "mlx5_9"})
    swap(cable("n01", hca), cable("n07", hca));

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::nodes_exchanged);
  EXPECT_THAT(audit.findings[0].what, HasSubstr("n01 and n07"));
}

TEST_F(Cabled, TakesTwoLeavesWithEachOthersCablesForExchangedSwitches) {
  for (const auto* node : {"n01", "n02", "n03", "n04"})
    swap(cable(node, "mlx5_0"), cable(node, "mlx5_9"));

  const auto audit = this->audit();

  ASSERT_THAT(audit.findings, SizeIs(1));
  EXPECT_EQ(audit.findings[0].fault, CableFault::switches_exchanged);
  EXPECT_THAT(audit.findings[0].what, HasSubstr("leaf1-r1 and leaf1-r4 have each other's 8"));
}

TEST_F(Cabled, TakesAnHcaForTheOneOfItsGuidAndNotOfItsNodeDescription) {
  // Two nodes report each other's names; their cables are in their ports.
  swap(cable("n01", "mlx5_0"), cable("n02", "mlx5_0"));
  const auto report = seen();
  HcaGuids guids;
  for (const auto& device : report.devices)
    if (device.hca == "mlx5_0" && (device.name == "n01" || device.name == "n02"))
      guids[device.guid] = {device.name == "n01" ? "n02" : "n01", "mlx5_0", 1};

  const auto by_names = audit_fabric(plan, report);
  const auto by_guids = audit_fabric(plan, report, guids);

  const auto faults_of = [](const FabricAudit& audit) {
    std::vector<CableFault> faults;
    for (const auto& finding : audit.findings) faults.push_back(finding.fault);
    return faults;
  };
  EXPECT_THAT(faults_of(by_names), ElementsAre(CableFault::swapped));
  EXPECT_THAT(faults_of(by_guids), ElementsAre(CableFault::wrong_name, CableFault::wrong_name));
  EXPECT_EQ(by_guids.right, plan.cables.size());
  EXPECT_EQ(by_guids.moves(), 0u);
}

TEST(CableAudit, FindsEachFaultThatWasPlantedInARealToolsOutput) {
  CUPEL_NEEDS_FABRIC_FILE(text, "generated/n32f_ibnetdiscover_swap_rail_1x_HDR.out");
  std::vector<FabricMember> members;
  std::vector<std::string> hcas;
  for (int k = 0; k < 8; ++k) hcas.push_back(fmt::format("mlx5_{}", k));
  for (int i = 1; i <= 32; ++i) members.push_back({fmt::format("n{:02}", i), hcas});
  std::vector<Problem> problems;
  auto plan = make_fabric({.group = 32, .spines = 4, .speed = "NDR"}, members, problems);
  // That fabric's rails are counted from 0.
  for (auto& one : plan.switches)
    if (one.rail >= 0) one.name = fmt::format("leaf1-r{}", one.rail);
  for (auto& one : plan.cables)
    for (auto* end : {&one.from, &one.to})
      if (end->device.starts_with("leaf1-r")) end->device.back() -= 1;
  const auto seen = burnin::parse_ibnetdiscover(text);
  ASSERT_TRUE(seen);

  const auto audit = audit_fabric(plan, *seen);

  std::vector<std::string> found;
  for (const auto& finding : audit.findings)
    found.push_back(fmt::format("{}: {} {}", to_string(finding.fault), finding.cable.device,
                                finding.cable.hca));
  EXPECT_THAT(found, ElementsAre("swapped: n05 mlx5_3", "swapped: n09 mlx5_2",
                                 "missing: n03 mlx5_1", "slow: n11 mlx5_4", "slow: n12 mlx5_5"));
}

}  // namespace
}  // namespace cupel::inventory
