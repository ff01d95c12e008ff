// The stage fabric-pairs: its jobs for perftest, what their output becomes, and a wiring from a
// plan.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/criteria/judge.h"
#include "burnin/fabric/pair_jobs.h"
#include "burnin/fabric/plan_wiring.h"
#include "burnin/group_stage.h"
#include "inventory/fabric_rule.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const Parameters kOwnHcas{{"hcas", "mlx5_0,mlx5_6"}, {"group", "4"}};

/// As ib_write_bw 6 prints it with --report_gbits.
std::string printed(double gigabits) {
  return fmt::format(
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " 1048576          465000           0.00               {:.2f}            0.046\n",
      gigabits);
}

std::string section(int rail, const std::string& text) {
  return fmt::format("cupel-begin: rail{}\n{}\ncupel-end\n", rail, text);
}

std::vector<Member> members(int count) {
  std::vector<Member> all;
  for (int i = 0; i < count; ++i)
    all.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  return all;
}

const GroupStage& pairs() { return *stage("fabric-pairs")->group; }

/// All rounds on nodes whose HCAs carry 390 Gb/s, and mlx5_6 of one the rate that is given.
struct PairsRun {
  double of_slow = 390;
  int slow = -1, dies = -1;
  int deaf = -1;  // no client reaches its servers
  std::string of_server{}, of_client{"Couldn't connect to 10.0.0.6:18515\n"};
  const inventory::Fabric* fabric = nullptr;
  inventory::Profile of{};
  Parameters with = kOwnHcas;
  int rounds = 0;

  Result<GroupFindings> on(int count) {
    const auto nodes = members(count);
    auto begun = pairs().rounds({of, nodes, with, fabric});
    if (!begun) return begun.error();
    std::vector<bool> left(nodes.size());
    for (auto jobs = (*begun)->next(); !jobs.empty(); jobs = (*begun)->next(), ++rounds) {
      std::vector<std::optional<Output>> outputs(nodes.size());
      for (std::size_t i = 0; i < nodes.size(); ++i)
        if (jobs[i] && !left[i]) outputs[i] = answer(static_cast<int>(i), jobs[i]->script);
      if (dies >= 0) {
        left[static_cast<std::size_t>(dies)] = true;
        outputs[static_cast<std::size_t>(dies)].reset();
      }
      (*begun)->take(outputs, left);
    }
    return (*begun)->findings();
  }

  Output answer(int node, const std::string& script) const {
    Output output;
    const auto order = order_in(script);
    const auto address = [](int at) { return fmt::format("10.0.0.{}", at + 1); };
    for (const int rail : {0, 1}) {
      const auto peer = peer_of(order, rail);
      if (peer.empty()) continue;
      if (peer == address(deaf)) {
        output.text += section(rail, of_client);
        continue;
      }
      const bool is_slow = rail == 1 && (node == slow || peer == address(slow));
      output.text += section(rail, printed(is_slow ? of_slow : 390 - 0.1 * node));
    }
    for (const int rail : {0, 1})
      if (node == deaf && serves(order, rail))
        output.text += fmt::format("cupel-begin: server{}\n{}\ncupel-end\n", rail, of_server);
    return output;
  }
};

std::optional<double> number_of(const Findings& findings, std::string_view name,
                                std::string_view part = {}) {
  for (const auto& each : findings.measurements)
    if (each.name == name && each.part == part) return each.value;
  return std::nullopt;
}

TEST(FabricPairsStage, BlamesTheLinkThatIsSlowToEveryPartner) {
  PairsRun run{.of_slow = 200, .slow = 2};

  const auto found = run.on(8);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(number_of(found->members[2], "fabric.link.loss", "mlx5_6").value_or(0), 49, 1);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(number_of(found->members[i], "fabric.node.loss"), 0) << i;
    EXPECT_EQ(number_of(found->members[i], "fabric.link.loss", "mlx5_0"), 0) << i;
    if (i != 2) EXPECT_EQ(number_of(found->members[i], "fabric.link.loss", "mlx5_6"), 0) << i;
  }
  EXPECT_THAT(found->reasons, Contains(HasSubstr("slow: link n3/mlx5_6 - ")));
}

