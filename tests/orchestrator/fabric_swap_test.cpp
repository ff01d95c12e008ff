// Two runs of fabric-pairs, before and after two plugs were exchanged.
#include "orchestrator/requalify/fabric_swap.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/fabric/swap_choice.h"
#include "inventory/fabric_rule.h"

namespace cupel::requalify {
namespace {

using burnin::fabric::SlowLinks;
using Outcome = burnin::fabric::SwapAnswer::Outcome;
using inventory::CableEnd;
using record::NodeRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const CableEnd kHca3{"n3", "mlx5_6", 1};
const CableEnd kUp{"leaf1-r1", "", 9}, kTwin{"leaf2-r1", "", 9};

inventory::Fabric plan() {
  std::vector<inventory::FabricMember> members;
  for (int node = 1; node <= 16; ++node)
    members.push_back({fmt::format("n{}", node), {"mlx5_0", "mlx5_6"}});
  std::vector<inventory::Problem> problems;
  return make_fabric({.group = 8, .spines = 8, .uplinks = 1}, members, problems);
}

struct PairsRun {
  std::vector<NodeRecord> records{};

  explicit PairsRun(int nodes = 16, const std::string& exchanged = {}) {
    for (int node = 1; node <= nodes; ++node) {
      NodeRecord record{.node = fmt::format("n{}", node)};
      record.findings["fabric-pairs"].measurements = {{"fabric.flows", "", 12, "count"},
                                                      {"fabric.link.loss", "mlx5_0", 0, "%"}};
      if (!exchanged.empty()) record.facts["fabric.exchanged"] = exchanged;
      records.push_back(std::move(record));
    }
  }

