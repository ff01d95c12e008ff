// What fabric-pairs measures beside bandwidth: latencies by pairs, and GPU memory where perftest
// and the node have it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "burnin/fabric/pair_jobs.h"
#include "burnin/fabric/pair_latency.h"
#include "burnin/group_stage.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kNodes = 8;

fabric::Wiring one_group() {
  fabric::Wiring wiring{.nodes = kNodes, .rails = 2, .leaves = 2};
  for (int node = 0; node < kNodes; ++node)
    for (const int rail : {0, 1}) wiring.ports.push_back({rail, node});
  return wiring;
}

fabric::Names names() {
  fabric::Names names;
  for (int node = 0; node < kNodes; ++node) {
    names.nodes.push_back(fmt::format("n{}", node + 1));
    names.hcas.insert(names.hcas.end(), {"mlx5_0", "mlx5_6"});
  }
  return names;
}

std::optional<double> number_of(const Findings& findings, std::string_view name,
                                std::string_view part) {
  for (const auto& each : findings.measurements)
    if (each.name == name && each.part == part) return each.value;
  return std::nullopt;
}

/// `microseconds`: of a flow.
template <class Microseconds>
GroupFindings measured(const Microseconds& microseconds) {
  const fabric::Topology topology{one_group()};
  fabric::PairLatency latency{topology};
  while (!latency.next_flows().empty()) {
    std::vector<double> readings;
    for (const auto& flow : latency.next_flows()) readings.push_back(microseconds(flow));
    latency.take(readings);
  }
  GroupFindings found;
  found.members.resize(kNodes);
  latency.add_to(names(), found);
  return found;
}

TEST(PairLatency, NamesTheLinkThatIsLateWithEachPartner) {
  const auto found = measured([](const fabric::Flow& flow) {
    const bool late = flow.rail == 1 && (flow.from == 4 || flow.to == 4);
    return late ? 3.0 : 2.0 + 0.01 * ((flow.from + flow.to) % 3);
  });

  EXPECT_NEAR(number_of(found.members[4], "fabric.link.lag", "mlx5_6").value_or(0), 49, 2);
  EXPECT_EQ(number_of(found.members[4], "fabric.link.latency", "mlx5_6"), 3);
  EXPECT_EQ(number_of(found.members[4], "fabric.link.lag", "mlx5_0"), 0);
  for (const std::size_t other : {0u, 3u, 5u, 7u})
    EXPECT_EQ(number_of(found.members[other], "fabric.link.lag", "mlx5_6"), 0) << other;
  EXPECT_THAT(found.reasons, Contains(HasSubstr("latency inside a leaf: usually 2.0")));
}

TEST(PairLatency, TakesTheFleetsOwnNoiseForNoLag) {
  const auto found = measured(
      [](const fabric::Flow& flow) { return 2.0 + 0.3 * ((3 * flow.from + flow.to) % 4); });

  for (const auto& member : found.members)
    EXPECT_EQ(number_of(member, "fabric.link.lag", "mlx5_0"), 0);
}

TEST(PairLatency, SaysNothingOfLinksThatWereNotMeasured) {
  const auto found = measured(
      [](const fabric::Flow& flow) { return flow.from == 0 || flow.to == 0 ? std::nan("") : 2.0; });

  EXPECT_EQ(number_of(found.members[0], "fabric.link.latency", "mlx5_0"), std::nullopt);
  EXPECT_EQ(number_of(found.members[0], "fabric.link.lag", "mlx5_0"), std::nullopt);
  EXPECT_EQ(number_of(found.members[1], "fabric.link.lag", "mlx5_0"), 0);
}

std::string bandwidth() {
  return " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
         " 1048576          465000           0.00               390.00            0.046\n";
}

std::string times(double typical) {
  return fmt::format(
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
      " 2       2000          1.90           5.60         {:.2f}               2.16             "
      "0.04 "
      "          2.41            3.97   \n",
      typical);
}

/// All rounds on eight nodes of one rail.
Result<GroupFindings> run(const Parameters& more, int& bandwidth_rounds, int& latency_rounds,
                          const std::string& output = {}) {
  Parameters with{{"hcas", "mlx5_0"}, {"group", "8"}};
  with.insert(more.begin(), more.end());
  std::vector<Member> nodes;
  for (int i = 0; i < kNodes; ++i)
    nodes.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  const inventory::Profile profile;
  TRY(const auto begun, stage("fabric-pairs")->group->rounds({profile, nodes, with}));
  const std::vector<bool> left(kNodes);
  for (auto jobs = begun->next(); !jobs.empty(); jobs = begun->next()) {
    std::vector<std::optional<Output>> outputs(kNodes);
    bool is_latency = false;
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (!jobs[i]) continue;
      is_latency = jobs[i]->script.contains("ib_send_lat");
      EXPECT_EQ(order_of(*jobs[i]).at("latency").as_bool(), is_latency);
      const auto text = is_latency ? times(2.1) : bandwidth();
      outputs[i] = Output{
          fmt::format("{}cupel-begin: rail0\n{}\ncupel-end\n", i == 2 ? output : "", text), "", 0};
    }
    ++(is_latency ? latency_rounds : bandwidth_rounds);
    begun->take(outputs, left);
  }
  return begun->findings();
}

