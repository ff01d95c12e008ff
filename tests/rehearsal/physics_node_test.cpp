// One node's heat, power and clocks, on a clock of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rehearsal/physics/gpu_nature.h"

namespace cupel::rehearsal {
namespace {

constexpr VirtualTime kStart{100}, kWarm{2000};

NodeShape dgx_shape(std::uint64_t seed = 1) {
  NodeShape shape;
  const auto& kind = gpu_kind("H100 80GB HBM3");
  for (int i = 0; i < 8; ++i) {
    const auto nature = gpu_nature(kind, Draw{seed}, i, 8);
    shape.gpus.push_back({.kind = &kind,
                          .hunger = nature.hunger,
                          .idle_watts = nature.idle_watts,
                          .kelvin_per_watt = nature.kelvin_per_watt,
                          .limit_watts = kind.limit_watts});
  }
  return shape;
}

NodeModel running(NodeShape shape = dgx_shape(), Drift air = {24, 0}) {
  NodeModel node{std::move(shape), air, VirtualTime{0}};
  node.set_on(true, VirtualTime{1});
  return node;
}

NodeModel loaded(Work work, NodeShape shape = dgx_shape()) {
  auto node = running(std::move(shape));
  node.begin({.work = work}, kStart);
  return node;
}

TEST(NodePhysicsTest, DrawsWhatItsProfileSaysIdleAndLoaded) {
  auto node = running();
  const double off = NodeModel{dgx_shape(), {24, 0}, VirtualTime{0}}.watts(kStart);
  const double idle = node.watts(kStart);
  for (const auto work : {Work::gemm, Work::cpu, Work::memory, Work::disk})
    node.begin({.work = work}, kStart);

  EXPECT_EQ(off, NodeModel::kStandbyWatts);
  EXPECT_NEAR(idle, 2300, 46);
  EXPECT_NEAR(node.watts(kWarm), 10200, 300);
}

TEST(NodePhysicsTest, ReadsTheSameWhoeverHasAskedBefore) {
  auto often = running(dgx_shape(), {26, -3}), seldom = running(dgx_shape(), {26, -3});
  for (auto* node : {&often, &seldom}) node->begin({.work = Work::train}, kStart);

  double sum = 0;
  for (double s = 101; s < 900; s += 0.37) sum += often.watts(VirtualTime{s});
  EXPECT_GT(sum, 0);

  for (const double s : {200.0, 900.0, 5000.0})
    for (std::size_t i = 0; i < 8; ++i) {
      const VirtualTime at{s};
      EXPECT_EQ(often.gpu(i, at).heat.state.celsius, seldom.gpu(i, at).heat.state.celsius);
      EXPECT_EQ(often.gpu(i, at).heat.state.joules, seldom.gpu(i, at).heat.state.joules);
    }
}

TEST(NodePhysicsTest, GoesOnWhereItWasWhenSomethingChanges) {
  auto node = loaded(Work::gemm);
  const VirtualTime soon = kStart + VirtualTime{15};
  const auto before = node.gpu(3, soon);
  const double inlet = node.inlet(soon), fan = node.fan(soon);

  const auto id = node.begin({.work = Work::hbm, .gpus = {3}}, soon);
  const auto between = node.gpu(3, soon);
  node.end(id, soon);
  const auto after = node.gpu(3, soon);

  for (const auto& now : {between, after}) {
    EXPECT_NEAR(now.heat.state.celsius, before.heat.state.celsius, 1e-9);
    EXPECT_NEAR(now.heat.state.joules, before.heat.state.joules, 1e-6);
  }
  EXPECT_EQ(node.inlet(soon), inlet);
  EXPECT_NEAR(node.fan(soon), fan, 1e-9);
}

TEST(NodePhysicsTest, AMatrixProductTakesTheLimitAndTheMemoryDoesNot) {
  const auto gemm = loaded(Work::gemm), hbm = loaded(Work::hbm);

  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(gemm.gpu(i, kWarm).heat.watts, 700, 1e-9);
    EXPECT_TRUE(gemm.gpu(i, kWarm).capped);
    EXPECT_LT(gemm.gpu(i, kWarm).mhz, 1900);
    EXPECT_LT(hbm.gpu(i, kWarm).heat.watts, 500);
    EXPECT_EQ(hbm.gpu(i, kWarm).mhz, 1980);
    EXPECT_GT(hbm.gpu(i, kWarm).heat.state.memory_celsius, hbm.gpu(i, kWarm).heat.state.celsius);
  }
}

TEST(NodePhysicsTest, NoHealthyGpuIsHeldByHeatAtTheTopOfAWarmRack) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto node = running(dgx_shape(seed), {29, 0});
    node.begin({.work = Work::gemm}, kStart);

    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_FALSE(node.gpu(i, kWarm).heat.held) << "seed " << seed << " gpu" << i;
      EXPECT_LT(node.gpu(i, kWarm).heat.state.celsius, 82) << "seed " << seed << " gpu" << i;
      EXPECT_GE(node.gpu(i, kWarm).heat.watts, 690) << "seed " << seed << " gpu" << i;
    }
  }
}

