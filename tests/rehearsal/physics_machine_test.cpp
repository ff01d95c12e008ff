// The physics of a machine: what its tools, its faults and its BMC have to do with it.
#include "rehearsal/physics/boot_pace.h"
#include "rehearsal/physics/gpu_nature.h"
#include "tests/rehearsal/bmc_bench.h"

namespace cupel::rehearsal {
namespace {

/// Warm, with every GPU at that work.
class Loaded : public Bench {
 public:
  explicit Loaded(Work work, std::vector<Fault> faults = {}) : Bench{std::move(faults)} {
    load = machine.physics().hold({.work = work});
    sh("sleep 1200");
  }
  GpuReading gpu(int index) const { return machine.physics().gpu(index); }

  RunningLoad load;
};

TEST(MachinePhysicsTest, StressNgDrawsPowerAndWarmsTheCpusUntilItIsKilled) {
  Bench bench;
  auto& physics = bench.machine.physics();
  const double idle = physics.node_watts(), cool = physics.cpu_celsius(0);

  bench.sh("stress-ng --cpu 0 --timeout 100000s 2>/dev/null & sleep 300");
  const double busy = physics.node_watts(), warm = physics.cpu_celsius(0);
  bench.host.kill_all();

  EXPECT_NEAR(idle, 2300, 50);
  EXPECT_GT(busy, idle + 500);
  EXPECT_GT(warm, cool + 15);
  EXPECT_TRUE(bench.run_until([&] { return physics.cpu_load() == 0; }));
}

TEST(MachinePhysicsTest, FioDrawsPowerToo) {
  Bench bench;
  const double idle = bench.machine.physics().node_watts();

  bench.sh(
      "fio --name=w --filename=/tmp/x --rw=write --size=1G --time_based --runtime=100000 "
      ">/dev/null & sleep 60");

  EXPECT_GT(bench.machine.physics().node_watts(), idle + 5);
}

TEST(MachinePhysicsTest, AllLoadsEndWhenTheMachineGoesDown) {
  Bench bench;
  auto& physics = bench.machine.physics();
  const auto load = physics.hold({.work = Work::gemm});
  const double busy = physics.node_watts();

  bench.machine.press(Reset::power_cycle);
  EXPECT_TRUE(bench.run_until([&] { return bench.machine.up(); }));
  physics.end(LoadId{12345});

  EXPECT_GT(busy, 8000);
  EXPECT_LT(physics.node_watts(), 2400);
  EXPECT_EQ(physics.gpu(0).utilisation, 0);
}

TEST(MachinePhysicsTest, AHealthyGpuSaysWhyItIsNoFaster) {
  const Bench idle;
  const Loaded gemm{Work::gemm}, hbm{Work::hbm};

  EXPECT_EQ(idle.machine.physics().gpu(0).throttle, ThrottleReason::kIdle);
  EXPECT_EQ(idle.machine.physics().gpu(0).sm_mhz, 345);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(gemm.gpu(i).throttle, ThrottleReason::kPowerCap) << i;
    EXPECT_NEAR(gemm.gpu(i).watts, 700, 1e-6);
    EXPECT_EQ(hbm.gpu(i).throttle, 0) << i;
    EXPECT_EQ(hbm.gpu(i).sm_mhz, 1980) << i;
  }
}

TEST(MachinePhysicsTest, DriedPasteShowsAsHeatAndSlowClocks) {
  const Loaded bad{Work::gemm, {{.kind = FaultKind::gpu_hot, .part = "gpu3"}}};

  EXPECT_EQ(bad.gpu(3).throttle & ThrottleReason::kSoftwareThermal,
            ThrottleReason::kSoftwareThermal);
  EXPECT_NEAR(bad.gpu(3).celsius, 85, 0.01);
  EXPECT_GT(bad.gpu(3).celsius, bad.gpu(2).celsius + 10);
  EXPECT_LT(bad.gpu(3).sm_mhz, bad.gpu(2).sm_mhz);
  EXPECT_LT(bad.machine.physics().speed(3, Work::gemm),
            bad.machine.physics().speed(2, Work::gemm) - 0.02);
}

TEST(MachinePhysicsTest, ACappedGpuIsSlowerAndCooler) {
  const Loaded bad{Work::gemm,
                   {{.kind = FaultKind::gpu_power_capped, .part = "gpu6", .amount = 400}}};

  EXPECT_EQ(bad.gpu(6).limit_watts, 400);
  EXPECT_NEAR(bad.gpu(6).watts, 400, 1e-6);
  EXPECT_LT(bad.gpu(6).celsius, bad.gpu(5).celsius - 5);
  EXPECT_LT(bad.machine.physics().speed(6, Work::gemm), 0.8);
}

TEST(MachinePhysicsTest, ASlowPartSlowsItsOwnWorkAndNoOther) {
  struct Case {
    Fault fault;
    Work slow;
  };
  const Bench good;
  const std::vector<Case> cases{
      {{.kind = FaultKind::gpu_slow_memory, .part = "gpu1", .amount = 0.7}, Work::hbm},
      {{.kind = FaultKind::nvlink_down, .part = "gpu1", .number = 4}, Work::p2p},
      {{.kind = FaultKind::nvlink_errors, .part = "gpu1"}, Work::p2p},
      {{.kind = FaultKind::gpu_slow_link, .part = "gpu1", .width = 8}, Work::pcie}};
  for (const auto& [fault, slow] : cases) {
    const Bench bad{{fault}};
    for (const auto work : {Work::gemm, Work::hbm, Work::pcie, Work::p2p})
      for (int i = 0; i < 8; ++i) {
        const double was = good.machine.physics().speed(i, work);
        const double is = bad.machine.physics().speed(i, work);
        if (i == 1 && work == slow)
          EXPECT_LT(is, was * 0.97) << row_of(fault.kind).name;
        else
          EXPECT_EQ(is, was) << row_of(fault.kind).name << " gpu" << i << " " << to_string(work);
      }
  }
}

TEST(MachinePhysicsTest, HealthyRatesLieWithinTwoPerCentOfNominal) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (int i = 0; i < 8; ++i) {
      const auto nature = gpu_nature(gpu_kind("H100"), Draw{seed}, i, 8);
      for (const double rate : {nature.hbm, nature.nvlink, nature.pcie, nature.compute})
        EXPECT_NEAR(rate, 1, 0.02);
    }
  }
}