TEST(FabricPairsStage, BlamesALinkOfHalfTheRateAmongThreeNodesToo) {
  // Most flows of its rail are slow then: nothing to compare with but what the profile asks for.
  PairsRun run{.of_slow = 195, .slow = 2, .of = profile()};

  const auto found = run.on(3);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(number_of(found->members[2], "fabric.link.loss", "mlx5_6").value_or(0), 50, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::string> failed;
    for (const auto& each :
         judge(profile(), {"fabric-pairs"}, {{"fabric-pairs", found->members[i]}}))
      if (each.met == Met::failed) failed.push_back(each.part + " " + each.measure);
    if (i == 2)
      EXPECT_THAT(failed,
                  UnorderedElementsAre("mlx5_6 fabric.link.loss", "mlx5_6 fabric.link.bandwidth"));
    else
      EXPECT_THAT(failed, IsEmpty()) << i;
  }
}

TEST(FabricPairsStage, TakesALinkThatCarriesNothingForItsSlowest) {
  PairsRun run{.of_slow = 0, .slow = 5};

  const auto found = run.on(8);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[5], "fabric.link.loss", "mlx5_6"), 100);
  EXPECT_EQ(number_of(found->members[4], "fabric.link.loss", "mlx5_6"), 0);
}

TEST(FabricPairsStage, TakesAFirewallForNoFaultOfALink) {
  PairsRun run{.deaf = 5};

  const auto found = run.on(8);

  ASSERT_TRUE(found) << found.error().what;
  for (std::size_t i = 0; i < 8; ++i) {
    for (const auto* hca : {"mlx5_0", "mlx5_6"})
      EXPECT_EQ(number_of(found->members[i], "fabric.link.loss", hca), 0) << i;
    EXPECT_EQ(number_of(found->members[i], "fabric.undecided", "unmeasured"),
              i == 5 ? std::optional{1.0} : std::nullopt)
        << i;
  }
  const auto& undecided = found->members[5].measurements.front();
  EXPECT_THAT(undecided.traced_to, AllOf(HasSubstr("no flow was measured to mlx5_0, to mlx5_6: n"),
                                         HasSubstr(": Couldn't connect to 10.0.0.6:18515")));
}

TEST(FabricPairsStage, NamesWhatTheServersProgramReportsBeforeItsClient) {
  PairsRun run{.deaf = 5,
               .of_server =
                   "initializing CUDA\ncuMemAlloc() of a 131072 bytes GPU buffer\n"
                   "Couldn't allocate MR with error=14\nfailed to create mr\n"};

  const auto found = run.on(8);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->members[5].measurements.front().traced_to,
              HasSubstr(": n6: Couldn't allocate MR with error=14"));
}

TEST(FabricPairsStage, TakesAPortThatIsDownOrTimesOutForOneThatCarriesNothing) {
  PairsRun down{.deaf = 5, .of_server = " Port number 1 state is Down\n Couldn't get context\n"};
  PairsRun times_out{.deaf = 5, .of_client = " Failed status 12: wr_id 0 syndrom 0x81\n"};
  for (auto* run : {&down, &times_out}) {
    const auto found = run->on(8);

    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(number_of(found->members[5], "fabric.undecided", "unmeasured"), std::nullopt);
    EXPECT_THAT(found->reasons, Contains(HasSubstr("slow: ")));
  }
}

TEST(FabricPairsStage, LeavesBothOfTwoNodesInconclusiveWhereOneDoesNotAnswer) {
  PairsRun run{.deaf = 1};
  run.with["group"] = "2";
  const auto found = run.on(2);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[0], "fabric.undecided", "unmeasured"), 1);
  EXPECT_EQ(number_of(found->members[1], "fabric.undecided", "unmeasured"), 1);
}

TEST(FabricPairsStage, GoesOnWithoutAMemberThatDiesAndSaysSo) {
  PairsRun run{.dies = 3};

  const auto found = run.on(8);

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->members[3].measurements.size(), 1u);
  EXPECT_EQ(found->members[3].measurements[0].name, "fabric.undecided") << "it is inconclusive";
  EXPECT_EQ(found->members[3].unknown.at(0).fact, "fabric.flows");
  EXPECT_GT(number_of(found->members[0], "fabric.flows").value_or(0), 4);
  EXPECT_EQ(number_of(found->members[0], "fabric.link.loss", "mlx5_6"), 0);
}

