// The stage fabric-cables: who looks, what becomes of the look, and on whom it is judged.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/json.h"
#include "burnin/fabric/cable_findings.h"
#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "burnin/group_stage.h"
#include "inventory/fabric_rule.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const GroupStage& cables() { return *stage("fabric-cables")->group; }

std::vector<Member> cabled_nodes(int count) {
  std::vector<Member> all;
  for (int i = 1; i <= count; ++i) all.push_back({fmt::format("n{}", i), "10.0.0.1"});
  return all;
}

/// One HCA a node, two nodes a leaf, two leaves and a spine.
inventory::Fabric small_plan() {
  std::vector<inventory::FabricMember> members;
  for (const auto& each : cabled_nodes(4)) members.push_back({each.node, {"mlx5_0"}});
  std::vector<inventory::Problem> problems;
  return make_fabric({.group = 2, .spines = 1, .uplinks = 1}, members, problems);
}

struct SmallFabric {
  /// By leaf port: who is plugged in. Port 3 is the uplink.
  std::vector<std::string> leaf1{"n1", "n2"}, leaf2{"n3", "n4"};
  bool uplink = true;

  static std::string guid(const std::string& node) { return "a088c2030000000" + node.substr(1); }

  std::string leaf(int number, const std::vector<std::string>& nodes) const {
    auto text = fmt::format(
        "switchguid=0xb0cf0e030000000{0}(b0cf0e030000000{0})\nSwitch\t65 "
        "\"S-b0cf0e030000000{0}\"\t\t# \"MF0;leaf{0}-r1:MQM9700/U1\" enhanced port 0 lid {0} lmc "
        "0\n",
        number);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!nodes[i].empty())
        text += fmt::format("[{}]\t\"H-{}\"[1]({}) \t\t# \"{} mlx5_0\" lid 20 4xNDR\n", i + 1,
                            guid(nodes[i]), guid(nodes[i]), nodes[i]);
    if (uplink || number == 2)
      text += fmt::format(
          "[3]\t\"S-fc6a1c0300000000\"[{}]\t\t# \"MF0;spine1:MQM9700/U1\" lid 9 4xNDR\n", number);
    return text + "\n";
  }

  /// ibnetdiscover lists every device by itself, too.
  std::string others() const {
    std::string text =
        "Switch\t65 \"S-fc6a1c0300000000\"\t\t# \"MF0;spine1:MQM9700/U1\" enhanced port 0 lid 9\n";
    for (const int number : {1, 2})
      if (uplink || number == 2)
        text += fmt::format(
            "[{0}]\t\"S-b0cf0e030000000{0}\"[3]\t\t# \"MF0;leaf{0}-r1:MQM9700/U1\" lid {0} 4xNDR\n",
            number);
    for (const auto* nodes : {&leaf1, &leaf2})
      for (const auto& node : *nodes)
        if (!node.empty())
          text += fmt::format("Ca\t1 \"H-{}\"\t\t# \"{} mlx5_0\"\n", guid(node), node);
    return text;
  }

  std::string text() const {
    return "cupel-begin: look0\n" + leaf(1, leaf1) + leaf(2, leaf2) + others() + "\ncupel-end\n";
  }
};

/// All rounds; what each node that looks prints, in order.
Result<GroupFindings> look(const std::vector<std::string>& looks, int members = 4) {
  static const auto plan = small_plan();
  const inventory::Profile profile;
  const auto nodes = cabled_nodes(members);
  const auto begun = cables().rounds({profile, nodes, {}, &plan}).value();
  std::size_t asked = 0;
  for (auto jobs = begun->next(); !jobs.empty(); jobs = begun->next(), ++asked) {
    std::vector<std::optional<Output>> outputs(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (jobs[i]) outputs[i] = Output{i == asked ? looks.at(asked) : "", "", 0};
    begun->take(outputs, std::vector<bool>(nodes.size()));
  }
  return begun->findings();
}

double wrong(const Findings& findings) {
  for (const auto& each : findings.measurements)
    if (each.name == "fabric.cable.wrong") return each.value;
  return -1;
}

TEST(FabricCablesStage, ClearsEachCableThatIsInItsPort) {
  const auto found = look({SmallFabric{}.text()});

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& member : found->members) EXPECT_EQ(wrong(member), 0);
  EXPECT_THAT(found->links, IsEmpty());
  EXPECT_THAT(found->reasons, Contains(HasSubstr("6 of 6 cables are in their ports")));
}