TEST(MachinePhysicsTest, AnNvSwitchTakesItsLinksFromEveryGpu) {
  const Bench bad{{{.kind = FaultKind::nvswitch_fatal, .part = "nvswitch1"}}};

  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(bad.machine.physics().nvlink_share(i), 14.0 / 18, 1e-9) << i;
}

TEST(MachinePhysicsTest, CrcErrorsGrowByTheHourOnTheLinkThatHasThem) {
  Bench bad{{{.kind = FaultKind::nvlink_errors, .part = "gpu2", .errors = 3600, .number = 7}}};
  const auto before = bad.machine.physics().gpu_errors(2).nvlink_crc;
  bad.sh("sleep 3600");
  const auto& physics = bad.machine.physics();
  const auto after = physics.gpu_errors(2).nvlink_crc;

  EXPECT_NEAR(static_cast<double>(after - before), 3600, 400);
  EXPECT_GE(physics.nvlink_crc(2, 7), after) << "it is all that link's";
  EXPECT_EQ(physics.nvlink_crc(2, 6), 0);
  EXPECT_EQ(physics.gpu_errors(3).nvlink_crc, 0);
}

TEST(MachinePhysicsTest, AFaultUnderLoadIsThereOnlyWhileThatLoadRuns) {
  Bench bench{{{.kind = FaultKind::gpu_slow_memory,
                .part = "gpu0",
                .amount = 0.5,
                .timing = {.under = "hbm"}}}};
  auto& physics = bench.machine.physics();
  const double idle = physics.speed(0, Work::hbm);

  auto load = physics.hold({.work = Work::hbm});
  const double busy = physics.speed(0, Work::hbm);
  load.end();

  EXPECT_NEAR(busy, idle / 2, 1e-9);
  EXPECT_EQ(physics.speed(0, Work::hbm), idle);
}

TEST(MachinePhysicsTest, AClockThatWasLeftLockedHoldsUnderLoad) {
  const Loaded loaded{Work::gemm,
                      {{.kind = FaultKind::gpu_clock_locked, .part = "gpu2", .amount = 1200}}};

  EXPECT_EQ(loaded.gpu(2).sm_mhz, 1200);
  EXPECT_EQ(loaded.gpu(2).throttle, ThrottleReason::kApplicationClocks);
  EXPECT_GT(loaded.gpu(3).sm_mhz, 1200);
}

TEST(MachinePhysicsTest, SomebodyMayLimitPowerAndLockClocksUntilTheNextBoot) {
  Bench bench;
  auto& physics = bench.machine.physics();
  physics.limit_power(0, 300);
  physics.limit_power(1, 50);
  physics.lock_clock(2, 1200);
  const auto load = physics.hold({.work = Work::gemm});

  EXPECT_EQ(physics.gpu(0).limit_watts, 300);
  EXPECT_EQ(physics.gpu(1).limit_watts, 200) << "the least that it allows";
  EXPECT_EQ(physics.gpu(2).sm_mhz, 1200);
  EXPECT_EQ(physics.gpu(2).throttle, ThrottleReason::kApplicationClocks);
  bench.machine.press(Reset::power_cycle);
  EXPECT_TRUE(bench.run_until([&] { return bench.machine.up(); }));
  EXPECT_EQ(physics.gpu(0).limit_watts, 700);
}

