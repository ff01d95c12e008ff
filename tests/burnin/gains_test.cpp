// What counters gained between readings of one run.
#include "burnin/gains.h"

#include <gmock/gmock.h>

#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Findings downed(double mlx5_0, double mlx5_1) {
  Findings found;
  found.measurements = {{"ib.port.downed", "mlx5_0", mlx5_0, "count"},
                        {"ib.port.downed", "mlx5_1", mlx5_1, "count"},
                        {"ib.port.rate", "mlx5_0", 400, "Gb/s"}};
  return found;
}

const std::vector<std::string> kSteps{"node-facts", "facts", "node-facts@after"};

/// "mlx5_1 2" of each port whose gain the shipped profile does not accept.
std::vector<std::string> flapped(const Findings& before, const Findings& after) {
  FindingsByStage findings{{"node-facts", before}, {"node-facts@after", after}};
  add_gains(kSteps, findings);
  std::vector<std::string> all;
  for (const auto& each : judge(profile(), {"node-facts", "node-facts@after"}, findings))
    if (each.measure == "ib.port.downed.new" && each.met == Met::failed)
      all.push_back(each.stage + " " + each.part + " " + plain(each.quantity.value.value_or(-1)));
  return all;
}

TEST(Gains, OfAPortThatWentDownOnceFailItThoughItsCountIsLow) {
  EXPECT_THAT(flapped(downed(0, 0), downed(0, 2)), ElementsAre("node-facts@after mlx5_1 2"));
  EXPECT_THAT(flapped(downed(3, 1), downed(3, 2)), ElementsAre("node-facts@after mlx5_1 1"));
  EXPECT_THAT(flapped(downed(3, 1), downed(3, 1)), IsEmpty()) << "it was so before";
}

TEST(Gains, AreNotKnownOfACounterThatWentBackwardsOrWasNotRead) {
  FindingsByStage findings{{"node-facts", downed(5, 0)}, {"node-facts@after", downed(2, 0)}};
  findings["node-facts"].measurements.erase(findings["node-facts"].measurements.begin() + 1);

  add_gains(kSteps, findings);

  EXPECT_EQ(findings["node-facts@after"], downed(2, 0));
}

Findings counted(double remapped, double replays) {
  Findings found;
  found.measurements = {{"gpu.remap.uncorrected", "gpu2", remapped, "count"},
                        {"nvlink.replays", "gpu5", replays, "count"}};
  return found;
}

/// "gpu2 gpu.remap.new 1" of each gain that the shipped profile does not accept.
std::vector<std::string> gained(const Findings& before, const Findings& after) {
  FindingsByStage findings{{"gpu-facts", before}, {"gpu-facts@after", after}};
  const std::vector<std::string> steps{"gpu-facts", "gemm", "gpu-facts@after"};
  add_gains(steps, findings);
  std::vector<std::string> all;
  for (const auto& each : judge(profile(), {"gpu-facts", "gpu-facts@after"}, findings))
    if (each.measure.ends_with(".new") && each.met == Met::failed)
      all.push_back(each.part + " " + each.measure + " " + plain(each.quantity.value.value_or(-1)));
  return all;
}

TEST(Gains, OfAGpuDuringTheBurnFailItWhateverItCountedBefore) {
  EXPECT_THAT(gained(counted(0, 0), counted(1, 101)),
              ElementsAre("gpu2 gpu.remap.new 1", "gpu5 nvlink.replays.new 101"));
  EXPECT_THAT(gained(counted(3, 5000), counted(3, 5100)), IsEmpty());
}

TEST(Gains, OfRdmaCountersAreListedAndThoseOfDamagedPacketsFailTheirPort) {
  const auto port = [](double errors, double naks, double pauses) {
    Findings found;
    found.measurements = {{"ib.port.receive_errors", "mlx5_2", errors, "errors"},
                          {"rdma.packet_seq_err", "mlx5_2", naks, "count"},
                          {"rdma.pauses", "mlx5_2", pauses, "count"}};
    return found;
  };
  FindingsByStage findings{{"node-facts", port(500, 7, 0)},
                           {"node-facts@after", port(540, 19, 90)}};

  add_gains(kSteps, findings);

  const auto& after = findings["node-facts@after"];
  EXPECT_EQ(value_of(after, "rdma.packet_seq_err.new", "mlx5_2"), 12);
  EXPECT_EQ(value_of(after, "rdma.pauses.new", "mlx5_2"), 90);
  std::vector<std::string> failed;
  for (const auto& each : judge(profile(), {"node-facts", "node-facts@after"}, findings))
    if (each.met == Met::failed) failed.push_back(each.stage + " " + each.measure);
  EXPECT_THAT(failed, ElementsAre("node-facts@after ib.port.receive_errors.new"));
}

}  // namespace
}  // namespace cupel::burnin
