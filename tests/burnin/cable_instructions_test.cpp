// Instructions for wrong cables, done word by word by somebody who knows nothing else.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <random>

#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "inventory/fabric_audit.h"
#include "inventory/fabric_rule.h"
#include "tests/burnin/plugged.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Two groups of eight nodes with four rails, two spines with two cables to each leaf.
Fabric planned(const std::vector<std::string>& hcas = {"mlx5_0", "mlx5_3", "mlx5_6", "mlx5_9"}) {
  std::vector<FabricMember> members;
  for (int i = 1; i <= 16; ++i) members.push_back({fmt::format("n{:02}", i), hcas});
  std::vector<Problem> problems;
  auto plan = make_fabric(
      {.group = 8, .spines = 2, .uplinks = 2, .speed = "NDR", .leaf = "leaf{group}-r{rail}"},
      members, problems);
  EXPECT_THAT(problems, IsEmpty());
  return plan;
}

CableEnd hca(const std::string& node, const std::string& name) { return {node, name, 1}; }
CableEnd leaf(int group, int rail, int port) {
  return {fmt::format("leaf{}-r{}", group, rail), "", port};
}
CableEnd spine(int number, int port) { return {fmt::format("spine{}", number), "", port}; }

bool is_move(const CableFinding& finding) {
  return finding.fault == CableFault::swapped || finding.fault == CableFault::moved;
}

/// Each instruction can be done, leaves fewer cables wrong, and takes out no plug that is right.
void obey_all(testing::Plugged& plugs, const FabricAudit& audit, const std::string& what) {
  for (const auto& finding : audit.findings) {
    if (!is_move(finding)) continue;
    const auto before = plugs.wrong();
    ASSERT_EQ(plugs.obey(finding.instruction), "") << what << ": " << finding.instruction;
    EXPECT_LT(plugs.wrong(), before) << what << ": " << finding.instruction;
  }
}

std::vector<std::string> faults_of(const FabricAudit& audit) {
  std::vector<std::string> all;
  for (const auto& finding : audit.findings) all.emplace_back(to_string(finding.fault));
  return all;
}

TEST(CableInstructions, ExchangeTheNodesPlugWithTheUplinksAtTheLeaf) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  plugs.exchange(leaf(1, 1, 4), leaf(1, 1, 9));

  const auto audit = audit_fabric(plan, plugs.seen());

  ASSERT_THAT(faults_of(audit), ElementsAre("swapped"));
  EXPECT_EQ(audit.findings[0].instruction,
            "Swap the plugs in leaf1-r1 port 9 and leaf1-r1 port 4.");
  obey_all(plugs, audit, "one leaf");
  EXPECT_EQ(plugs.wrong(), 0u);
}

TEST(CableInstructions, ExchangePlugsOfNodesAndUplinksAcrossLeavesAndSpines) {
  const auto plan = planned();
  const std::vector<std::pair<CableEnd, CableEnd>> exchanged{
      {leaf(1, 1, 4), leaf(2, 3, 10)},
      {leaf(1, 2, 1), spine(2, 3)},
      {leaf(2, 4, 9), spine(1, 10)},
      {spine(1, 1), spine(2, 1)},
  };
  for (const auto& [one, other] : exchanged) {
    testing::Plugged plugs{plan};
    plugs.exchange(one, other);

    const auto audit = audit_fabric(plan, plugs.seen());

    const auto what =
        fmt::format("{} {} and {} {}", one.device, one.port, other.device, other.port);
    EXPECT_THAT(faults_of(audit), ElementsAre("swapped")) << what;
    obey_all(plugs, audit, what);
    EXPECT_EQ(plugs.wrong(), 0u) << what;
  }
}

TEST(CableInstructions, MoveOneEndOfACableThatTwoPlannedOnesClaimAndAddTheOther) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  plugs.take_out(leaf(1, 1, 9));
  plugs.take_out(leaf(2, 1, 9));
  plugs.connect(leaf(1, 1, 9), leaf(2, 1, 9));

  const auto audit = audit_fabric(plan, plugs.seen());

  EXPECT_THAT(faults_of(audit), ElementsAre("moved", "missing"));
  EXPECT_EQ(audit.moves(), 1u);
  obey_all(plugs, audit, "leaf to leaf");
  EXPECT_EQ(plugs.wrong(), 1u);
  EXPECT_THAT(faults_of(audit_fabric(plan, plugs.seen())), ElementsAre("missing"));
}

