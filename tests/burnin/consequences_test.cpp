// Findings and what they follow from: on the causes that rehearsals of the catalogue's faults left,
// and on faults together.
#include "burnin/consequences.h"

#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <set>

#include "base/text.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Cause read_cause(std::string_view line) {
  std::vector<std::string> cells;
  for (const auto cell : split(line, '|')) cells.emplace_back(cell);
  cells.resize(9);
  Cause cause;
  cause.decision = cells[0] == "fail" ? Decision::fail : Decision::inconclusive;
  cause.part = cells[1];
  cause.criterion = cells[2];
  cause.measured = cells[3];
  cause.expected = cells[4];
  cause.quantity = {number<double>(cells[5]), number<double>(cells[6]), number<double>(cells[7]),
                    cells[8]};
  return cause;
}

/// What was found on the node with these faults.
std::vector<Cause> rehearsed(const std::string& faults) {
  std::ifstream file{SOURCE_DIR "/tests/burnin/rehearsed_causes.txt"};
  std::vector<Cause> causes;
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('[')) here = line == "[" + faults + "]";
    if (here && !line.starts_with('[')) causes.push_back(read_cause(line));
  }
  EXPECT_FALSE(causes.empty()) << faults;
  return causes;
}

std::vector<std::string> actions_of(std::vector<Cause> causes) {
  mark_consequences(causes);
  std::vector<std::string> names;
  for (const auto& each : explained(causes)) names.push_back(cause_name(each.cause));
  return names;
}

std::vector<std::string> actions(const std::string& faults) {
  return actions_of(rehearsed(faults));
}

Cause failed(std::string part, std::string criterion, double value, double at_least) {
  Cause cause{Decision::fail, std::move(part), std::move(criterion)};
  cause.quantity = {value, at_least, std::nullopt, ""};
  return cause;
}

Cause missing(std::string part, double there, double expected) {
  return failed(std::move(part), "audit: missing", there, expected);
}

TEST(Consequences, OneFaultIsOneAction) {
  EXPECT_THAT(actions("gpu-missing"), ElementsAre("gpu5: audit: missing"));
  EXPECT_THAT(actions("gpu-off-bus"), ElementsAre("gpu3: audit: missing"));
  EXPECT_THAT(actions("gpu-off-bus-under-load"), ElementsAre("gpu3: audit: missing"));
  EXPECT_THAT(actions("gpu-off-bus-in-copies"), ElementsAre("gpu6: audit: missing"));
  EXPECT_THAT(actions("gpu-hot"), ElementsAre("gpu7: gpu.temperature"));
  EXPECT_THAT(actions("gpu-power-capped"), ElementsAre("gpu0: gpu.power.limit"));
  EXPECT_THAT(actions("gpu-pcie-x8"), ElementsAre("gpu0: gpu.pcie.width"));
  EXPECT_THAT(actions("gpu-pcie-gen4"), ElementsAre("gpu4: gpu.pcie.gen"));
  EXPECT_THAT(actions("gpu-wrong-results"), ElementsAre("gpu4: gemm.errors"));
  EXPECT_THAT(actions("gpu-busy"), ElementsAre("gpu6: gpu.idle"));
  EXPECT_THAT(actions("nvlink-down"), ElementsAre("gpu4: nvlink.active"));
  EXPECT_THAT(actions("nvlink-errors"), ElementsAre("gpu1: nvlink.crc_errors"));
  EXPECT_THAT(actions("nvswitch-fatal"), ElementsAre("nvswitch1: nvswitch.sxid"));
  EXPECT_THAT(actions("fabric-manager-off"), ElementsAre("fabricmanager: fabricmanager.active"));
  EXPECT_THAT(actions("driver-mismatch"), ElementsAre("driver: driver.mismatch"));
  EXPECT_THAT(actions("dimm-missing"), ElementsAre("dimm A3: audit: missing"));
  EXPECT_THAT(actions("dimm-uncorrected"), ElementsAre("dimm B7: edac.uncorrected"));
  EXPECT_THAT(actions("dimm-storm"), ElementsAre("dimm A5: edac.corrected"));
  EXPECT_THAT(actions("hca-missing"), ElementsAre("mlx5_7: audit: missing"));
  EXPECT_THAT(actions("nvme-missing"), ElementsAre("nvme4: audit: missing"));
  EXPECT_THAT(actions("psu-missing"), ElementsAre("psu2: audit: missing"));
  EXPECT_THAT(actions("cpu-missing"), ElementsAre("cpu1: audit: missing"));
  EXPECT_THAT(actions("cpu-throttled"), ElementsAre("cpu0: cpu.throttled"));
}