/// Three leaf groups of three nodes on two rails, three uplinks each; the second uplink of the
/// first group's leaf of rail 0 is slow, up and down.
struct SlowUplink {
  inventory::Fabric fabric;
  std::vector<Member> nodes = members(9);

  SlowUplink() {
    std::vector<inventory::FabricMember> cabled;
    for (const auto& each : nodes) cabled.push_back({each.node, {"mlx5_0", "mlx5_6"}});
    std::vector<inventory::Problem> problems;
    fabric = make_fabric({.group = 3, .spines = 3, .uplinks = 1}, cabled, problems);
  }

  /// As dump_fts would print it: by the place of the destination in its leaf.
  inventory::ForwardingTables tables() const {
    const inventory::FabricMap map{fabric};
    std::string text;
    for (const auto& at : fabric.switches) {
      text += fmt::format("Unicast lids [0x0-0x99] of switch Lid 1 guid 0x1 ({}):\n", at.name);
      for (std::size_t node = 0; node < nodes.size(); ++node)
        for (const int rail : {0, 1}) {
          const auto home = map.rail_port(nodes[node].node, rail).value();
          int port = home.port;
          for (const auto& up : map.uplinks(home.leaf))
            if (up.spine == at.name) port = up.spine_port;
          if (at.level == inventory::SwitchLevel::leaf && at.name != home.leaf)
            port = map.uplinks(at.name).at(node % 3).leaf_port;
          text += fmt::format("0x{:04x} {:03} : (Channel Adapter portguid 0x1: '{} {}')\n",
                              1 + 2 * node + static_cast<std::size_t>(rail), port, nodes[node].node,
                              home.hca);
        }
    }
    return inventory::parse_forwarding(text).value();
  }

  Result<GroupFindings> measure(const std::string& routing, bool has_tables = true) const {
    const inventory::Profile profile;
    const auto known = tables();
    const auto begun = pairs()
                           .rounds({.profile = profile,
                                    .members = nodes,
                                    .parameters = {{"routing", routing}},
                                    .fabric = &fabric,
                                    .forwarding = has_tables ? &known : nullptr})
                           .value();
    for (auto jobs = begun->next(); !jobs.empty(); jobs = begun->next()) {
      std::vector<std::optional<Output>> outputs(nodes.size());
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!jobs[i]) continue;
        Output output;
        for (std::size_t to = 0; to < nodes.size(); ++to) {
          if (!sends_to(order_in(jobs[i]->script), fmt::format("10.0.0.{}", to + 1))) continue;
          const bool crosses = (i / 3 == 0) != (to / 3 == 0);
          const bool slow = crosses && to % 3 == 1;
          const double usual = 390 - 0.1 * static_cast<double>(i);
          output.text += section(0, printed(slow ? 200 : usual)) + section(1, printed(usual));
        }
        outputs[i] = output;
      }
      begun->take(outputs, std::vector<bool>(nodes.size()));
    }
    return begun->findings();
  }
};

TEST(FabricPairsStage, PutsASlowUplinkOnTheNodesBehindItsLeaf) {
  const auto found = SlowUplink{}.measure("by-destination");

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->links.size(), 1u) << ::testing::PrintToString(found->reasons);
  EXPECT_EQ(to_text(found->links[0].link), "port:leaf1-r1/5");
  EXPECT_EQ(found->links[0].measured.name, "fabric.switch.loss");
  EXPECT_NEAR(found->links[0].measured.value, 49, 2);
  EXPECT_THAT(found->links[0].behind, ElementsAre("n1", "n2", "n3"));
}

TEST(FabricPairsStage, NamesNoSingleUplinkWithoutTheForwardingTables) {
  const auto found = SlowUplink{}.measure("by-destination", false);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->links, IsEmpty());
  EXPECT_THAT(found->reasons, AllOf(Contains(HasSubstr("an uplink of leaf1-r1 (ports 4, 5, 6): ")),
                                    Contains(HasSubstr("the forwarding tables are not known"))));
  EXPECT_EQ(number_of(found->members[1], "fabric.undecided", "flows"), 1);
  EXPECT_EQ(number_of(found->members[0], "fabric.undecided", "flows"), std::nullopt);
}