TEST(FabricPairsLatency, IsMeasuredAfterTheBandwidthWhereItIsAskedFor) {
  int bandwidth = 0, latency = 0, none = 0;

  const auto with = run({{"latency", "yes"}}, bandwidth, latency);
  const auto without = run({}, bandwidth, none);

  ASSERT_TRUE(with) << with.error().what;
  EXPECT_EQ(latency, 3) << "the rounds inside one group";
  EXPECT_EQ(none, 0);
  for (const auto& member : with->members) {
    EXPECT_EQ(number_of(member, "fabric.link.latency", "mlx5_0"), 2.1);
    EXPECT_EQ(number_of(member, "fabric.link.bandwidth", "mlx5_0"), 390);
  }
  ASSERT_TRUE(without) << without.error().what;
  EXPECT_EQ(number_of(without->members[0], "fabric.link.latency", "mlx5_0"), std::nullopt);
}

TEST(FabricPairsLatency, GoesWithoutANodeThatLeftWhileBandwidthWasMeasured) {
  std::vector<Member> nodes;
  for (int i = 0; i < kNodes; ++i)
    nodes.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  const inventory::Profile profile;
  const Parameters with{{"hcas", "mlx5_0"}, {"group", "8"}, {"latency", "yes"}};
  const auto begun = stage("fabric-pairs")->group->rounds({profile, nodes, with});
  ASSERT_TRUE(begun) << begun.error().what;
  std::vector<bool> left(kNodes);
  left[2] = true;
  int latency = 0;

  for (auto jobs = (*begun)->next(); !jobs.empty(); jobs = (*begun)->next()) {
    std::vector<std::optional<Output>> outputs(kNodes);
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (!jobs[i]) continue;
      const bool times_links = jobs[i]->script.contains("ib_send_lat");
      latency += times_links ? 1 : 0;
      if (times_links) EXPECT_THAT(jobs[i]->script, Not(HasSubstr("10.0.0.3")));
      if (times_links) EXPECT_NE(i, 2u);
      const auto text = times_links ? times(2.1) : bandwidth();
      outputs[i] = Output{fmt::format("cupel-begin: rail0\n{}\ncupel-end\n", text), "", 0};
    }
    outputs[2].reset();
    (*begun)->take(outputs, left);
  }

  EXPECT_EQ(latency, 3 * 6) << "three rounds, each of three pairs that are whole";
  const auto found = (*begun)->findings();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(number_of(found->members[2], "fabric.link.latency", "mlx5_0"), std::nullopt);
  EXPECT_EQ(number_of(found->members[3], "fabric.link.lag", "mlx5_0"), 0);
}

TEST(FabricPairsMemory, IsNeverTheHostsWhereThatOfGpusWasAskedFor) {
  int bandwidth = 0, latency = 0;
  const auto found = run({{"memory", "gpu"}}, bandwidth, latency, "cupel-memory: no-cuda\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->members[2].facts.at("fabric.memory"), HasSubstr("built without CUDA"));
  EXPECT_FALSE(found->members[1].facts.contains("fabric.memory"));
  EXPECT_THAT(found->reasons, Contains(HasSubstr("cannot be had on n3: nothing was measured")));
}

/// What the node's script printed in place of perftest's words.
std::string without_memory(std::string_view section) {
  return fmt::format("cupel-begin: {}0\nNo GPU memory: nvidia-peermem is not loaded\ncupel-end\n",
                     section);
}

TEST(FabricPairsMemory, ANodeWhoseHcasReachNoGpuIsInconclusiveAndNoOther) {
  std::vector<Member> nodes;
  for (int i = 0; i < kNodes; ++i)
    nodes.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  const inventory::Profile profile;
  const Parameters with{{"hcas", "mlx5_0"}, {"group", "8"}, {"memory", "gpu"}};
  const auto begun = stage("fabric-pairs")->group->rounds({profile, nodes, with});
  ASSERT_TRUE(begun) << begun.error().what;
  int rounds_of_n3 = 0;

  for (auto jobs = (*begun)->next(); !jobs.empty(); jobs = (*begun)->next()) {
    std::vector<std::optional<Output>> outputs(kNodes);
    rounds_of_n3 += jobs[2] ? 1 : 0;
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (!jobs[i]) continue;
      const bool meets_n3 = sends_to(order_of(*jobs[i]), "10.0.0.3");
      outputs[i] =
          Output{i == 2 ? "cupel-memory: none\n" + without_memory("server") + without_memory("rail")
                 : meets_n3 ? std::string{"cupel-begin: rail0\nCouldn't connect to 10.0.0.3:18515\n"
                                          "cupel-end\n"}
                            : fmt::format("cupel-begin: rail0\n{}\ncupel-end\n", bandwidth()),
                 "", 0};
    }
    (*begun)->take(outputs, std::vector<bool>(kNodes));
  }

  EXPECT_EQ(rounds_of_n3, 1) << "no partner waits for it again";
  const auto found = (*begun)->findings();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->members[2].facts.at("fabric.memory"), HasSubstr("neither nvidia-peermem"));
  EXPECT_EQ(number_of(found->members[2], "fabric.undecided", "unmeasured"), 1);
  EXPECT_EQ(number_of(found->members[2], "fabric.link.loss", "mlx5_0"), std::nullopt);
  for (const std::size_t other : {0u, 1u, 3u, 4u, 5u, 6u, 7u}) {
    EXPECT_EQ(number_of(found->members[other], "fabric.link.loss", "mlx5_0"), 0) << other;
    EXPECT_EQ(number_of(found->members[other], "fabric.undecided", "unmeasured"), std::nullopt);
  }
}

}  // namespace
}  // namespace cupel::burnin
