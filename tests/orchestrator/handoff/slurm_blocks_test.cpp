// Slurm's topology/block of NVL72 racks, and what is refused before it is written.
#include "orchestrator/handoff/slurm_blocks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/criterion.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"

namespace cupel::handoff {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kOne = "0a1b2c3d-0000-4000-8000-000000000001";
constexpr auto kOther = "0a1b2c3d-0000-4000-8000-000000000002";
using Sizes = std::vector<std::size_t>;

class SlurmBlocks : public ::testing::Test {
 protected:
  SlurmBlocks() {
    inventory::Profile tray;
    inventory::Criterion joined;
    joined.stage = "gpu-facts";
    joined.measure = "gpu.fabric.joined";
    tray.criteria.push_back(joined);
    inventory_.profiles.emplace("tray", tray);
    inventory_.profiles.emplace("dgx", inventory::Profile{});
  }
  inventory::Node& add(const std::string& name, const std::string& rack,
                       const std::string& profile) {
    auto& node = inventory_.nodes.emplace_back();
    node.name = node.slurm_name = name;
    node.rack = rack;
    node.profile = profile;
    return node;
  }
  void add_rack(const std::string& rack, int trays, const char* cluster,
                std::uint32_t clique = 32766, int first = 1) {
    for (int i = first; i < first + trays; ++i) {
      const auto name = fmt::format("{}-n{:02}", rack, i);
      add(name, rack, "tray");
      domains_[name] = {cluster, clique};
    }
  }
  PlannedBlocks plan(Sizes sizes = {}) const {
    return plan_blocks(inventory_, domains_, std::move(sizes));
  }

