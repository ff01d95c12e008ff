// Packets that were sent again while pairs of nodes were measured: which link loses them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "burnin/criteria/judge.h"
#include "burnin/fabric/pair_jobs.h"
#include "burnin/fabric/pair_retransmits.h"
#include "burnin/fabric/rounds.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kNodes = 64, kGroup = 32, kRails = 2;

/// Two leaf groups; a leaf for each group and rail.
fabric::Topology two_groups() {
  fabric::Wiring wiring{.nodes = kNodes, .rails = kRails, .leaves = 4, .spines = 4, .uplinks = 32};
  for (int node = 0; node < kNodes; ++node)
    for (int rail = 0; rail < kRails; ++rail)
      wiring.ports.push_back({node / kGroup * kRails + rail, node % kGroup});
  for (int uplink = 0; uplink < 4 * 32; ++uplink) wiring.spine_of_uplink.push_back(uplink % 4);
  return fabric::Topology{std::move(wiring)};
}

fabric::Names names() {
  fabric::Names names;
  for (int node = 0; node < kNodes; ++node) {
    names.nodes.push_back(fmt::format("n{}", node + 1));
    names.hcas.insert(names.hcas.end(), {"mlx5_0", "mlx5_6"});
  }
  return names;
}

struct Found {
  std::vector<std::string> named{};  // "n3 mlx5_6 12"
  std::size_t reported = 0;          // links
  std::vector<std::string> reasons{};
};

/// All fixed rounds. `packets`: sent again on a flow.
template <class Packets>
Found after_rounds(const fabric::Topology& topology, const Packets& packets) {
  fabric::PairRetransmits retransmits{topology};
  for (const auto& round : fabric::fixed_rounds(topology))
    for (const auto& pair : round) {
      std::vector<fabric::Flow> flows;
      fabric::add_flows(topology, pair, flows);
      for (const auto& flow : flows) retransmits.take(flow, packets(flow));
    }
  GroupFindings all;
  all.members.resize(kNodes);
  retransmits.add_to(names(), all);
  Found found{.reasons = all.reasons};
  for (std::size_t node = 0; node < kNodes; ++node)
    for (const auto& each : all.members[node].measurements) {
      ++found.reported;
      if (each.value > 0)
        found.named.push_back(fmt::format("n{} {} {}", node + 1, each.part, each.value));
    }
  return found;
}

TEST(PairRetransmits, NameTheLinkOverWhichEachPartnersFlowLosesPackets) {
  const auto topology = two_groups();
  for (const bool out : {true, false}) {
    const auto found = after_rounds(topology, [&](const fabric::Flow& flow) {
      return flow.rail == 1 && (out ? flow.from : flow.to) == 2 ? 12u : 0u;
    });

    EXPECT_THAT(found.named, ElementsAre("n3 mlx5_6 12")) << out;
    EXPECT_EQ(found.reported, static_cast<std::size_t>(kNodes * kRails));
    EXPECT_THAT(found.reasons, ElementsAre(HasSubstr("packets were sent again on 3 of 384 flows")));
  }
}

// A damaged cable mostly loses packets both ways: neither way is the leaf's doing for the other.
TEST(PairRetransmits, NameTheLinkThatLosesPacketsBothWays) {
  const auto topology = two_groups();
  const auto found = after_rounds(topology, [&](const fabric::Flow& flow) {
    return flow.rail == 1 && (flow.from == 2 || flow.to == 2) ? 12u : 0u;
  });

  EXPECT_THAT(found.named, ElementsAre("n3 mlx5_6 12"));
  EXPECT_EQ(found.reported, static_cast<std::size_t>(kNodes * kRails));
}

TEST(PairRetransmits, NameEachOfAFewLinksOfOneLeaf) {
  const auto topology = two_groups();
  const auto is_bad = [](int node) { return node == 2 || node == 9 || node == 20; };
  const auto found = after_rounds(topology, [&](const fabric::Flow& flow) {
    return flow.rail == 1 && (is_bad(flow.from) || is_bad(flow.to)) ? 12u : 0u;
  });

  EXPECT_THAT(found.named, ElementsAre("n3 mlx5_6 12", "n10 mlx5_6 12", "n21 mlx5_6 12"));
}

TEST(PairRetransmits, NameNoLinkForOneFlowThatLosesPackets) {
  const auto topology = two_groups();
  const auto found = after_rounds(
      topology, [](const fabric::Flow& flow) { return flow.from == 2 && flow.to == 3 ? 12u : 0u; });

  EXPECT_THAT(found.named, IsEmpty());
  EXPECT_EQ(found.reported, static_cast<std::size_t>(kNodes * kRails)) << "all are cleared";
}

