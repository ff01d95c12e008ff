// What the operating system sees of settings that a BMC reports as set.
#include "orchestrator/settings/os_view.h"

#include "tests/orchestrator/settings/reported.h"

namespace cupel::settings {
namespace {

burnin::Findings two_sockets(double iommu, double nodes, double threads) {
  burnin::Findings facts;
  facts.measurements = {{.name = "iommu.on", .value = iommu},
                        {.name = "numa.nodes", .value = nodes},
                        {.name = "cpu.count", .value = 2},
                        {.name = "cpu.threads", .value = threads}};
  for (const auto* name : {"cpu0", "cpu1"}) {
    auto& cpu = facts.parts.emplace_back();
    cpu.kind = inventory::PartKind::cpu;
    cpu.name = name;
    cpu.count = 56;
  }
  return facts;
}

const std::vector<inventory::ExpectedPortable> kWanted{
    {"iommu", "on"}, {"numa_per_socket", "2"}, {"smt", "off"}, {"sol", "on"}};

TEST(OsView, ConfirmsWhatTheKernelSees) {
  const auto view = os_view(kWanted, two_sockets(1, 4, 112));

  EXPECT_THAT(view.confirmed, ElementsAre("iommu", "numa_per_socket", "smt"));
  EXPECT_THAT(view.contradicted, IsEmpty());
}

TEST(OsView, NamesWhatTheKernelSeesOtherwiseWithItsMeasure) {
  const auto view = os_view(kWanted, two_sockets(0, 2, 224));

  EXPECT_THAT(
      view.contradicted,
      ElementsAre("iommu is off to the operating system (iommu.on 0), wanted on",
                  "numa_per_socket is 1 to the operating system (numa.nodes 2, cpu.count 2), "
                  "wanted 2",
                  "smt is on to the operating system (cpu.threads 224 of 112 cores), wanted off"));
}

TEST(OsView, SaysNothingOfWhatWasNotMeasured) {
  const auto view = os_view(kWanted, {});

  EXPECT_THAT(view.confirmed, IsEmpty());
  EXPECT_THAT(view.contradicted, IsEmpty());
}

TEST(OsView, DoesNotJudgeNumaNodesThatDoNotDivideBySockets) {
  const auto view = os_view({{"numa_per_socket", "1"}}, two_sockets(1, 3, 224));

  EXPECT_THAT(view.contradicted, IsEmpty());
  EXPECT_THAT(view.confirmed, IsEmpty());
}

burnin::Findings with_acs(double iommu, double first, double second) {
  burnin::Findings facts;
  facts.measurements = {{.name = "iommu.on", .value = iommu},
                        {.name = "pcie.acs", .part = "gpu0", .value = first},
                        {.name = "pcie.acs", .part = "gpu1", .value = second}};
  return facts;
}

TEST(OsView, TakesAcsFromTheBridgesAboveTheDevices) {
  const auto on = os_view({{"acs", "on"}}, with_acs(1, 0, 2));
  const auto off = os_view({{"acs", "off"}}, with_acs(0, 0, 0));
  const auto redirected = os_view({{"acs", "off"}}, with_acs(1, 0, 2));
  const auto missing = os_view({{"acs", "on"}}, with_acs(1, 0, 0));

  EXPECT_THAT(on.confirmed, ElementsAre("acs"));
  EXPECT_THAT(off.confirmed, ElementsAre("acs"));
  EXPECT_THAT(
      redirected.contradicted,
      ElementsAre("acs is on to the operating system (pcie.acs of 1 of 2 devices), wanted off"));
  EXPECT_THAT(
      missing.contradicted,
      ElementsAre("acs is off to the operating system (pcie.acs of 0 of 2 devices), wanted on"));
}

/// The kernel turns ACS on for its IOMMU alone.
TEST(OsView, DoesNotJudgeThatAcsIsOnWhereTheKernelUsesNoIommu) {
  const auto view = os_view({{"acs", "on"}}, with_acs(0, 0, 0));

  EXPECT_THAT(view.contradicted, IsEmpty());
  EXPECT_THAT(view.confirmed, IsEmpty());
}

}  // namespace
}  // namespace cupel::settings