  void add(int node, const std::string& name, const std::string& part,
           const std::string& words = {}) {
    auto& record = records.at(static_cast<std::size_t>(node - 1));
    record.findings["fabric-pairs"].measurements.push_back({name, part, 40, "%", words});
  }
  PairReadings read() const { return pair_readings(records, plan()); }
};

TEST(FabricSwap, ReadsSlowLinksOfNodesAndOfSwitchesEachOnce) {
  PairsRun run;
  run.add(3, "fabric.link.loss", "mlx5_6");
  for (const int node : {1, 2, 3}) run.add(node, "fabric.switch.loss", "port:leaf1-r1/9");
  run.add(5, "fabric.node.loss", "");
  run.add(6, "fabric.switch.loss", "port:spine1/all");

  const auto found = run.read();

  EXPECT_THAT(found.slow, UnorderedElementsAre(SlowLinks{kHca3}, SlowLinks{kUp}));
  EXPECT_THAT(found.nodes_of.at(kUp), ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(found.measured.size(), 16u);
  EXPECT_THAT(found.exchanged, IsEmpty());
}

TEST(FabricSwap, PartsThatNoFlowTellsApartAreOneQuestion) {
  PairsRun run;
  run.add(1, "fabric.undecided", "port:leaf1-r1/9", "uplink a | uplink b");
  run.add(9, "fabric.undecided", "port:leaf2-r1/9", "uplink a | uplink b");
  run.add(12, "fabric.undecided", "all", "it took no part to the end");
  run.add(3, "fabric.undecided", "flows", "slow flows that no part explains: n3 -> n11, rail 0");

  EXPECT_THAT(run.read().slow, ElementsAre(SlowLinks{kUp, kTwin}));
}

constexpr const char* kAtTheLeaf = "leaf1-r2/3,leaf1-r2/4";
constexpr const char* kAtTheNodes = "n3/mlx5_6,n4/mlx5_6";

PairsRun with_slow(int node, const std::string& exchanged = {}) {
  PairsRun run{16, exchanged};
  run.add(node, "fabric.link.loss", "mlx5_6");
  return run;
}

TEST(FabricSwap, WithoutAnExchangeSaysWhichPlugsAndWhichNodes) {
  const auto found = inquire(std::vector{PairRun{4, with_slow(3).read()}}, plan());

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->before, 4);
  EXPECT_THAT(found->after, IsEmpty());
  ASSERT_EQ(found->cases.size(), 1u);
  const auto& only = found->cases.front();
  EXPECT_EQ(only.answer.outcome, Outcome::open);
  EXPECT_EQ(to_string(*only.next), "leaf1-r2/3,leaf1-r2/2");
  EXPECT_EQ(only.measure, (std::set<std::string>{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"}));
  EXPECT_EQ(
      to_string(only.answer),
      "link of n3 mlx5_6: port 3 of leaf1-r2, HCA mlx5_6 of n3 or the cable that the plan has "
      "in n3 mlx5_6");
}

TEST(FabricSwap, ComparesTheRunsByTheExchangeThatTheLaterOneWasMeasuredWith) {
  const auto found = inquire(
      std::vector{PairRun{5, with_slow(4, kAtTheLeaf).read()}, PairRun{4, with_slow(3).read()}},
      plan());

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->cases.size(), 1u);
  const auto& only = found->cases.front();
  EXPECT_EQ(only.answer.outcome, Outcome::named);
  EXPECT_THAT(only.by, ElementsAre(5));
  EXPECT_FALSE(only.next);
  EXPECT_EQ(
      to_string(only.answer),
      "link of n3 mlx5_6: still slow with port 3 of leaf1-r2; cleared: HCA mlx5_6 of n3 or the "
      "cable that the plan has in n3 mlx5_6");
}

TEST(FabricSwap, TwoExchangesNameWhatOneLeavesOpen) {
  const std::vector first{PairRun{5, with_slow(3, kAtTheLeaf).read()},
                          PairRun{4, with_slow(3).read()}};
  const std::vector both{PairRun{6, with_slow(4, kAtTheNodes).read()}, first[0], first[1]};
  // Whoever puts the plugs back and measures so in between loses nothing.
  const std::vector between{PairRun{7, with_slow(4, kAtTheNodes).read()},
                            PairRun{6, with_slow(3).read()}, first[0], first[1]};

  const auto one = inquire(first, plan());
  ASSERT_TRUE(one);
  EXPECT_EQ(to_string(*one->cases.front().next), "n3/mlx5_6,n2/mlx5_6");
  for (const auto& runs : {both, between}) {
    const auto found = inquire(runs, plan());
    ASSERT_TRUE(found) << found.error().what;
    const auto& only = found->cases.front();
    EXPECT_EQ(only.by.size(), 2u);
    EXPECT_EQ(only.answer.parts.size(), 1u);
    EXPECT_THAT(to_string(only.answer), HasSubstr("still slow with the cable that the plan has in "
                                                  "n3 mlx5_6; cleared: port 3 of leaf1-r2 or HCA "
                                                  "mlx5_6 of n3"));
    EXPECT_FALSE(only.next);
  }
}

TEST(FabricSwap, WhatWasSaidOfALinkThatWasWellInBetweenCountsNoMore) {
  const std::vector runs{PairRun{7, with_slow(3).read()}, PairRun{6, PairsRun{}.read()},
                         PairRun{5, with_slow(4, kAtTheLeaf).read()},
                         PairRun{4, with_slow(3).read()}};
  const auto found = inquire(runs, plan());

  ASSERT_TRUE(found);
  EXPECT_EQ(found->cases.front().answer.outcome, Outcome::open);
}

TEST(FabricSwap, ExchangesThatLeaveNothingInCommonNameNoPart) {
  const std::vector runs{PairRun{6, with_slow(3, kAtTheNodes).read()},
                         PairRun{5, with_slow(4, kAtTheLeaf).read()},
                         PairRun{4, with_slow(3).read()}};
  const auto found = inquire(runs, plan());

  ASSERT_TRUE(found);
  EXPECT_EQ(found->cases.front().answer.outcome, Outcome::contradicted);
  EXPECT_FALSE(found->cases.front().next);
}

TEST(FabricSwap, AFaultThatIsGoneAfterTheExchangeIsAContact) {
  const std::vector runs{PairRun{5, PairsRun{16, kAtTheLeaf}.read()},
                         PairRun{4, with_slow(3).read()}};
  const auto found = inquire(runs, plan());

  ASSERT_TRUE(found);
  EXPECT_EQ(found->cases.front().answer.outcome, Outcome::gone);
  EXPECT_EQ(found->cases.front().answer.cleared.size(), 3u);
}

TEST(FabricSwap, ANodeThatWasNotMeasuredAgainIsNoNodeThatIsWell) {
  const std::vector runs{PairRun{5, PairsRun{3, kAtTheLeaf}.read()},
                         PairRun{4, with_slow(3).read()}};
  const auto found = inquire(runs, plan());

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("not measured after the exchange: n4"));
}

TEST(FabricSwap, WithoutARunThatWasCabledAsPlannedThereIsNoAnswer) {
  EXPECT_FALSE(inquire({}, plan()));
  EXPECT_FALSE(inquire(std::vector{PairRun{5, with_slow(4, kAtTheLeaf).read()}}, plan()));
}

}  // namespace
}  // namespace cupel::requalify
