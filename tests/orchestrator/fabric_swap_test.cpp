// Two runs of fabric-pairs, before and after two plugs were exchanged.
#include "orchestrator/requalify/fabric_swap.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/fabric_rule.h"

namespace cupel::requalify {
namespace {

using burnin::fabric::SlowLinks;
using burnin::fabric::SwapAnswer;
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

  EXPECT_THAT(run.read().slow, ElementsAre(SlowLinks{kUp, kTwin}));
}

TEST(FabricSwap, ComparesTheRunsByTheExchangeThatTheLaterOneWasMeasuredWith) {
  PairsRun before, after{16, "leaf1-r2/3,leaf1-r2/4"};
  before.add(3, "fabric.link.loss", "mlx5_6");
  after.add(4, "fabric.link.loss", "mlx5_6");

  const auto answers = read_swapped_cables(before.read(), after.read(), plan());

  ASSERT_TRUE(answers) << answers.error().what;
  ASSERT_EQ(answers->size(), 1u);
  EXPECT_EQ(answers->front().outcome, SwapAnswer::Outcome::named);
  EXPECT_EQ(
      to_string(answers->front()),
      "link of n3 mlx5_6: still slow with port 3 of leaf1-r2; cleared: HCA mlx5_6 of n3 or the "
      "cable that the plan has in n3 mlx5_6");
}

TEST(FabricSwap, ANodeThatWasNotMeasuredAgainIsNoNodeThatIsWell) {
  PairsRun before, after{3, "leaf1-r2/3,leaf1-r2/4"};
  before.add(3, "fabric.link.loss", "mlx5_6");

  const auto answers = read_swapped_cables(before.read(), after.read(), plan());

  ASSERT_FALSE(answers);
  EXPECT_THAT(answers.error().what, HasSubstr("not measured after the exchange: n4"));
}

TEST(FabricSwap, ARunWithoutAnExchangeAnswersNothing) {
  PairsRun before, after;
  before.add(3, "fabric.link.loss", "mlx5_6");

  EXPECT_FALSE(read_swapped_cables(before.read(), after.read(), plan()));
}

}  // namespace
}  // namespace cupel::requalify
