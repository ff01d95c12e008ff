// The NVLink domain of a tray, of what its GPUs report, and what its profile makes of it.
#include "burnin/gpu/gpu_domain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/consequences.h"
#include "burnin/criteria/judge.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kOne = "0a1b2c3d-0000-4000-8000-000000000001";
constexpr auto kOther = "0a1b2c3d-0000-4000-8000-000000000002";

class GpuDomain : public ::testing::Test {
 protected:
  GpuDomain() {
    for (int i = 0; i < 4; ++i)
      gpus.push_back({.gpu = fmt::format("gpu{}", i),
                      .model = "NVIDIA GB200",
                      .state = "Completed",
                      .status = "Success",
                      .cluster = kOne,
                      .clique = "32766"});
  }
  Findings found() const {
    Findings findings;
    add_domain(gpus, findings);
    expect_rows_for("gpu-facts", findings);
    return findings;
  }
  /// "gpu3 gpu.fabric.joined", of the two measures, what the tray's profile does not pass.
  std::vector<std::string> not_met() const {
    std::vector<std::string> all;
    for (const auto& each :
         judge(profile("gb200-nvl72-tray"), {"gpu-facts"}, {{"gpu-facts", found()}}))
      if (each.met != Met::met && each.measure.starts_with("gpu.fabric."))
        all.push_back(fmt::format("{}{}{} {}", each.part, each.part.empty() ? "" : " ",
                                  each.measure, to_string(each.met)));
    return all;
  }

  std::vector<GpuFabric> gpus{};
};

TEST_F(GpuDomain, IsAFactOfATrayWhoseGpusAgree) {
  const auto findings = found();

  EXPECT_EQ(findings.facts.at("nvlink.domain"), std::string{kOne} + ".32766");
  EXPECT_EQ(findings.facts.at("nvlink.domains"), "") << "an earlier reading may have had several";
  EXPECT_EQ(value_of(findings, "gpu.fabric.domains"), 1);
  EXPECT_EQ(value_of(findings, "gpu.fabric.joined", "gpu3"), 1);
  EXPECT_THAT(not_met(), IsEmpty());
}

TEST_F(GpuDomain, NamesTheGpuThatIsInAnotherDomainThanTheOthers) {
  gpus[2].cluster = kOther;

  EXPECT_THAT(not_met(), ElementsAre("gpu2 gpu.fabric.domains failed"));
  EXPECT_EQ(found().facts.at("nvlink.domain"), "") << "an earlier reading may have had one";
  EXPECT_EQ(found().facts.at("nvlink.domains"),
            fmt::format("{}.32766: gpu0, gpu1, gpu3; {}.32766: gpu2", kOne, kOther));
}

TEST_F(GpuDomain, NamesTheGpuThatIsInAnotherPartition) {
  gpus[0].clique = "5";

  EXPECT_THAT(not_met(), ElementsAre("gpu0 gpu.fabric.domains failed"));
}

TEST_F(GpuDomain, AccusesNoGpuWhereTwoReportEach) {
  gpus[0].cluster = gpus[3].cluster = kOther;

  EXPECT_THAT(not_met(), ElementsAre("gpu.fabric.domains failed"));
}

TEST_F(GpuDomain, FindsTheGpuThatHasNotJoinedAndKeepsTheDomainOfTheOthers) {
  gpus[1].clique = "0";
  gpus[3].state = "In Progress";
  gpus[3].status = gpus[3].clique = gpus[3].cluster = "";

  const auto findings = found();

  EXPECT_THAT(not_met(),
              ElementsAre("gpu1 gpu.fabric.joined failed", "gpu3 gpu.fabric.joined failed"));
  EXPECT_EQ(findings.measurements[1].traced_to, fmt::format("CliqueId 0, ClusterUUID {}", kOne));
  EXPECT_EQ(findings.measurements[3].traced_to, "its fabric state is In Progress");
  EXPECT_EQ(findings.facts.at("nvlink.domain"), std::string{kOne} + ".32766");
}

TEST_F(GpuDomain, HasNotJoinedWithoutSuccess) {
  gpus[0].status = "Insufficient Resources";

  EXPECT_THAT(not_met(), ElementsAre("gpu0 gpu.fabric.joined failed"));
}

TEST_F(GpuDomain, IsNotProvenWhereNoFabricIsReported) {
  for (auto& gpu : gpus) gpu.state = "";

  EXPECT_THAT(not_met(),
              ElementsAre("gpu0 gpu.fabric.joined missing", "gpu1 gpu.fabric.joined missing",
                          "gpu2 gpu.fabric.joined missing", "gpu3 gpu.fabric.joined missing",
                          "gpu.fabric.domains missing"));
}

TEST_F(GpuDomain, IsNoMatterOfAMachineThatIsAFabricByItself) {
  for (auto& gpu : gpus) {
    gpu.model = "NVIDIA H100 80GB HBM3";
    gpu.cluster = "00000000-0000-0000-0000-000000000000";
    gpu.clique = "0";
  }

  EXPECT_EQ(found(), Findings{});
}

TEST(Consequences, AGpuThatHasNotJoinedExplainsThatItsFabricIsNotReadyAndHasNoDomain) {
  const auto cause = [](std::string criterion) {
    Cause made{.part = "gpu1", .criterion = std::move(criterion)};
    made.quantity = {.value = 0, .at_least = 1};
    return made;
  };
  Cause unknown{.decision = Decision::inconclusive, .criterion = "gpu.fabric.domains"};
  unknown.quantity = {.at_most = 1, .unit = "count"};
  std::vector<Cause> causes{cause("gpu.fabric.ready"), cause("gpu.fabric.joined"), unknown};

  mark_consequences(causes);

  EXPECT_EQ(causes[0].consequence_of, "gpu1: gpu.fabric.joined");
  EXPECT_EQ(causes[1].consequence_of, "");
  EXPECT_EQ(causes[2].consequence_of, "gpu1: gpu.fabric.joined") << "none has joined: no domain";
}

}  // namespace
}  // namespace cupel::burnin
