// Faults of GPUs, where the real ones show: in nvidia-smi, its settings and the kernel's log.
#include <fmt/format.h>

#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Shown {
  Fault fault;
  const char* command;
  const char* says;
};

class GpuFault : public ::testing::TestWithParam<Shown> {};

TEST_P(GpuFault, IsSeenWhereTheRealOneIs) {
  const auto& row = GetParam();
  Bench healthy, sick{{row.fault}};

  const auto before = healthy.sh(row.command), after = sick.sh(row.command);

  EXPECT_THAT(before.out + before.err, Not(HasSubstr(row.says)));
  EXPECT_THAT(after.out + after.err, HasSubstr(row.says));
}

using enum FaultKind;
const Shown kShown[] = {
    {{.kind = gpu_missing, .part = "gpu5"}, "nvidia-smi -L | wc -l", "7"},
    {{.kind = gpu_ecc, .part = "gpu1", .errors = 7},
     "nvidia-smi -i 1 -q -d ECC",
     "DRAM Uncorrectable                         : 7"},
    {{.kind = gpu_ecc, .part = "gpu1"}, "dmesg -T -l warn", "NVRM: Xid (PCI:0000:43:00): 48"},
    {{.kind = gpu_remap_pending, .part = "gpu2"},
     "nvidia-smi -q -d ROW_REMAPPER",
     "Pending                                        : Yes"},
    {{.kind = gpu_remap_pending, .part = "gpu2"},
     "nvidia-smi --query-remapped-rows=gpu_bus_id,remapped_rows.pending --format=csv,noheader",
     "00000000:52:00.0, 1"},
    {{.kind = gpu_remap_failed, .part = "gpu2"}, "journalctl -k --no-pager", "): 64, "},
    {{.kind = gpu_power_capped, .part = "gpu3", .amount = 450},
     "nvidia-smi --query-gpu=enforced.power.limit --format=csv,noheader",
     "450.00 W"},
    {{.kind = gpu_slow_link, .part = "gpu4", .width = 8},
     "lspci -vvv -s 9d:00.0",
     "Width x8 (downgraded)"},
    {{.kind = gpu_slow_link, .part = "gpu4", .width = 8}, "dmesg", "252.048 Gb/s available PCIe"},
    {{.kind = gpu_slow_link, .part = "gpu4", .gen = 4},
     "cat /sys/bus/pci/devices/0000:9d:00.0/current_link_speed",
     "16.0 GT/s PCIe"},
    {{.kind = gpu_xid, .part = "gpu0", .number = 62}, "dmesg", "NVRM: Xid (PCI:0000:1b:00): 62,"},
    {{.kind = kernel_line, .component = "NVRM: GPU {gpu0}: RmInitAdapter failed!"},
     "dmesg -l err",
     "NVRM: GPU 0000:1b:00.0: RmInitAdapter failed!"},
    {{.kind = gpu_busy, .part = "gpu6"},
     "nvidia-smi --query-compute-apps=gpu_bus_id,process_name --format=csv",
     "00000000:D1:00.0, python3"},
    {{.kind = nvlink_down, .part = "gpu0", .number = 3},
     "nvidia-smi nvlink -s -i 0",
     "Link 3: <inactive>"},
    {{.kind = nvlink_down, .part = "gpu0", .number = 3}, "nvidia-smi topo -m", "NV17"},
    {{.kind = nvlink_down, .part = "gpu0", .number = 3}, "dcgmi nvlink -s", "U U U D U"},
    {{.kind = nvswitch_fatal, .part = "nvswitch1"}, "dmesg -l err", "nvidia-nvswitch1: SXid (PCI:"},
    {{.kind = nvswitch_fatal, .part = "nvswitch1"}, "nvidia-smi nvlink -s", "<inactive>"},
    {{.kind = fabric_manager_off}, "systemctl is-active nvidia-fabricmanager", "inactive"},
    {{.kind = fabric_manager_off},
     "nvidia-smi --query-gpu=fabric.state --format=csv,noheader",
     "In Progress"},
    {{.kind = fabric_manager_version},
     "systemctl status nvidia-fabricmanager",
     "don't match with driver version"},
    {{.kind = driver_mismatch},
     "nvidia-smi",
     "Failed to initialize NVML: Driver/library version mismatch"},
    {{.kind = driver_mismatch}, "dmesg", "NVRM: API mismatch: the client has the version"},
    {{.kind = mig_on, .part = "gpu7"},
     "nvidia-smi -i 7 --query-gpu=mig.mode.current --format=csv,noheader",
     "Enabled"},
    {{.kind = ecc_off, .part = "gpu7"},
     "nvidia-smi -i 7 --query-gpu=ecc.mode.current --format=csv,noheader",
     "Disabled"},
    {{.kind = persistence_off, .part = "gpu7"}, "dcgmi diag -r 1 -j", "Persistence mode for GPU 7"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "ecc.errors.corrected.volatile.dram",
      .version = "500000"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=ecc.errors.corrected.volatile.total",
     "500000"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "ecc.errors.corrected.volatile.sram",
      .version = "4000"},
     "nvidia-smi -i 2 -q -x",
     "<sram_correctable>4000"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "ecc.errors.uncorrected.aggregate.dram",
      .version = "9"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=ecc.errors.uncorrected.aggregate.total",
     "9"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "ecc.errors.uncorrected.aggregate.sram",
      .version = "2"},
     "nvidia-smi -i 2 -q -x",
     "<sram_uncorrectable_parity>2"},
    {{.kind = gpu_report, .part = "gpu2", .component = "remapped_rows.correctable", .version = "8"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=remapped_rows.correctable",
     "8"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "remapped_rows.uncorrectable",
      .version = "11"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=remapped_rows.uncorrectable",
     "11"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "remapped_rows.histogram.low",
      .version = "5"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=remapped_rows.histogram.low",
     "5"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "remapped_rows.histogram.none",
      .version = "3"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=remapped_rows.histogram.none",
     "3"},
    {{.kind = gpu_report, .part = "gpu2", .component = "replay_rollover_counter", .version = "3"},
     "nvidia-smi -i 2 -q -x",
     "<replay_rollover_counter>3"},
    {{.kind = gpu_report, .part = "gpu2", .component = "ecc.mode.pending", .version = "Disabled"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=ecc.mode.pending",
     "Disabled"},
    {{.kind = gpu_report, .part = "gpu2", .component = "mig.mode.pending", .version = "Enabled"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=mig.mode.pending",
     "Enabled"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "compute_mode",
      .version = "Exclusive_Process"},
     "nvidia-smi -i 2 --format=csv,noheader --query-gpu=compute_mode",
     "Exclusive_Process"},
    {{.kind = gpu_report,
      .part = "gpu2",
      .component = "inforom.checksum_validation",
      .version = "invalid"},
     "nvidia-smi",
     "WARNING: infoROM is corrupted at gpu 0000:52:00.0"},
    {{.kind = driver_not_loaded},
     "nvidia-smi",
     "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"},
};

INSTANTIATE_TEST_SUITE_P(All, GpuFault, ::testing::ValuesIn(kShown), [](const auto& info) {
  return std::regex_replace(std::string{row_of(info.param.fault.kind).name}, std::regex{"-"}, "_") +
         "_" + std::to_string(info.index);
});

TEST(GpuReport, OfAnIdentityIsThatOfAnotherGpu) {
  for (const std::string field : {"uuid", "serial"}) {
    Bench bench{{{.kind = gpu_report, .part = "gpu3", .component = field, .version = "gpu2"}}};
    const auto of = [&](int gpu) {
      return bench
          .sh(fmt::format("nvidia-smi -i {} --query-gpu={} --format=csv,noheader",
                          bench.machine.hardware().gpus[static_cast<std::size_t>(gpu)].pci, field))
          .out;
    };

    const auto findings = found_by(bench, "gpu-facts");

    EXPECT_EQ(of(3), of(2)) << field;
    EXPECT_NE(of(3), of(1)) << field;
    ASSERT_TRUE(findings) << findings.error().what;
    EXPECT_EQ(value_of(*findings, "gpu.unique", "gpu2"), 0) << field;
    EXPECT_EQ(value_of(*findings, "gpu.unique", "gpu3"), 0) << field;
    EXPECT_EQ(value_of(*findings, "gpu.unique", "gpu4"), 1) << field;
  }
}

TEST(DriverNotLoaded, LeavesGpusOnThePciBusAloneAndNoStageReadsOne) {
  Bench bench{{{.kind = driver_not_loaded}}};

  const auto smi = bench.sh("nvidia-smi -q -x");
  const auto pci = bench.sh("lspci -v -d 10de:");
  const auto shown = bench.sh("ls /proc/driver/nvidia /dev/nvidia0");
  const auto findings = found_by(bench, "gpu-facts");

  EXPECT_EQ(smi.status, 9);
  EXPECT_THAT(pci.out, HasSubstr("3D controller"));
  EXPECT_THAT(pci.out, Not(HasSubstr("Kernel driver in use: nvidia\n")));
  EXPECT_NE(shown.status, 0);
  EXPECT_THAT(bench.sh("dmesg").out, Not(HasSubstr("NVRM: loading")));
  ASSERT_FALSE(findings);
  EXPECT_THAT(findings.error().what, HasSubstr("couldn't communicate"));
}

TEST(DriverNotLoaded, LeavesFactsWithLinksOfOtherPartsAndTheReasonForThoseOfGpus) {
  Bench bench{{{.kind = driver_not_loaded}}};

  const auto facts = found_by(bench, "facts");

  ASSERT_TRUE(facts) << facts.error().what;
  EXPECT_EQ(value_of(*facts, "gpu.count"), std::nullopt);
  EXPECT_EQ(value_of(*facts, "pcie.narrow", "gpu0"), std::nullopt);
  EXPECT_EQ(value_of(*facts, "pcie.narrow", "mlx5_0"), 0);
  ASSERT_FALSE(facts->unknown.empty());
  EXPECT_THAT(facts->unknown.front().why, HasSubstr("the driver is not loaded"));
}

TEST(GpuOffTheBus, IsToldByTheDriverTheKernelAndPci) {
  CUPEL_NEEDS_SAMPLE(capture, "dmesg/xid79_sxid20034_h100.log");
  Bench bench{{{.kind = gpu_off_bus, .part = "gpu5"}}};

  const auto smi = bench.sh("nvidia-smi");
  const auto other = bench.sh("nvidia-smi -i 0000:1b:00.0 -q -x");
  const auto log = bench.sh("dmesg").out;

  EXPECT_EQ(smi.out, "Unable to determine the device handle for GPU0000:C3:00.0: Unknown Error\n");
  EXPECT_EQ(smi.status, 255);
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(bench.sh("lspci -s c3:00.0").out, HasSubstr("(rev ff)"));
  // The driver's own lines, in the same words.
  const auto about = [](const std::string& text, const std::string& place,
                        const std::string& serial) {
    Texts reported;
    for (const auto& line : lines_of(text)) {
      if (!line.contains("NVRM: ") || !(line.contains(place) || line.contains(serial))) continue;
      auto words = line.substr(line.find("NVRM: "));
      for (const auto& own : {place, serial})
        words = std::regex_replace(words, std::regex{own}, "*");
      reported.push_back(words.substr(0, words.find(": GPU-")));
    }
    return reported;
  };
  const auto ours = about(log.substr(log.find("NVRM: GPU at")), "0000:c3:00",
                          bench.machine.hardware().gpus[5].serial);
  EXPECT_EQ(ours, about(capture, "0000:91:00", "1653723052734"));
}

TEST(GpuOffTheBus, IsNamedByTheStageAndLeavesTheOthersReadable) {
  Bench bench{{{.kind = gpu_off_bus, .part = "gpu5"}}};

  const auto findings = found_by(bench, "gpu-facts");

  ASSERT_TRUE(findings) << findings.error().what;
  EXPECT_EQ(value_of(*findings, "gpu.count"), 7);
  EXPECT_TRUE(
      std::ranges::any_of(findings->unknown, [](const auto& each) { return each.fact == "gpu5"; }));
}

TEST(GpuOffTheBus, UnderLoadTheProgramSaysSoAndNoEarlier) {
  Fault fault{.kind = gpu_off_bus, .part = "gpu2"};
  fault.timing.under = "collective";
  Bench bench{{fault}};

  const auto before = bench.sh("nvidia-smi -L");
  const auto run = bench.sh("all_reduce_perf -b 8 -e 8G -f 2 -g 8");
  const auto after = bench.sh("nvidia-smi");

  EXPECT_EQ(before.status, 0);
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out, HasSubstr("unhandled cuda error"));
  EXPECT_THAT(after.out, HasSubstr("GPU0000:52:00.0"));
}