TEST(FabricPairsStage, MakesNoNodeFailWhereAllThatIsAcrossIsSlower) {
  const SlowUplink site;
  const inventory::Profile none;
  const auto begun = pairs()
                         .rounds({.profile = none,
                                  .members = site.nodes,
                                  .parameters = {{"routing", "unknown"}},
                                  .fabric = &site.fabric})
                         .value();
  for (auto jobs = begun->next(); !jobs.empty(); jobs = begun->next()) {
    std::vector<std::optional<Output>> outputs(site.nodes.size());
    for (std::size_t i = 0; i < site.nodes.size(); ++i)
      for (std::size_t to = 0; jobs[i] && to < site.nodes.size(); ++to) {
        if (!sends_to(order_in(jobs[i]->script), fmt::format("10.0.0.{}", to + 1))) continue;
        const double rate = (i / 3 == to / 3 ? 390 : 325) - 0.1 * static_cast<double>(i);
        outputs[i] = Output{section(0, printed(rate)) + section(1, printed(rate)), "", 0};
      }
    begun->take(outputs, std::vector<bool>(site.nodes.size()));
  }

  const auto found = begun->findings();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->reasons, Contains(HasSubstr("across leaves is 17 % slower than inside")));
  for (const auto& member : found->members) {
    EXPECT_EQ(number_of(member, "fabric.node.loss"), 0);
    EXPECT_EQ(number_of(member, "fabric.undecided", "across"), 1) << "no pass either";
  }
}

TEST(FabricPairsStage, SpreadsFlowsOverQueuePairsWhereAHashChoosesUplinks) {
  const auto nodes = members(2);
  const inventory::Profile profile;
  const auto queue_pairs = [&](Parameters more) -> std::string {
    more.insert(kOwnHcas.begin(), kOwnHcas.end());
    const auto begun = pairs().rounds({.profile = profile, .members = nodes, .parameters = more});
    if (!begun) return begun.error().what;
    return json::serialize(order_of(*(*begun)->next().at(0)).at("qps"));
  };

  EXPECT_EQ(queue_pairs({}), "1");
  EXPECT_EQ(queue_pairs({{"gid", "3"}}), "16");
  EXPECT_EQ(queue_pairs({{"routing", "ecmp"}}), "16");
  EXPECT_EQ(queue_pairs({{"gid", "3"}, {"qps", "1"}}), "1");
  EXPECT_EQ(queue_pairs({{"qps", "64"}}), "64");
  EXPECT_THAT(queue_pairs({{"qps", "0"}}), HasSubstr("qps must be 1 to 256"));
}

TEST(FabricPairsStage, BlamesNoNodeForAnUplinkWhereRoutingIsNotKnown) {
  const auto found = SlowUplink{}.measure("unknown");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->links, IsEmpty());
  for (const auto& member : found->members)
    EXPECT_EQ(number_of(member, "fabric.link.loss", "mlx5_0").value_or(0), 0);
  EXPECT_THAT(found->reasons, Contains(HasSubstr("routing is adaptive or not known")));
  // The nodes of its slow flows are no pass either.
  for (const std::size_t node : {1u, 4u, 7u}) {
    EXPECT_EQ(number_of(found->members[node], "fabric.undecided", "flows"), 1) << node;
    EXPECT_THAT(found->members[node].measurements.back().traced_to,
                AllOf(HasSubstr("slow flows that no part explains: "), HasSubstr("n2"),
                      HasSubstr(", rail 0; routing is not known")));
  }
  for (const std::size_t node : {0u, 2u, 3u, 5u, 6u, 8u})
    EXPECT_EQ(number_of(found->members[node], "fabric.undecided", "flows"), std::nullopt) << node;
}

TEST(FabricPairsStage, LeavesNodesOfSlowFlowsWithoutACauseInconclusive) {
  const auto found = SlowUplink{}.measure("unknown");

  ASSERT_TRUE(found) << found.error().what;
  std::vector<std::string> failed;
  for (const auto& each : judge(profile(), {"fabric-pairs"}, {{"fabric-pairs", found->members[4]}}))
    if (each.met != Met::met) failed.push_back(each.part + " " + each.measure);
  EXPECT_THAT(failed, ElementsAre("flows fabric.undecided"));
}