TEST(Consequences, FaultsOfDifferentPartsStaySeparate) {
  EXPECT_THAT(actions("gpu-missing gpu-hot"),
              ElementsAre("gpu5: audit: missing", "gpu2: gpu.temperature"));
  EXPECT_THAT(actions("gpu-missing gpu-missing"),
              ElementsAre("gpu1: audit: missing", "gpu5: audit: missing"));
  EXPECT_THAT(actions("gpu-missing nvlink-down"),
              ElementsAre("gpu5: audit: missing", "gpu4: nvlink.active"));
  EXPECT_THAT(actions("gpu-missing gpu-ecc"),
              ElementsAre("gpu5: audit: missing", "gpu2: gpu.ecc.uncorrected"));
  EXPECT_THAT(actions("nvswitch-fatal nvlink-down"),
              ElementsAre("nvswitch1: nvswitch.sxid", "gpu4: gpu.xid"));
  EXPECT_THAT(
      actions("gpu-off-bus nvswitch-fatal"),
      ElementsAre("gpu3: audit: missing", "nvswitch0: nvswitch.sxid", "nvswitch1: nvswitch.sxid",
                  "nvswitch2: nvswitch.sxid", "nvswitch3: nvswitch.sxid"))
      << "the switches' links are down to other GPUs, too";
  EXPECT_THAT(actions("dimm-missing dimm-missing"),
              ElementsAre("dimm A3: audit: missing", "dimm A4: audit: missing"));
}

TEST(Consequences, OfAllFaultsAtOnceNoneIsHiddenByAnother) {
  std::vector<Cause> all;
  std::set<std::string> expected;
  for (const auto* fault : {"gpu-missing", "gpu-hot", "gpu-pcie-x8", "dimm-missing", "hca-missing",
                            "nvme-missing", "psu-missing", "cpu-throttled", "dimm-storm"}) {
    for (const auto& each : rehearsed(fault)) all.push_back(each);
    for (const auto& each : actions(fault)) expected.insert(each);
  }

  const auto found = actions_of(all);

  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), expected);
}

TEST(Consequences, ACountIsExplainedOnlyAsFarAsPartsAreMissing) {
  EXPECT_THAT(actions_of({missing("gpu5", 7, 8), failed("", "burn.gpus", 7, 8)}),
              ElementsAre("gpu5: audit: missing"));
  EXPECT_THAT(actions_of({missing("gpu5", 7, 8), failed("", "burn.gpus", 6, 8)}),
              ElementsAre("gpu5: audit: missing", "burn.gpus"));
  EXPECT_THAT(actions_of({missing("gpu5", 7, 8), failed("gpu0", "p2p.pairs", 11, 14)}),
              ElementsAre("gpu5: audit: missing", "gpu0: p2p.pairs"));
  EXPECT_THAT(actions_of({missing("gpu", 6, 8), failed("", "burn.gpus", 6, 8)}),
              ElementsAre("gpu: audit: missing"))
      << "which ones are missing is not known";
}

TEST(Consequences, AMissingPartExplainsNothingOfAnotherOfItsKind) {
  EXPECT_THAT(actions_of({missing("gpu1", 7, 8), failed("gpu10", "pcie.h2d", 20, 48),
                          failed("gpu11", "gpu.pcie.width", 8, 16)}),
              ElementsAre("gpu1: audit: missing", "gpu10: pcie.h2d", "gpu11: gpu.pcie.width"));
  EXPECT_THAT(actions_of({missing("mlx5_1", 11, 12), failed("mlx5_1/1", "ib.port.rate", 0, 400),
                          failed("mlx5_10", "ib.port.rate", 0, 400)}),
              ElementsAre("mlx5_1: audit: missing", "mlx5_10: ib.port.rate"));
}

TEST(Consequences, ASocketThatIsEmptyExplainsWhatTheSystemSeesOfIt) {
  const std::vector<Cause> unlike{
      {Decision::fail, "cpu.threads", "same value in the run"},
      {Decision::fail, "numa.nodes", "same value in the run"},
      {Decision::fail, "iommu.on", "same value in the run"},
  };
  auto with = unlike;
  with.push_back(missing("cpu1", 1, 2));

  EXPECT_THAT(actions_of(with),
              UnorderedElementsAre("cpu1: audit: missing", "iommu.on: same value in the run"));
  EXPECT_EQ(actions_of(unlike).size(), 3) << "all sockets are there: a setting";
}