TEST(FabricCablesStage, BlamesBothNodesWhoseCablesAreCrossedAndNoOther) {
  const auto found = look({SmallFabric{.leaf1 = {"n1", "n3"}, .leaf2 = {"n2", "n4"}}.text()});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(wrong(found->members[0]), 0);
  EXPECT_EQ(wrong(found->members[1]), 1);
  EXPECT_EQ(wrong(found->members[2]), 1);
  EXPECT_EQ(wrong(found->members[3]), 0);
  EXPECT_THAT(found->members[1].measurements.back().traced_to, HasSubstr("swapped"));
}

TEST(FabricCablesStage, JudgesACableBetweenSwitchesOnTheNodesBehindIt) {
  const auto found = look({SmallFabric{.uplink = false}.text()});

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->links.size(), 1u);
  EXPECT_EQ(to_text(found->links[0].link), "port:leaf1-r1/3");
  EXPECT_THAT(found->links[0].behind, ElementsAre("n1", "n2"));
}

TEST(FabricCablesStage, AsksAnotherNodeWhereOneCannotLook) {
  const auto found = look({"cupel-missing: ibnetdiscover\n", SmallFabric{}.text()});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->reasons.front(), HasSubstr("n2"));
}

TEST(FabricCablesStage, IsInconclusiveWhereNoNodeCouldLook) {
  const std::string empty = "cupel-begin: look0\n\ncupel-end\n";
  const auto found = look({"cupel-missing: ibnetdiscover\n", empty, empty});

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("n1: ibnetdiscover is not installed"));
  EXPECT_THAT(found.error().what, HasSubstr("n3: ibnetdiscover reported no device"));
}

/// As cupel-node sends what that text has.
std::string agent_text(const std::string& seen, const std::string& cut = "false") {
  return R"({"kind":"stage","stage":"fabric-cables","protocol":1})"
         "\n"
         R"({"kind":"note","name":"guid mlx5_0","text":"a088:c203:0000:0001"})"
         "\n"
         R"({"kind":"evidence","name":"ibnetdiscover","part":"mlx5_0","status":0,"cut":)" +
         cut + R"(,"err":"","out":)" + json::serialize(json::string(seen)) + "}\n" +
         R"({"kind":"done","status":0})" + "\n";
}

TEST(FabricCablesStage, ReadsTheSameOfCupelNodeAsOfAnEarlierVersionsScript) {
  const SmallFabric crossed{.leaf1 = {"n1", "n3"}, .leaf2 = {"n2", "n4"}};
  const auto whole = crossed.text();
  const auto begin = whole.find('\n') + 1;
  const auto seen = whole.substr(begin, whole.find("\ncupel-end") - begin);

  const auto old = look({"guid mlx5_0 a088:c203:0000:0001\n" + whole}),
             fresh = look({agent_text(seen)});

  ASSERT_TRUE(old && fresh) << fresh.error().what;
  EXPECT_EQ(fresh->members, old->members);
  EXPECT_EQ(fresh->reasons, old->reasons);
  const auto half = agent_text(seen).substr(0, 300);
  const auto none = look({agent_text(seen, "true"), half, agent_text("")});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, AllOf(HasSubstr("n1: ibnetdiscover reported no device"),
                                       HasSubstr("n2: the output of cupel-node stage "
                                                 "fabric-cables has no end")));
}