TEST(FabricPairsStage, MeasuresWithTheCablesThatWereExchangedAndSaysSo) {
  const SlowUplink site;
  const inventory::Profile profile;
  const auto begin = [&](Parameters with) {
    return pairs().rounds({profile, site.nodes, with, &site.fabric});
  };

  const auto access = begin({{"exchanged", "leaf1-r1/1,leaf1-r1/2"}});
  const auto uplinks = begin({{"exchanged", "spine1/1,spine2/1"}});
  const auto crossed = begin({{"exchanged", "n1/mlx5_0,spine2/1"}});
  const auto unknown = begin({{"exchanged", "n1/mlx5_0,n99/mlx5_0"}});

  ASSERT_TRUE(access) << access.error().what;
  while (!(*access)->next().empty())
    (*access)->take(std::vector<std::optional<Output>>(
                        9, Output{section(0, printed(390)) + section(1, printed(390)), "", 0}),
                    std::vector<bool>(9));
  const auto found = (*access)->findings();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->members[4].facts.at("fabric.exchanged"), "leaf1-r1/1,leaf1-r1/2");
  EXPECT_THAT(found->reasons, Contains(HasSubstr("plugs of leaf1-r1/1,leaf1-r1/2 exchanged")));
  ASSERT_FALSE(uplinks);
  EXPECT_THAT(uplinks.error().what, HasSubstr("routing: by-destination alone"));
  EXPECT_FALSE(crossed);
  EXPECT_FALSE(unknown);
}

TEST(FabricPairsStage, ProvesNothingWhereNoFlowCarriedData) {
  const auto nodes = members(4);
  const inventory::Profile profile;
  const auto begun = pairs().rounds({profile, nodes, kOwnHcas, nullptr}).value();
  while (!begun->next().empty())
    begun->take(
        std::vector<std::optional<Output>>(4, Output{section(0, "Couldn't connect\n"), "", 0}),
        std::vector<bool>(4));

  const auto found = begun->findings();

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("carried data: n1: Couldn't connect"));
}

TEST(FabricPairsStage, NamesLeavesAndUplinksOfThePlanBySwitchAndPort) {
  inventory::FabricRule rule{.group = 2, .spines = 1, .uplinks = 2};
  std::vector<inventory::FabricMember> cabled;
  for (const auto& each : members(6)) cabled.push_back({each.node, {"mlx5_0", "mlx5_6"}});
  std::vector<inventory::Problem> problems;
  const auto fabric = make_fabric(rule, cabled, problems);
  const std::vector<std::string> nodes{"n1", "n2", "n3", "n4", "n5", "n6"};

  const auto planned = fabric::wiring_of(fabric, nodes, fabric::Routing::by_destination);

  ASSERT_TRUE(planned) << planned.error().what;
  EXPECT_EQ(planned->wiring.leaves, 6);
  EXPECT_EQ(planned->wiring.uplinks, 2);
  EXPECT_EQ(planned->wiring.ports[2 * 2 + 1].place, 0) << "n3 is the first of its group";
  EXPECT_EQ(planned->names.hcas[1], "mlx5_6");
  const auto strange =
      fabric::wiring_of(fabric, std::vector<std::string>{"n1", "x9"}, fabric::Routing::unknown);
  ASSERT_FALSE(strange);
  EXPECT_THAT(strange.error().what, HasSubstr("x9 is not in the fabric's plan"));
}

TEST(FabricPairsStage, GivesEachNodeAServerForWhatComesAndAClientForWhatGoes) {
  const std::vector<fabric::PairNode> nodes{{"10.0.0.1", {"mlx5_0"}}, {"10.0.0.2", {"mlx5_3"}}};
  const std::vector<fabric::Flow> flows{{0, 1, 0}};

  const auto sender = fabric::pair_order({}, nodes, 0, flows);
  const auto receiver = fabric::pair_order({}, nodes, 1, flows);

  EXPECT_EQ(json::serialize(sender.at("clients")),
            R"([{"rail":0,"hca":"mlx5_0","port":18515,"to":"10.0.0.2"}])");
  EXPECT_EQ(json::serialize(sender.at("servers")), "[]");
  EXPECT_EQ(json::serialize(receiver.at("servers")), R"([{"rail":0,"hca":"mlx5_3","port":18515}])");
  EXPECT_EQ(json::serialize(receiver.at("clients")), "[]");
  EXPECT_TRUE(fabric::pair_order({}, nodes, 1, {}).empty());
}

