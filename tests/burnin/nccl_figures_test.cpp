// What a collective's rates are shown with: nccl-tests' table, published figures, its transport.
#include "burnin/fabric/nccl_figures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "burnin/fabric/nccl_transport.h"

namespace cupel::burnin::fabric {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void add(BurnReport& report, std::string name, double value, int bytes) {
  report.results.push_back({.name = std::move(name),
                            .labels = {{"op", "all_reduce"}, {"bytes", fmt::format("{}", bytes)}},
                            .value = value});
}

TeamRun run_of(std::size_t nodes, std::string_view gpu, std::string_view algorithm, double bus) {
  TeamRun run{.ranks_each = 8};
  run.team.name = "all";
  for (std::size_t node = 0; node < nodes; ++node) {
    AcrossReport report{.status = 0};
    report.burn.started = true;
    report.burn.gpus = {{.name = std::string{gpu}}};
    report.burn.end = BurnEnd{.complete = true};
    if (!algorithm.empty()) report.variables["NCCL_ALGO"] = algorithm;
    for (const int bytes : {1024, 4096}) {
      add(report.burn, "across.time", 10 + static_cast<double>(node), bytes);
      add(report.burn, "across.algbw", bus / 2, bytes);
      add(report.burn, "across.busbw", bus - static_cast<double>(node), bytes);
    }
    run.team.members.push_back(node);
    run.reports.emplace_back(std::move(report));
  }
  return run;
}

TEST(NcclFigures, PrintsTheSlowestRankOfEachSizeInTheUnitsOfNcclTests) {
  EXPECT_THAT(
      rate_table(run_of(3, "NVIDIA H100 80GB HBM3", "", 100)),
      ElementsAre("all_reduce size 1024 B, time 12.0 us, algbw 50.00 GB/s, busbw 98.00 GB/s",
                  "all_reduce size 4096 B, time 12.0 us, algbw 50.00 GB/s, busbw 98.00 "
                  "GB/s"));
}

TEST(NcclFigures, FindsWhatWasPublishedOfAsManyNodesOfTheGenerationAndAlgorithm) {
  const auto busbw = [](const TeamRun& run) {
    const auto* found = published_for(run, "all_reduce");
    return found == nullptr ? 0 : found->busbw;
  };

  EXPECT_EQ(busbw(run_of(4, "NVIDIA H100 80GB HBM3", "", 1)), 391.1);
  EXPECT_EQ(busbw(run_of(4, "NVIDIA H200", "", 1)), 391.1);
  EXPECT_EQ(busbw(run_of(4, "NVIDIA GH200 480GB", "", 1)), 0) << "another machine";
  EXPECT_EQ(busbw(run_of(2, "NVIDIA H100 80GB HBM3", "ring", 1)), 368);
  EXPECT_EQ(busbw(run_of(2, "NVIDIA H100 80GB HBM3", "", 1)), 479.28);
  EXPECT_EQ(busbw(run_of(3, "NVIDIA H100 80GB HBM3", "", 1)), 0);
  EXPECT_EQ(busbw(run_of(4, "NVIDIA A100-SXM4-80GB", "", 1)), 0);
  auto few = run_of(4, "NVIDIA H100 80GB HBM3", "", 1);
  few.ranks_each = 4;
  EXPECT_EQ(busbw(few), 0);
  auto rack = run_of(18, "NVIDIA GB200", "", 1);
  EXPECT_EQ(busbw(rack), 0) << "of four GPUs a tray";
  rack.ranks_each = 4;
  EXPECT_EQ(busbw(rack), 834.57);
  EXPECT_EQ(busbw(run_of(4, "NVIDIA B200", "", 1)), 0);
}

TEST(NcclFigures, StandBesideTheMeasuredRate) {
  const std::vector<TeamRun> runs{run_of(4, "NVIDIA H100 80GB HBM3", "", 394.1)};
  const std::vector<std::string> nodes{"n1", "n2", "n3", "n4"};

  const auto found = across_findings(runs, nodes, {}, 0, std::vector<bool>(4));

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& member : found->members) {
    const auto published =
        std::ranges::find(member.measurements, "nccl.all_reduce.published", &Measurement::name);
    ASSERT_NE(published, member.measurements.end());
    EXPECT_NEAR(published->value, 100, 1e-9);
    EXPECT_EQ(published->traced_to,
              "391.1 GB/s on 4 nodes of H100 (OCI, 16 GiB, NCCL 2.19.3): NVIDIA/nccl#1222");
  }
  EXPECT_THAT(found->reasons, Contains(HasSubstr("busbw 391.10 GB/s; 100 % of 391.1 GB/s on 4")));
  EXPECT_THAT(found->reasons, Contains(HasSubstr("all: all_reduce size 1024 B")));
}