TEST(MachinePhysicsTest, TheBmcReadsWhatThePhysicsSays) {
  BmcBench bmc{"dgx"};
  ASSERT_TRUE(bmc.boot());
  const auto load = bmc.machine.physics().hold({.work = Work::gemm});
  bmc.pass(VirtualTime{900});
  const auto sensor = [&](const std::string& id) {
    return std::stod(bmc.seen(bmc.view().chassis() + "/Sensors/" + id, "Reading"));
  };
  const auto& physics = bmc.machine.physics();

  EXPECT_NEAR(sensor("PWR_SYSTEM"), physics.node_watts(), 2);
  EXPECT_GT(sensor("PWR_SYSTEM"), 8000);
  EXPECT_NEAR(sensor("TEMP_GPU_SXM_1"), physics.gpu(0).celsius, 0.2);
  EXPECT_GT(sensor("TEMP_GPU_SXM_1"), 50);
  EXPECT_NEAR(sensor("PWR_PSU0"), physics.node_watts() / 6, 2);
}

TEST(MachinePhysicsTest, ASupplyWithoutInputLeavesItsShareToTheOthers) {
  BmcBench bmc{{},
               {{.kind = FaultKind::psu_feed_lost, .part = "psu2"},
                {.kind = FaultKind::fan_stuck, .part = "fan1"}}};
  ASSERT_TRUE(bmc.boot());
  const auto& physics = bmc.machine.physics();
  const auto chassis = bmc.view().chassis();

  EXPECT_EQ(physics.psu_watts("psu2"), 0);
  EXPECT_NEAR(physics.psu_watts("psu0"), physics.node_watts() / 5, 1);
  EXPECT_EQ(bmc.seen(chassis + "/Sensors/VOLT_PSU2", "Reading"), "0E0");
  EXPECT_EQ(physics.fan_rpm(1), 0);
  EXPECT_GT(physics.fan_rpm(0), 1000);
}

TEST(MachinePhysicsTest, ACpuThatIsThrottledIsSlowAndTheOtherIsNot) {
  const Bench bad{{{.kind = FaultKind::cpu_throttled, .part = "cpu1", .amount = 0.25}}};
  const auto& physics = bad.machine.physics();

  EXPECT_EQ(physics.cpu_mhz(1), physics.cpu_mhz(0) / 4);
  EXPECT_LT(physics.speed(0, Work::cpu), 0.3);
}

TEST(MachineTest, PartsThatArePutIntoEachOthersPlaceKeepTheirSerialNumbersAndLeaveTheFaultBehind) {
  Bench bench{{{.kind = FaultKind::gpu_slow_link, .part = "gpu3", .gen = 4}}};
  auto& machine = bench.machine;
  const auto before = machine.hardware();

  machine.exchange("gpu3", "gpu5");
  machine.exchange("dimm A1", "dimm A2");
  machine.exchange("gpu0", "gpu99");

  const auto& after = machine.hardware();
  EXPECT_EQ(after.gpus[3].serial, before.gpus[5].serial);
  EXPECT_EQ(after.gpus[5].serial, before.gpus[3].serial);
  EXPECT_EQ(after.gpus[5].uuid, before.gpus[3].uuid);
  EXPECT_EQ(after.gpus[5].pci, before.gpus[5].pci);
  EXPECT_EQ(after.gpus[3].gen, 4);
  EXPECT_EQ(after.gpus[0].serial, before.gpus[0].serial);
  EXPECT_EQ(after.dimms[0].serial, before.dimms[1].serial);
  machine.set_faults({});
  EXPECT_EQ(machine.hardware().gpus[3].serial, before.gpus[5].serial);
  machine.exchange("gpu3", "gpu5");
  EXPECT_EQ(machine.hardware().gpus[3].serial, before.gpus[3].serial);
}

TEST(BootPaceTest, VendorsAndMemoryTakeTheirTime) {
  constexpr double kTebi = 1099511627776.0;
  const auto post = [](std::string_view vendor, double bytes, std::uint64_t seed) {
    return post_share(vendor, bytes, Draw{seed});
  };

  EXPECT_GT(post("hpe-ilo5", 2 * kTebi, 1), post("dgx", 2 * kTebi, 1));
  EXPECT_GT(post("dgx", 2 * kTebi, 1), post("dgx", kTebi, 1));
  EXPECT_EQ(post("dell", kTebi, 5), post("dell", kTebi, 5));
  EXPECT_NE(post("dell", kTebi, 5), post("dell", kTebi, 6));
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    EXPECT_NEAR(post("dgx", 2 * kTebi, seed), 1, 0.1);
}

}  // namespace
}  // namespace cupel::rehearsal