TEST(NodePhysicsTest, BadPasteHoldsOneGpuAndDrivesTheFansForAll) {
  auto shape = dgx_shape();
  shape.gpus[5].kelvin_per_watt = 0.125;
  const auto good = loaded(Work::gemm), bad = loaded(Work::gemm, shape);

  EXPECT_TRUE(bad.gpu(5, kWarm).heat.held);
  EXPECT_NEAR(bad.gpu(5, kWarm).heat.state.celsius, 85, 1e-6);
  EXPECT_LT(bad.gpu(5, kWarm).heat.watts, 650);
  EXPECT_LT(bad.gpu(5, kWarm).mhz, good.gpu(5, kWarm).mhz - 50);
  EXPECT_GT(bad.fan(kWarm), good.fan(kWarm));
  EXPECT_LT(bad.gpu(4, kWarm).heat.state.celsius, good.gpu(4, kWarm).heat.state.celsius);
}

TEST(NodePhysicsTest, AStuckFanMakesTheOthersTurnFaster) {
  auto shape = dgx_shape();
  shape.fans_stuck = 2;
  const auto good = loaded(Work::gemm), bad = loaded(Work::gemm, shape);

  EXPECT_GT(bad.fan(kWarm), good.fan(kWarm));
  EXPECT_GT(bad.gpu(0, kWarm).heat.state.celsius, good.gpu(0, kWarm).heat.state.celsius);
}

TEST(NodePhysicsTest, LessPowerIsASlowerClockAndALockedClockIsLessPower) {
  double before = 3000;
  for (const double limit : {700.0, 600.0, 450.0, 300.0, 200.0}) {
    auto shape = dgx_shape();
    shape.gpus[0].limit_watts = limit;
    const auto now = loaded(Work::gemm, shape).gpu(0, kWarm);
    EXPECT_NEAR(now.heat.watts, limit, 1e-9);
    EXPECT_LT(now.mhz, before);
    before = now.mhz;
  }
  auto shape = dgx_shape();
  shape.gpus[0].locked_mhz = 1200;
  const auto locked = loaded(Work::gemm, shape).gpu(0, kWarm);
  EXPECT_EQ(locked.mhz, 1200);
  EXPECT_LT(locked.heat.watts, 500);
}

TEST(NodePhysicsTest, GpusOfAFleetDifferByAPerCentOrTwoAndBySeedAlone) {
  double least = 1e9, most = 0;
  for (std::uint64_t seed = 1; seed <= 64; ++seed)
    for (std::size_t i = 0; i < 8; ++i) {
      const double mhz = loaded(Work::gemm, dgx_shape(seed)).gpu(i, kWarm).mhz;
      EXPECT_EQ(mhz, loaded(Work::gemm, dgx_shape(seed)).gpu(i, kWarm).mhz);
      least = std::min(least, mhz);
      most = std::max(most, mhz);
    }

  EXPECT_GT(most / least, 1.01);
  EXPECT_LT(most / least, 1.06);
}

TEST(NodePhysicsTest, LoadsThatRunTogetherDrawNoMoreThanTheMostHungryOne) {
  auto node = loaded(Work::pcie);
  const double one = node.gpu(0, kWarm).heat.watts;
  node.begin({.work = Work::hbm, .share = 0.5, .gpus = {0}}, kWarm);
  const double both = node.gpu(0, kWarm).heat.watts;
  for (int i = 0; i < 20; ++i) node.begin({.work = Work::gemm}, kWarm);

  EXPECT_GT(both, one);
  EXPECT_EQ(node.gpu(0, kWarm).heat.watts, 700);
  EXPECT_EQ(node.gpu(0, kWarm).utilisation, 100);
}

}  // namespace
}  // namespace cupel::rehearsal