TEST(NcclFigures, IgnoreLinesOfLaterTeams) {
  constexpr std::size_t kTeams = 100, kEach = 3;
  std::vector<TeamRun> runs;
  for (std::size_t team = 0; team < kTeams; ++team) {
    auto& run = runs.emplace_back(run_of(kEach, "NVIDIA H100 80GB HBM3", "", 100));
    run.team.name = fmt::format("team{}", team + 1);
    for (auto& member : run.team.members) member += team * kEach;
  }
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < kTeams * kEach; ++i) nodes.push_back(fmt::format("n{}", i + 1));

  const auto found = across_findings(runs, nodes, {}, 0, std::vector<bool>(nodes.size()));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->reasons, Contains(HasSubstr("team100: all_reduce of 4096 bytes")));
  EXPECT_THAT(found->reasons, Contains(HasSubstr("team1: all_reduce size 1024 B")));
}

TEST(NcclFigures, StandInTheDocumentation) {
  std::ostringstream page;
  page << std::ifstream{SOURCE_DIR "/docs/do/fabric.md"}.rdbuf();
  for (const auto& rate : published_rates())
    EXPECT_THAT(page.str(), HasSubstr(fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |",
                                                  rate.operation, rate.gpu, rate.nodes,
                                                  rate.algorithm.empty() ? "-" : rate.algorithm,
                                                  rate.busbw, rate.where, rate.source)));
}

TEST(NcclTransport, SaysThatAGidIndexIsASettingOfRoce) {
  const auto findings_of = [](bool infiniband, bool roce, std::string value) {
    const AcrossReport report{.variables = {{"NCCL_IB_GID_INDEX", std::move(value)}},
                              .has_infiniband = infiniband,
                              .has_roce = roce};
    const std::array reports{&report, static_cast<const AcrossReport*>(nullptr), &report};
    const std::vector<std::string> nodes{"n1", "n2", "n3"};
    return roce_settings_on_infiniband(reports, nodes);
  };

  EXPECT_THAT(findings_of(true, false, "3"),
              ElementsAre(HasSubstr("NCCL_IB_GID_INDEX=3 is set on n[1,3], whose HCAs are "
                                    "InfiniBand")));
  EXPECT_THAT(findings_of(false, true, "3"), ElementsAre());
  EXPECT_THAT(findings_of(true, true, "3"), ElementsAre()) << "some of its HCAs are RoCE";
  EXPECT_THAT(findings_of(true, false, "-1"), ElementsAre()) << "NCCL chooses";
}

TEST(NcclTransport, AcceptsTcpWhereTheSiteRequestsIt) {
  EXPECT_TRUE(asks_for_tcp({{"NCCL_NET", "Socket"}}));
  EXPECT_TRUE(asks_for_tcp({{"NCCL_IB_DISABLE", "1"}}));
  EXPECT_FALSE(asks_for_tcp({{"NCCL_NET", "IB"}, {"NCCL_IB_DISABLE", "0"}}));
}

}  // namespace
}  // namespace cupel::burnin::fabric