TEST(PairRetransmits, NameNoLinkWhereALeafOrAllFlowsLosePackets) {
  const auto topology = two_groups();
  const auto on_leaf = [&](int node, int rail) { return topology.port(node, rail).leaf == 1; };

  const auto of_leaf = after_rounds(topology, [&](const fabric::Flow& flow) {
    return on_leaf(flow.from, flow.rail) || on_leaf(flow.to, flow.rail) ? 30u : 0u;
  });
  const auto of_all = after_rounds(topology, [](const fabric::Flow&) { return 30u; });
  const auto across = after_rounds(
      topology, [&](const fabric::Flow& flow) { return topology.across(flow) ? 30u : 0u; });

  for (const auto* found : {&of_leaf, &of_all, &across}) {
    EXPECT_THAT(found->named, IsEmpty());
    EXPECT_THAT(found->reasons, Contains(HasSubstr("packets were sent again on ")));
  }
  EXPECT_EQ(of_all.reported, 0u) << "not decided is no zero";
  EXPECT_EQ(across.reported, static_cast<std::size_t>(kNodes * kRails));
}

TEST(PairRetransmits, NameNoHealthyLinkOfAFleetWhoseFlowsLosePacketsByChance) {
  const auto topology = two_groups();
  for (const double share : {0.02, 0.1, 0.3, 0.7})
    for (unsigned seed = 1; seed <= 50; ++seed) {
      std::minstd_rand draw{seed};
      std::bernoulli_distribution loses{share};

      const auto found =
          after_rounds(topology, [&](const fabric::Flow&) { return loses(draw) ? 5u : 0u; });

      EXPECT_THAT(found.named, IsEmpty()) << share << ", seed " << seed;
    }
}

TEST(PairRetransmits, CountALinkThatLostNothingInASecondReadingOfAFlowAsCleared) {
  const auto topology = two_groups();
  fabric::PairRetransmits retransmits{topology};
  for (const std::uint64_t packets : {7u, 0u}) retransmits.take({0, 1, 0}, packets);
  retransmits.take({1, 0, 0}, 0);
  GroupFindings found;
  found.members.resize(kNodes);

  retransmits.add_to(names(), found);

  EXPECT_EQ(value_of(found.members[0], "fabric.link.retransmits", "mlx5_0"), 0);
  EXPECT_EQ(value_of(found.members[2], "fabric.link.retransmits", "mlx5_0"), std::nullopt)
      << "no flow of it was counted";
}

/// What the node's script prints of its counters, and of its flow.
std::string printed(std::string_view hca, int before, int after) {
  const auto counters = [&](std::string_view section, int naks) {
    return fmt::format(
        "cupel-begin: {0}\n"
        "/sys/class/infiniband/{1}/ports/1/hw_counters/packet_seq_err:{2}\n"
        "/sys/class/infiniband/{1}/ports/1/hw_counters/local_ack_timeout_err:3\n"
        "cupel-end\n",
        section, hca, naks);
  };
  return counters("counted-before", before) + counters("counted-after", after);
}

TEST(PairRetransmits, AreWhatTheDriverCountedWhileTheFlowRan) {
  EXPECT_EQ(fabric::retransmits_of({printed("mlx5_6", 40, 52), "", 0}, "mlx5_6"), 12u);
  EXPECT_EQ(fabric::retransmits_of({printed("mlx5_6", 40, 40), "", 0}, "mlx5_6"), 0u);
  EXPECT_EQ(fabric::retransmits_of({printed("mlx5_6", 40, 52), "", 0}, "mlx5_0"), std::nullopt);
  EXPECT_EQ(fabric::retransmits_of({printed("mlx5_6", 52, 40), "", 0}, "mlx5_6"), std::nullopt)
      << "the driver was loaded again";
  EXPECT_EQ(fabric::retransmits_of({"", "", 0}, "mlx5_6"), std::nullopt);
}

TEST(PairRetransmits, FailTheLinkWhoseBandwidthLooksWell) {
  constexpr int kFew = 8, kBad = 3;
  std::vector<Member> nodes;
  for (int i = 0; i < kFew; ++i)
    nodes.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  const inventory::Profile none;
  const auto begun = stage("fabric-pairs")
                         ->group->rounds({none, nodes, {{"hcas", "mlx5_0"}, {"group", "8"}}})
                         .value();

  for (auto jobs = begun->next(); !jobs.empty(); jobs = begun->next()) {
    std::vector<std::optional<Output>> outputs(kFew);
    for (std::size_t i = 0; i < kFew; ++i) {
      if (!jobs[i]) continue;
      const bool loses = sends_to(order_of(*jobs[i]), fmt::format("10.0.0.{}", kBad + 1));
      outputs[i] = Output{
          printed("mlx5_0", 40, loses ? 52 : 40) +
              "cupel-begin: rail0\n"
              " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
              " 1048576          465000           0.00               390.00            0.046\n"
              "cupel-end\n",
          "", 0};
    }
    begun->take(outputs, std::vector<bool>(kFew));
  }

  const auto found = begun->findings().value();
  for (std::size_t i = 0; i < kFew; ++i) {
    std::vector<std::string> failed;
    for (const auto& each :
         judge(profile(), {"fabric-pairs"}, {{"fabric-pairs", found.members[i]}}))
      if (each.met == Met::failed) failed.push_back(each.part + " " + each.measure);
    if (i == kBad)
      EXPECT_THAT(failed, ElementsAre("mlx5_0 fabric.link.retransmits"));
    else
      EXPECT_THAT(failed, IsEmpty()) << i;
  }
}

}  // namespace
}  // namespace cupel::burnin