TEST(CableInstructions, PutNoPlugOfASwitchIntoANode) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  // Two nodes joined to each other, and their ports at the leaf too.
  plugs.take_out(leaf(1, 1, 1));
  plugs.take_out(leaf(1, 1, 2));
  plugs.connect(hca("n01", "mlx5_0"), hca("n02", "mlx5_0"));
  plugs.connect(leaf(1, 1, 1), leaf(1, 1, 2));

  const auto audit = audit_fabric(plan, plugs.seen());

  EXPECT_EQ(audit.moves(), 0u);
  EXPECT_THAT(faults_of(audit), ElementsAre("missing", "missing", "extra", "extra"));
}

TEST(CableInstructions, FreeAPortFromACableOfAHostThatThePlanDoesNotHave) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  plugs.exchange(leaf(1, 1, 4), leaf(1, 1, 40));
  plugs.connect({"login1", "mlx5_0", 1}, leaf(1, 1, 4));

  const auto audit = audit_fabric(plan, plugs.seen());

  ASSERT_THAT(faults_of(audit), ElementsAre("moved"));
  EXPECT_EQ(audit.findings[0].instruction,
            "First unplug login1 mlx5_0 from leaf1-r1 port 4. Move the plug in leaf1-r1 port 40 to "
            "leaf1-r1 port 4.");
  obey_all(plugs, audit, "a host");
  EXPECT_EQ(plugs.wrong(), 0u);
}

void messes_end_in_the_plan(unsigned first, unsigned last) {
  const auto plan = planned();
  std::vector<CableEnd> ends;
  for (const auto& cable : plan.cables)
    for (const auto& end : {cable.from, cable.to}) ends.push_back(end);
  for (int port = 40; port < 44; ++port) {
    ends.push_back(leaf(1, 1, port));
    ends.push_back(spine(1, port));
  }
  for (unsigned seed = first; seed <= last; ++seed) {
    std::mt19937 random{seed};
    const auto any = [&] { return ends[random() % ends.size()]; };
    testing::Plugged plugs{plan};
    for (auto mistakes = 1 + random() % 12; mistakes > 0; --mistakes) {
      const auto one = any(), other = any();
      const auto kind = random() % 8;
      if (kind == 0)
        plugs.take_out(one);
      else if (kind == 1 && !plugs.is_taken(one))
        plugs.connect(one, {fmt::format("other{}", mistakes), "mlx5_0", 1});
      else
        plugs.exchange(one, other);
    }

    const auto what = fmt::format("seed {}", seed);
    const auto audit = audit_fabric(plan, plugs.seen());
    obey_all(plugs, audit, what);
    if (::testing::Test::HasFatalFailure()) return;
    // What is left has to be added or taken out; no plug is to be moved a second time.
    const auto after = audit_fabric(plan, plugs.seen());
    EXPECT_EQ(after.moves(), 0u) << what;
  }
}

TEST(CableInstructions, OfAnyMessLeaveFewerCablesWrongAndEndInThePlan) {
  messes_end_in_the_plan(1, 50);
}

TEST(LongCableInstructions, OfAnyMessLeaveFewerCablesWrongAndEndInThePlan) {
  messes_end_in_the_plan(51, 300);
}

