// scripts/gpu-results: what cupel-burn printed becomes a table, in which nothing holds that was not
// measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "burnin/agent/burn/links/child.h"
#include "burnin/agent/burn/planting.h"
#include "burnin/agent/burn/report.h"

namespace cupel::burn {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A folder with a program that prints what a report said, a file for each command.
class GpuResults : public ::testing::Test {
 protected:
  GpuResults() : folder_{fs::temp_directory_path() / "cupel-gpu-results.XXXXXX"} {
    std::string name = folder_;
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream{folder_ / "cupel-burn"}
        << "#!/bin/sh\ncase \"$*\" in\n*--self-test*) name=test-$1 ;;\n*unverified*) name=gemm ;;\n"
           "*copies*) name=train-copies ;;\n"
           "gemm*) name=power ;;\n*) name=$1 ;;\nesac\ncat \""
        << folder_.string() << "/$name\"\n";
    fs::permissions(folder_ / "cupel-burn", fs::perms::owner_all);
  }
  ~GpuResults() override { fs::remove_all(folder_); }

  /// What the command prints, and its end.
  void prints(const std::string& command, const std::function<void(Report&)>& says = {}) {
    std::ofstream file{folder_ / command};
    Report report{[&](std::string_view line) { file << line; }};
    if (says) says(report);
    report.end(true, false);
  }

  struct Table {
    int status = 0;
    std::string text{};
  };
  Table table(
      const std::string& program, const std::function<bool()>& is_stopped = [] { return false; }) {
    Table found;
    const auto status = run_child(
        {"/bin/sh", SOURCE_DIR "/scripts/gpu-results", program, folder_ / "kept"},
        [&](std::string_view line) { found.text += line; }, is_stopped);
    found.status = status ? *status : -1;
    return found;
  }