TEST(Consequences, AHotGpuExplainsThatItIsSlowAndNotThatItIsWrong) {
  EXPECT_THAT(
      actions_of({failed("gpu2", "gpu.temperature", 90, 0),
                  failed("gpu2", "gemm.below_best", 20, 0), failed("gpu2", "gemm.errors", 3, 0)}),
      ElementsAre("gpu2: gpu.temperature", "gpu2: gemm.errors"));
  EXPECT_THAT(actions_of({failed("gpu2", "gpu.temperature", 90, 0),
                          failed("gpu3", "gemm.below_best", 20, 0)}),
              ElementsAre("gpu2: gpu.temperature", "gpu3: gemm.below_best"));
}

TEST(Consequences, WhatIsSlowInTheFabricExplainsTheRateOfTheHcasBehindIt) {
  const auto slow = failed("mlx5_6", "fabric.link.bandwidth", 195, 320);
  EXPECT_THAT(actions_of({failed("mlx5_6", "fabric.link.loss", 50, 0), slow}),
              ElementsAre("mlx5_6: fabric.link.loss"));
  EXPECT_THAT(actions_of({failed("", "fabric.node.loss", 50, 0), slow}),
              ElementsAre("fabric.node.loss"));
  EXPECT_THAT(actions_of({failed("port:leaf1-r7/all", "fabric.switch.loss", 70, 0), slow}),
              ElementsAre("port:leaf1-r7/all: fabric.switch.loss"));
  EXPECT_THAT(actions_of({failed("mlx5_5", "fabric.link.loss", 50, 0), slow}),
              ElementsAre("mlx5_5: fabric.link.loss", "mlx5_6: fabric.link.bandwidth"));
}

TEST(Consequences, AFlappingPortExplainsThatItWasDownWhenItWasRead) {
  EXPECT_THAT(actions_of({failed("mlx5_9", "ib.port.rate", 0, 400),
                          failed("mlx5_9", "ib.port.downed", 40, 0)}),
              ElementsAre("mlx5_9: ib.port.downed"));
}

TEST(Consequences, WhatTheBmcCallsSickExplainsWhatItsLogSaysOfThePart) {
  EXPECT_THAT(actions_of({failed("psu5", "audit: unhealthy", 1, 0),
                          failed("psu5", "sel.new.critical", 1, 0),
                          failed("psu4", "sel.new.critical", 1, 0)}),
              ElementsAre("psu5: audit: unhealthy", "psu4: sel.new.critical"));
}

TEST(Consequences, AnUnknownExplainsNoFailure) {
  auto causes = rehearsed("gpu-missing");
  causes[0].decision = Decision::inconclusive;

  EXPECT_EQ(actions_of(causes).size(), causes.size());
}

TEST(Consequences, AMissingToolIsNoConsequenceOfALostGpu) {
  auto causes = rehearsed("gpu-off-bus");
  causes.push_back({Decision::inconclusive, "", "stage gpu-burn", "gpu_burn is not installed"});

  EXPECT_THAT(actions_of(causes), ElementsAre("gpu3: audit: missing", "stage gpu-burn"));
}

TEST(Consequences, LoseNothingAndChangeNoDecision) {
  for (const auto* fault : {"gpu-missing", "gpu-off-bus", "driver-mismatch", "nvswitch-fatal"}) {
    const auto before = rehearsed(fault);
    auto causes = before;

    mark_consequences(causes);

    std::size_t reported = 0;
    for (const auto& each : explained(causes)) reported += 1 + each.consequences.size();
    EXPECT_EQ(reported, before.size());
    for (auto& each : causes) each.consequence_of.clear();
    EXPECT_EQ(causes, before);
  }
}

TEST(Consequences, AreTheSameInWhateverOrderTheCausesStand) {
  std::mt19937 random{7};
  for (const auto* fault : {"gpu-missing gpu-hot", "gpu-off-bus", "nvswitch-fatal nvlink-down"}) {
    auto causes = rehearsed(fault);
    const auto first = actions_of(causes);
    for (int round = 0; round < 20; ++round) {
      std::ranges::shuffle(causes, random);

      EXPECT_THAT(actions_of(causes), ::testing::UnorderedElementsAreArray(first)) << fault;
    }
  }
}

TEST(Consequences, AreMarkedAgainEachTime) {
  auto causes = rehearsed("gpu-missing");
  mark_consequences(causes);
  EXPECT_EQ(causes[1].consequence_of, "gpu5: audit: missing");

  causes.erase(causes.begin());
  mark_consequences(causes);

  for (const auto& each : causes) EXPECT_THAT(each.consequence_of, IsEmpty());
}

}  // namespace
}  // namespace cupel::burnin