/// As ibnetdiscover prints it, each device with its ports.
std::string printed(const SeenFabric& seen, const std::string& suffix = "") {
  std::string text = "# Topology file\n";
  for (std::size_t i = 0; i < seen.devices.size(); ++i) {
    const auto& device = seen.devices[i];
    const auto named = [&](const SeenDevice& one) {
      return fmt::format("{}-{:016x}", one.kind == SeenDevice::Kind::switch_device ? 'S' : 'H',
                         one.guid);
    };
    text += fmt::format("\ndevid=0x1021\n{} 65 \"{}\" # \"{}\"\n",
                        device.kind == SeenDevice::Kind::switch_device ? "Switch" : "Ca",
                        named(device), device.description);
    for (const auto& link : seen.links)
      for (const auto& [own, far] : {std::pair{link.from, link.to}, std::pair{link.to, link.from}})
        if (own.device == i)
          text += fmt::format("[{}] \"{}\"[{}] # \"{}\" lid 9 {}x{}{}\n", own.port,
                              named(seen.devices[far.device]), far.port,
                              seen.devices[far.device].description, link.width, link.speed, suffix);
  }
  return text;
}

TEST(CableInstructions, AreNotGivenForWhatACutReportDoesNotShow) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  plugs.exchange(leaf(1, 1, 1), leaf(1, 1, 2));
  const auto whole = printed(plugs.seen());
  ASSERT_EQ(faults_of(audit_fabric(plan, *burnin::parse_ibnetdiscover(whole))),
            std::vector<std::string>{"swapped"});

  const auto cut = whole.substr(0, whole.find("\ndevid", whole.size() / 3));
  const auto seen = burnin::parse_ibnetdiscover(cut);
  ASSERT_TRUE(seen) << seen.error().what;
  const auto audit = audit_fabric(plan, *seen);

  EXPECT_THAT(audit.unknown, Contains(HasSubstr("the output of ibnetdiscover is cut off")));
  EXPECT_THAT(faults_of(audit), Not(Contains("missing")));
  EXPECT_THAT(faults_of(audit), Not(Contains("node-absent")));
}

TEST(CableInstructions, ReadTheSpeedsOfAFullReport) {
  const auto plan = planned();
  const auto text = printed(testing::Plugged{plan}.seen(), " s=4 w=2 v=4 e=8");

  const auto right = audit_fabric(plan, *burnin::parse_ibnetdiscover(text));
  auto slow = text;
  for (auto at = slow.find("4xNDR"); at < slow.size() / 2; at = slow.find("4xNDR", at))
    slow.replace(at, 5, "1xSDR");
  const auto wrong = audit_fabric(plan, *burnin::parse_ibnetdiscover(slow));
  auto codes = text;  // without the words, by the numbers of PortInfo
  for (auto at = codes.find("4xNDR "); at != codes.npos; at = codes.find("4xNDR "))
    codes.erase(at, 6);
  const auto by_codes = audit_fabric(plan, *burnin::parse_ibnetdiscover(codes));

  EXPECT_TRUE(right.passed());
  EXPECT_THAT(faults_of(wrong), Contains("slow"));
  EXPECT_TRUE(by_codes.passed()) << ::testing::PrintToString(by_codes.unknown);
}

TEST(CableInstructions, DoNotPassALinkWhoseSpeedTheReportDoesNotHave) {
  const auto plan = planned();
  auto text = printed(testing::Plugged{plan}.seen());
  for (auto at = text.find("4xNDR"); at != text.npos; at = text.find("4xNDR")) text.erase(at, 5);

  const auto audit = audit_fabric(plan, *burnin::parse_ibnetdiscover(text));

  EXPECT_THAT(audit.findings, IsEmpty());
  EXPECT_THAT(audit.unknown, ElementsAre(HasSubstr("have no width and speed")));
}

TEST(CableInstructions, AreNotForCablesOfLeavesThatAreExchangedWhole) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  for (int port = 1; port <= 12; ++port) plugs.exchange(leaf(1, 2, port), leaf(2, 4, port));

  const auto audit = audit_fabric(plan, plugs.seen());

  ASSERT_THAT(faults_of(audit), ElementsAre("switches-exchanged"));
  EXPECT_EQ(audit.moves(), 0u);
  EXPECT_THAT(audit.findings[0].what, HasSubstr("leaf1-r2 and leaf2-r4 have each other's 24"));
}