TEST(FabricPairsStage, HasItsOrderInNoOtherWordOfTheShellThanOne) {
  const std::vector<fabric::PairNode> nodes{{"10.0.0.1", {"mlx5_0"}}, {"a'; reboot #", {"mlx5_3"}}};
  const std::vector<fabric::Flow> flows{{0, 1, 0}};

  const auto script = fabric::pair_script(fabric::pair_order({}, nodes, 0, flows));
  const FakeTools tools;
  tools.add("cupel-node", "cat");
  const auto read = run_script(script, "PATH=" + tools.folder() + ":$PATH\n");

  const auto order = parse_json(read.text);
  ASSERT_TRUE(order) << read.text << read.errors;
  EXPECT_EQ(peer_of(order->as_object(), 0), "a'; reboot #") << "cupel-node refuses it";
}

TEST(FabricPairsStage, GivesPerftestTheGidAndTheTrafficClassOfTheSite) {
  const auto nodes = members(2);
  const inventory::Profile profile;
  const inventory::NcclSettings site{
      .environment = {{"NCCL_IB_GID_INDEX", "3"}, {"NCCL_IB_TC", "106"}}};
  const inventory::NcclSettings wrong{.environment = {{"NCCL_IB_TC", "low"}}};
  const inventory::NcclSettings chooses{.environment = {{"NCCL_IB_GID_INDEX", "-1"}}};
  const auto roce = [&](Parameters more, const inventory::NcclSettings* nccl) -> std::string {
    more.insert(kOwnHcas.begin(), kOwnHcas.end());
    const auto begun =
        pairs().rounds({.profile = profile, .members = nodes, .parameters = more, .nccl = nccl});
    if (!begun) return begun.error().what;
    const auto order = order_of(*(*begun)->next().at(0));
    return json::serialize(json::array{order.contains("gid") ? order.at("gid") : json::value{},
                                       order.contains("tclass") ? order.at("tclass") : nullptr});
  };

  EXPECT_EQ(roce({}, &site), "[3,106]");
  EXPECT_EQ(roce({{"gid", "5"}, {"tclass", "41"}}, &site), "[5,41]");
  for (const auto* none : {&chooses, static_cast<const inventory::NcclSettings*>(nullptr)})
    EXPECT_EQ(roce({}, none), "[null,null]");
  EXPECT_THAT(roce({}, &wrong), HasSubstr("NCCL_IB_TC of the inventory's fabric: nccl: is 'low'"));
}

TEST(FabricPairsStage, ReadsNothingFromASectionThatIsCutOrNoTable) {
  const auto whole = section(3, printed(391.5));
  EXPECT_EQ(fabric::reading_of({whole, "", 0}, 3), 391.5);
  EXPECT_EQ(fabric::reading_of({whole, "", 0}, 2), std::nullopt);
  EXPECT_EQ(fabric::reading_of({whole.substr(0, whole.size() - 12), "", 0}, 3), std::nullopt);
  EXPECT_EQ(fabric::reading_of({section(3, " Couldn't connect to 10.0.0.1:18515"), "", 0}, 3),
            std::nullopt);
}

TEST(FabricPairsStage, RefusesWhatIsNoHcaPortOrGroup) {
  const std::pair<Parameters, std::string> wrong[] = {
      {{{"hcas", "mlx5_0,$(reboot)"}}, "hcas must be HCAs"},
      {{{"hcas", ""}}, "hcas must be HCAs"},
      {{{"port", "80"}}, "port must be 1024 to"},
      {{{"group", "0"}}, "group must be 1 to"},
      {{{"gid", "256"}}, "gid must be 0 to"},
      {{{"tclass", "-1"}}, "tclass must be 0 to"},
      {{{"test", "send"}}, "test"}};
  for (const auto& [with, why] : wrong) {
    const auto job = stage("fabric-pairs")->prepare({}, with);
    ASSERT_FALSE(job) << why;
    EXPECT_THAT(job.error().what, HasSubstr(why));
  }
  const auto nodes = members(2);
  const inventory::Profile profile;
  const auto without = pairs().rounds({profile, nodes, {}, nullptr});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().what, HasSubstr("the inventory has no cable plan"));
}

}  // namespace
}  // namespace cupel::burnin