  inventory::Inventory inventory_{};
  DomainsByNode domains_{};
};

TEST_F(SlurmBlocks, AreOneForEachRackWithABaseThatLetsATrayBeOut) {
  add_rack("a01", 18, kOne);
  add_rack("a02", 18, kOther);

  const auto planned = plan();

  EXPECT_THAT(planned.problems, IsEmpty());
  EXPECT_EQ(
      block_topology_conf(planned.topology),
      "# topology.conf\n"
      "# Blocks are NVLink domains (ClusterUUID.CliqueId of the GPUs). In slurm.conf:\n"
      "# TopologyPlugin=topology/block\n"
      "# Slurm 23.11 and later. Slurm 22.05, as in Debian 12, has no topology/block: it cannot use "
      "this file.\n"
      "# Without --segment a job that finds no room in one rack may span two: keep it together\n"
      "# with sbatch --segment=N, of at most 16 nodes.\n"
      "# Drain a tray that is out, and leave it in its line: a block below the base of 16 stops\n"
      "# slurmctld 24.11.\n"
      "# a01: 0a1b2c3d-0000-4000-8000-000000000001.32766\n"
      "# a02: 0a1b2c3d-0000-4000-8000-000000000002.32766\n"
      "BlockName=a01 Nodes=a01-n[01-18]\n"
      "BlockName=a02 Nodes=a02-n[01-18]\n"
      "BlockSizes=16,32\n");
}

TEST_F(SlurmBlocks, AreWrittenAsYamlForLaterVersions) {
  add_rack("a01", 18, kOne);

  const auto text = block_topology_yaml(plan().topology);

  EXPECT_THAT(text, HasSubstr("# Slurm 25.05 and later, and hides topology.conf without a word."));
  EXPECT_THAT(text, HasSubstr("- topology: nvlink\n"
                              "  cluster_default: true\n"
                              "  block:\n"
                              "    block_sizes: [16]\n"
                              "    blocks:\n"
                              "      - {block: \"a01\", nodes: \"a01-n[01-18]\"}\n"));
}

TEST_F(SlurmBlocks, HaveTheBaseOfTheSmallestRack) {
  add_rack("a01", 18, kOne);
  add_rack("a02", 9, kOther);

  EXPECT_EQ(plan().topology.sizes, (Sizes{8, 16}));
}

TEST_F(SlurmBlocks, OfOneTrayHaveABaseOfOne) {
  add_rack("a01", 1, kOne);

  EXPECT_EQ(plan().topology.sizes, Sizes{1});
}

TEST_F(SlurmBlocks, GoByPartitionWhereARackHasSeveral) {
  add_rack("a01", 12, kOne, 5);
  add_rack("a01", 6, kOne, 7, 13);

  const auto planned = plan();

  EXPECT_THAT(planned.problems, IsEmpty());
  const auto text = block_topology_conf(planned.topology);
  EXPECT_THAT(text, HasSubstr("BlockName=a01-5 Nodes=a01-n[01-12]\n"
                              "BlockName=a01-7 Nodes=a01-n[13-18]\n"
                              "BlockSizes=4,8\n"));
}

TEST_F(SlurmBlocks, LeaveOutNodesOfNoDomainAndSaySo) {
  add_rack("a01", 18, kOne);
  add("dgx-1", "b01", "dgx");
  add("dgx-2", "b01", "dgx");

  const auto planned = plan();

  EXPECT_THAT(planned.problems, IsEmpty());
  EXPECT_THAT(block_topology_conf(planned.topology),
              HasSubstr("# In no block, since they are of no NVLink domain: dgx-[1-2]\n"));
}

TEST_F(SlurmBlocks, AreRefusedWhileTheDomainOfATrayIsNotKnown) {
  add_rack("a01", 18, kOne);
  domains_.erase("a01-n03");
  domains_.erase("a01-n07");

  EXPECT_THAT(plan().problems,
              ElementsAre("no recent run has read one NVLink domain of all joined GPUs of a01-n03, "
                          "a01-n07: cupel run audit --nodes a01-n[03,07]"));
}

TEST_F(SlurmBlocks, AreRefusedWhereTraysContradictEachOther) {
  add_rack("a01", 17, kOne);
  add_rack("a01", 1, kOther, 32766, 18);

  EXPECT_THAT(plan({1}).problems, ElementsAre(HasSubstr("a01-n18 is in NVLink domain")));
}

TEST_F(SlurmBlocks, AreRefusedWithABaseThatStopsSlurmctld) {
  add_rack("a01", 18, kOne);
  add_rack("a02", 17, kOther);

  EXPECT_THAT(plan({18}).problems,
              ElementsAre("block a02 has 17 nodes, fewer than the base block of 18: slurmctld "
                          "24.11 does not start with it; give a smaller base with --block-sizes"));
}

TEST_F(SlurmBlocks, AreRefusedWithASizeThatIsNoMultipleByAPowerOfTwo) {
  add_rack("a01", 18, kOne);

  for (const auto size : {24u, 48u, 8u, 16u})
    EXPECT_THAT(plan({16, size}).problems,
                ElementsAre(fmt::format("block size {} is not the base block of 16 times a growing "
                                        "power of two: slurmctld does not start with it",
                                        size)))
        << size;
  EXPECT_THAT(plan({16, 32, 64}).problems, IsEmpty());
}

TEST_F(SlurmBlocks, AreRefusedWithANodeInTwoOfThem) {
  add_rack("a01", 18, kOne);
  add_rack("a02", 18, kOther);
  inventory_.nodes.back().slurm_name = "a01-n01";

  EXPECT_THAT(plan().problems, ElementsAre("a01-n01 is in two blocks, a01 and a02: slurmctld takes "
                                           "it without a word"));
}

TEST_F(SlurmBlocks, SayAllThatIsWrongAtOnce) {
  add_rack("a01", 18, kOne);
  add_rack("a02", 18, kOther);
  domains_.erase("a02-n18");

  EXPECT_THAT(plan({18, 20}).problems,
              ElementsAre(HasSubstr("a02-n18"), HasSubstr("block a02 has 17 nodes"),
                          HasSubstr("block size 20")));
}

TEST_F(SlurmBlocks, NeedANodeThatIsInADomain) {
  add("dgx-1", "b01", "dgx");

  EXPECT_THAT(plan().problems, ElementsAre("no node of Slurm has a profile whose machines are in "
                                           "an NVLink domain"));
}

TEST(BlockSizes, AreReadOrRefused) {
  EXPECT_EQ(parse_block_sizes("16, 32").value(), (Sizes{16, 32}));
  for (const auto* wrong : {"", "16,", "0", "-1", "16;32", "1,2,4,8,16,32,64,128,256", "99999"})
    EXPECT_EQ(parse_block_sizes(wrong).error().code, Code::kInvalid) << wrong;
}

}  // namespace
}  // namespace cupel::handoff