TEST(GpuSettings, ALimitHoldsAndIsRefusedOutsideItsRange) {
  Bench bench;

  const auto set = bench.sh("nvidia-smi -i 2 -pl 500");
  const auto refused = bench.sh("nvidia-smi -i 2 -pl 900");

  EXPECT_EQ(set.out,
            "Power limit for GPU 00000000:52:00.0 was set to 500.00 W from 700.00 W.\nAll done.\n");
  EXPECT_EQ(bench.machine.physics().gpu(2).limit_watts, 500);
  EXPECT_THAT(refused.out, HasSubstr("is not a valid power limit"));
  EXPECT_NE(refused.status, 0);
}

TEST(GpuSettings, AResetRemapsTheRowAndClearsTheVolatileCounters) {
  Bench bench{{{.kind = gpu_remap_pending, .part = "gpu1"},
               {.kind = gpu_ecc, .part = "gpu1", .errors = 2}}};
  const std::string ask =
      "nvidia-smi -i 1 --format=csv,noheader --query-gpu=remapped_rows.pending,remapped_rows."
      "uncorrectable,ecc.errors.uncorrected.volatile.total,ecc.errors.uncorrected.aggregate.total";

  const auto before = bench.sh(ask).out;
  const auto reset = bench.sh("nvidia-smi --gpu-reset -i 1");
  const auto after = bench.sh(ask).out;

  EXPECT_EQ(before, "Yes, 1, 2, 2\n");
  EXPECT_EQ(reset.out, "GPU 00000000:43:00.0 was successfully reset.\nAll done.\n");
  EXPECT_EQ(after, "No, 1, 0, 2\n");
}

TEST(GpuSettings, NobodyResetsAGpuThatIsInUse) {
  Bench bench{{{.kind = gpu_busy, .part = "gpu1"}}};

  const auto reset = bench.sh("nvidia-smi -r -i 1");

  EXPECT_THAT(reset.out, HasSubstr("In use by another client"));
  EXPECT_NE(reset.status, 0);
}

TEST(GpuSettings, MigThatWasLeftOnIsTakenOff) {
  Bench bench{{{.kind = mig_on, .part = "gpu1"}}};

  const auto output = bench.sh("nvidia-smi -i 1 -mig 0").out;

  EXPECT_EQ(output, "Disabled MIG Mode for GPU 00000000:43:00.0\nAll done.\n");
  EXPECT_EQ(bench.sh("nvidia-smi -i 1 --query-gpu=mig.mode.current --format=csv,noheader").out,
            "Disabled\n");
}

}  // namespace
}  // namespace cupel::rehearsal
