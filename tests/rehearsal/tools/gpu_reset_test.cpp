// The stage gpu-reset on a virtual node: what a reset ends, what comes back, and whom it leaves
// alone.
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::HasSubstr;

std::string flaky(const burnin::Findings& findings, const std::string& gpu) {
  const auto found = findings.facts.find("gpu.flaky." + gpu);
  return found == findings.facts.end() ? "it needed none" : found->second;
}

TEST(GpuReset, EndsWhatTheDriverAsksForAndNothingIsLeftToDo) {
  Bench bench{{{.kind = gpu_wants_reset, .part = "gpu3"}}};

  const auto before = found_by(bench, "gpu-facts");
  const auto reset = found_by(bench, "gpu-reset");
  const auto after = found_by(bench, "gpu-facts"), again = found_by(bench, "gpu-reset");

  ASSERT_TRUE(before && reset && after && again);
  EXPECT_EQ(value_of(*before, "gpu.reset_required", "gpu3"), 1);
  EXPECT_EQ(value_of(*reset, "gpu.reset.done", "gpu3"), 1);
  EXPECT_EQ(value_of(*reset, "gpu.reset.needed"), 1);
  EXPECT_EQ(flaky(*reset, "gpu3"), "the driver asks for Reset; reset");
  EXPECT_EQ(value_of(*after, "gpu.reset_required", "gpu3"), 0);
  EXPECT_EQ(value_of(*again, "gpu.reset.needed"), 0);
}

TEST(GpuReset, DoesNotMendWhatComesBackUnderLoad) {
  Bench bench{{{.kind = gpu_wants_reset_again, .part = "gpu5"}}};
  const auto required = [&] {
    const auto facts = found_by(bench, "gpu-facts");
    return facts ? value_of(*facts, "gpu.reset_required", "gpu5") : std::nullopt;
  };

  const auto reset = found_by(bench, "gpu-reset");
  const auto at_rest = required();
  {
    const GpuDriver::Context work{bench.host.gpus(), {"gpu5"}, {4711, "cupel-burn", 100}};
  }
  const auto once_it_worked = required();

  ASSERT_TRUE(reset) << reset.error().what;
  EXPECT_EQ(value_of(*reset, "gpu.reset.done", "gpu5"), 1);
  EXPECT_EQ(at_rest, 0);
  EXPECT_EQ(once_it_worked, 1);
}

TEST(GpuReset, RemapsTheRowThatWaits) {
  Bench bench{{{.kind = gpu_remap_pending, .part = "gpu1"}}};

  const auto reset = found_by(bench, "gpu-reset", {{"flaky", "contained"}});
  const auto after = found_by(bench, "gpu-facts");

  ASSERT_TRUE(reset && after);
  EXPECT_EQ(flaky(*reset, "gpu1"), "the driver asks for Reset; a memory repair waits; reset");
  EXPECT_EQ(value_of(*reset, "gpu.reset.may_pass", "gpu1"), 1);
  EXPECT_EQ(value_of(*after, "gpu.remap.pending", "gpu1"), 0);
}

TEST(GpuReset, AnswersAnXidWhoseActionItIsAndNoOther) {
  Bench bench{{{.kind = gpu_xid, .part = "gpu2", .number = 119},
               {.kind = gpu_xid, .part = "gpu4", .number = 13}}};

  const auto reset = found_by(bench, "gpu-reset");

  ASSERT_TRUE(reset) << reset.error().what;
  EXPECT_THAT(flaky(*reset, "gpu2"), HasSubstr("Xid 119"));
  EXPECT_EQ(value_of(*reset, "gpu.reset.done", "gpu2"), 1);
  EXPECT_EQ(value_of(*reset, "gpu.reset.needed", "gpu4"), 0);
}

TEST(GpuReset, LeavesAGpuThatAProgramHolds) {
  Bench bench{{{.kind = gpu_wants_reset, .part = "gpu6"}, {.kind = gpu_busy, .part = "gpu6"}}};

  const auto reset = found_by(bench, "gpu-reset");

  ASSERT_TRUE(reset) << reset.error().what;
  EXPECT_EQ(value_of(*reset, "gpu.reset.done", "gpu6"), 0);
  EXPECT_THAT(flaky(*reset, "gpu6"), HasSubstr("not reset: a program holds it"));
  EXPECT_EQ(bench.host.gpus().restarts("gpu6"), 0);
}

}  // namespace
}  // namespace cupel::rehearsal