  /// All of it, as a sound machine with one GPU prints it; `rate` verified of 720 TFLOP/s.
  void sound(double rate, std::uint64_t found = 1'000) {
    prints("devices", [](Report& report) {
      report.start({.cuda = "13.0",
                    .driver = "580.65.06",
                    .gpus = {{.uuid = "GPU-1", .name = "NVIDIA H100 80GB HBM3"}}});
    });
    prints("test-gemm", [&](Report& report) {
      for (const auto* planted : {"result-bit", "operand-bit", "sm-bit"})
        report.self_test(planted, found, 1'000, "gpu0 bf16");
      for (const auto* planted : {"result-element", "result-nan", "result-pattern"})
        report.self_test(planted, 250, 250, "gpu0 bf16");
    });
    for (const auto* where : {"memory", "gradient"})
      prints(where == std::string{"memory"} ? "test-hbm" : "test-train", [&](Report& report) {
        report.self_test(planted_name(where, PlantKind::kBit), 1'000, 1'000);
        report.self_test(planted_name(where, PlantKind::kElement), 250, 250);
        report.self_test(planted_name(where, PlantKind::kPattern), 250, 250);
      });
    prints("test-pcie", [](Report& report) {
      report.self_test("bit-on-gpu", 1'000, 1'000, "gpu0, copy to the GPU");
      report.self_test("bit-on-host", 1'000, 1'000, "gpu0, copy from the GPU");
    });
    prints("gemm", [&](Report& report) {
      const Labels bf16{{"type", "bf16"}};
      report.result("gemm.rate", "gpu0", Samples{{rate - 1, rate, rate + 1}}, "TFLOP/s", bf16);
      report.result("gemm.rate.unverified", "gpu0", 720, "TFLOP/s", bf16);
    });
    prints("power", [](Report& report) {
      report.result("gemm.power", "gpu0", 695, "W");
      report.result("gemm.power.limit", "gpu0", 700, "W");
    });
    prints("hbm", [](Report& report) {
      report.result("hbm.copy", "gpu0", 2'800, "GB/s");
      report.result("hbm.copy.plain", "gpu0", 2'900, "GB/s");
    });
    prints("train", [](Report& report) { report.result("train.loss.differs", "", 0, "count"); });
    prints("pcie", [](Report& report) {
      report.result("pcie.h2d", "gpu0", 55, "GB/s", {{"numa", "near"}});
    });
    prints("collective",
           [](Report& report) { report.result("collective.errors", "gpu0", 0, "errors"); });
  }

  fs::path folder_;
};

TEST_F(GpuResults, OfASoundMachineAllHolds) {
  sound(712);

  const auto found = table(folder_ / "cupel-burn");

  EXPECT_EQ(found.status, 0) << found.text;
  EXPECT_THAT(found.text, HasSubstr("### 1 x NVIDIA H100 80GB HBM3, driver 580.65.06, CUDA 13.0"));
  EXPECT_THAT(found.text,
              HasSubstr("| gemm bf16, what verifying costs | below 3 % | 1.11 % | yes"));
  EXPECT_THAT(found.text, HasSubstr("| board power, bf16, of the limit | 98 % or more | 99.3 %"));
  EXPECT_THAT(found.text, HasSubstr("| hbm copy, of a plain copy | 92 % or more | 96.6 %"));
  EXPECT_THAT(found.text, HasSubstr("pcie.h2d gpu0 `{\"numa\":\"near\"}` |  | 55 GB/s"));
  EXPECT_THAT(found.text, HasSubstr("| NCCL, one rank: results that are wrong | 0 | 0 | yes |"));
}

TEST_F(GpuResults, OfSeveralGpusSumsByCopiesAreHeldToTheSameBits) {
  sound(712);
  prints("devices", [](Report& report) {
    report.start({.gpus = {{.uuid = "GPU-1", .name = "A100"}, {.uuid = "GPU-2", .name = "A100"}}});
  });
  for (const auto* command : {"test-p2p", "p2p", "test-collective", "collective"}) prints(command);
  const auto with_copies = [&](double differs) {
    prints("train-copies",
           [&](Report& report) { report.result("train.loss.differs", "", differs, "count"); });
    return table(folder_ / "cupel-burn");
  };

  const auto good = with_copies(0), bad = with_copies(1);

  EXPECT_EQ(good.status, 0) << good.text;
  EXPECT_THAT(good.text, HasSubstr("| train, sums by copies, losses and gradients that differ | 0 "
                                   "| 0 | yes |"));
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.text, HasSubstr("gradients that differ | 0 | 1 | **no** |"));
}

TEST_F(GpuResults, ReportsAMissedMarkInItsExitStatus) {
  sound(680, 999);

  const auto found = table(folder_ / "cupel-burn");

  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.text,
              HasSubstr("of the best unverified rate | 95 % or more | 94.44 % | **no**"));
  EXPECT_THAT(found.text, HasSubstr("999 of 1000: gpu0 bf16 | **no** |"));
}

TEST_F(GpuResults, WhatWasNotMeasuredDoesNotHold) {
  sound(712);
  prints("hbm");
  prints("test-hbm");
  std::ofstream{folder_ / "train"} << "";  // killed: not even an end

  const auto found = table(folder_ / "cupel-burn");

  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.text,
              AllOf(HasSubstr("| planted memory-bit | 1000 of 1000 | not measured | **no** |"),
                    HasSubstr("| hbm copy, of a plain copy | 92 % or more | not measured | **no**"),
                    HasSubstr("train, losses and gradients that differ | 0 | not measured | **no"),
                    HasSubstr("`cupel-burn train --seconds 40` | 0 **not whole**")));
}

TEST_F(GpuResults, WhatItHasIsPrintedWhereItIsStopped) {
  sound(712);
  std::ofstream{folder_ / "cupel-burn", std::ios::app} << "if [ $name = train ]; then\n  : > \""
                                                       << folder_.string()
                                                       << "/train-began\"\n  exec sleep 600\nfi\n";

  const auto found =
      table(folder_ / "cupel-burn", [&] { return fs::exists(folder_ / "train-began"); });

  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(
      found.text,
      AllOf(HasSubstr("| board power, bf16, of the limit | 98 % or more | 99.3 %"),
            HasSubstr("| planted gradient-bit | 1000 of 1000 | 1000 of 1000 | yes |"),
            HasSubstr("`cupel-burn train --seconds 40` | 143"), Not(HasSubstr("pcie.h2d"))));
}

#ifdef BURN_BINARY
TEST_F(GpuResults, WithoutAGpuThereIsNoTable) {
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU here";

  const auto found = table(BURN_BINARY);

  EXPECT_EQ(found.status, 2);
  EXPECT_THAT(found.text, Not(HasSubstr("|")));
}
#endif

}  // namespace
}  // namespace cupel::burn