TEST(FabricCablesStage, LooksOnceWhereAllHcasAreOnOneSwitch) {
  const std::vector<std::string> hcas{"mlx5_0", "mlx5_3", "mlx5_6", "mlx5_9"};
  std::vector<inventory::FabricMember> members{{"n1", hcas}, {"n2", hcas}};
  std::vector<inventory::Problem> problems;
  const auto plan =
      make_fabric({.layout = inventory::FabricLayout::fat_tree, .group = 2}, members, problems);
  const inventory::Profile profile;

  const auto jobs = cables().rounds({profile, cabled_nodes(2), {}, &plan}).value()->next();

  EXPECT_THAT(jobs[0]->script,
              HasSubstr(R"({"report":true,"look":[["mlx5_0","mlx5_3","mlx5_6","mlx5_9"]]})"))
      << "one island, from the first of its HCAs that can";
}

TEST(FabricCablesStage, DoesNotJudgeAnHcaWithoutAPlannedCable) {
  auto plan = small_plan();
  for (auto& node : plan.nodes) node.hcas.emplace_back("mlx5_9");
  const auto seen = parse_ibnetdiscover(SmallFabric{}.text());
  ASSERT_TRUE(seen) << seen.error().what;

  const auto found = fabric::cable_findings(plan, audit_fabric(plan, *seen), cabled_nodes(4));

  const auto& all = found.members[0].measurements;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (Measurement{"fabric.cables", "", 1, "count"}));
  EXPECT_EQ(all[1].part, "mlx5_0");
}

TEST(FabricCablesStage, BlamesTheNodeWhosePlugIsInAnotherHca) {
  auto text = SmallFabric{}.text();
  const std::string right = "\"n1 mlx5_0\"";
  text.replace(text.find(right), right.size(), "\"n1 mlx5_4\"");

  const auto found = look({text});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(wrong(found->members[0]), 1);
  for (const std::size_t other : {1u, 2u, 3u}) EXPECT_EQ(wrong(found->members[other]), 0) << other;
  EXPECT_THAT(found->links, IsEmpty()) << "no other node of the leaf is to blame";
  EXPECT_THAT(found->reasons, Contains(HasSubstr("Move the plug in n1 mlx5_4 to n1 mlx5_0")));
}

TEST(FabricCablesStage, RefusesAPlanOfSeveralPlanesInWords) {
  std::vector<inventory::FabricMember> members;
  for (const auto& each : cabled_nodes(2)) members.push_back({each.node, {"mlx5_0"}});
  std::vector<inventory::Problem> problems;
  const auto plan = make_fabric({.group = 2, .planes = 2}, members, problems);
  const inventory::Profile profile;
  const auto nodes = cabled_nodes(2);

  for (const auto* name : {"fabric-cables", "fabric-pairs"}) {
    const auto begun = stage(name)->group->rounds({profile, nodes, {}, &plan});

    ASSERT_FALSE(begun) << name;
    EXPECT_EQ(begun.error().code, Code::kInvalid);
    EXPECT_THAT(begun.error().what, HasSubstr("the cable plan has 2 planes"));
    EXPECT_THAT(begun.error().what, HasSubstr("leave the stage out"));
  }
}

TEST(FabricCablesStage, AsksEachRailOfAFabricWithoutSpinesAndOneOfAFabricWithSome) {
  std::vector<inventory::FabricMember> members{{"n1", {"mlx5_0", "mlx5_6"}},
                                               {"n2", {"mlx5_0", "mlx5_6"}}};
  std::vector<inventory::Problem> problems;
  const auto flat = make_fabric({.group = 2}, members, problems);
  const auto joined = make_fabric({.group = 1, .spines = 1}, members, problems);
  const inventory::Profile profile;
  const auto nodes = cabled_nodes(2);

  const auto of_flat = cables().rounds({profile, nodes, {}, &flat}).value()->next();
  const auto of_joined = cables().rounds({profile, nodes, {}, &joined}).value()->next();

  EXPECT_THAT(of_flat[0]->script, HasSubstr(R"("look":[["mlx5_0"],["mlx5_6"]])"));
  EXPECT_THAT(of_joined[0]->script, HasSubstr(R"("look":[["mlx5_0","mlx5_6"]])"));
  EXPECT_THAT(of_flat[1]->script, HasSubstr(R"({"report":true,"look":[]})"));
}

}  // namespace
}  // namespace cupel::burnin