TEST(CableInstructions, AreNotForCablesOfMachinesThatAreRotated) {
  const auto plan = planned();
  testing::Plugged plugs{plan};
  for (int rail = 1; rail <= 4; ++rail) {
    plugs.exchange(leaf(1, rail, 3), leaf(1, rail, 6));
    plugs.exchange(leaf(1, rail, 6), leaf(1, rail, 7));
  }

  const auto audit = audit_fabric(plan, plugs.seen());

  ASSERT_THAT(faults_of(audit), ElementsAre("nodes-exchanged"));
  EXPECT_EQ(audit.moves(), 0u);
  EXPECT_THAT(audit.findings[0].what, AllOf(HasSubstr("n03"), HasSubstr("n06"), HasSubstr("n07")));
}

/// The node descriptions of a fabric that is cabled as planned, changed.
FabricAudit renamed(const Fabric& plan, const testing::Plugged& plugs,
                    const std::function<std::string(const SeenDevice&)>& description) {
  const auto seen = plugs.seen();
  SeenFabricBuilder builder;
  const auto device = [&](const SeenEnd& end) {
    const auto& one = seen.devices[end.device];
    return builder.device(one.guid, one.kind, description(one), false);
  };
  for (const auto& link : seen.links)
    builder.link({device(link.from), link.from.port}, {device(link.to), link.to.port}, link.width,
                 link.speed);
  return audit_fabric(plan, *std::move(builder).finish("ibnetdiscover"));
}

TEST(CableInstructions, KnowNodesWithADomainAndHcasThatAreNumbered) {
  const std::vector<std::string> hcas{"mlx5_0", "mlx5_3", "mlx5_6", "mlx5_9"};
  const auto plan = planned(hcas);
  const testing::Plugged plugs{plan};
  const auto number = [&](const SeenDevice& one) {
    return std::ranges::find(hcas, one.hca) - hcas.begin() + 1;
  };

  const auto with_domain = renamed(plan, plugs, [](const SeenDevice& one) {
    return one.hca.empty() ? one.description : one.name + ".gpu.example.com " + one.hca;
  });
  const auto numbered = renamed(plan, plugs, [&](const SeenDevice& one) {
    return one.hca.empty() ? one.description : fmt::format("{} HCA-{}", one.name, number(one));
  });

  EXPECT_TRUE(with_domain.passed());
  EXPECT_TRUE(numbered.passed()) << ::testing::PrintToString(numbered.unknown);
  EXPECT_EQ(numbered.right, plan.cables.size());
}

TEST(CableInstructions, AreNotForHcasWhoseNamesAreNotUnderstood) {
  const auto plan = planned();
  const testing::Plugged plugs{plan};

  const std::vector<std::function<std::string(const SeenDevice&)>> names{
      [](const SeenDevice& one) { return fmt::format("{} ibp{}s0", one.name, one.hca.back()); },
      [](const SeenDevice&) { return "MT4129 ConnectX7   Mellanox Technologies"; },
      [](const SeenDevice&) { return ""; },
  };
  for (const auto& name : names) {
    const auto audit = renamed(plan, plugs, [&](const SeenDevice& one) {
      return one.hca.empty() ? one.description : name(one);
    });

    EXPECT_THAT(faults_of(audit), IsEmpty());
    EXPECT_THAT(audit.unknown, ElementsAre(HasSubstr("have no name of the plan")));
  }
}

TEST(CableInstructions, AreNotForASwitchOrANodeUnderAnotherName) {
  const auto plan = planned();
  const testing::Plugged plugs{plan};

  const auto a_switch = renamed(plan, plugs, [](const SeenDevice& one) {
    return one.name == "leaf1-r2" ? "MF0;switch-5c3a:MQM9700/U1" : one.description;
  });
  const auto a_node = renamed(plan, plugs, [](const SeenDevice& one) {
    return one.name == "n05" ? "localhost " + one.hca : one.description;
  });

  ASSERT_THAT(faults_of(a_switch), ElementsAre("switch-absent"));
  EXPECT_THAT(a_switch.findings[0].instruction,
              HasSubstr("Move no cable: give switch-5c3a the name leaf1-r2"));
  ASSERT_THAT(faults_of(a_node), ElementsAre("node-absent"));
  EXPECT_THAT(a_node.findings[0].instruction, HasSubstr("Move no cable: localhost"));
}

}  // namespace
}  // namespace cupel::inventory
