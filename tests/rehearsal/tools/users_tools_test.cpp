// The tools that users have, run by the stages as they are on a virtual node: what a healthy one
// measures meets its profile, and what is planted is found and named.
#include "burnin/criteria/judge.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "gpu3 gpuburn.errors": what the profile does not accept of this stage; or why there is nothing.
Texts not_met(Bench& bench, const std::string& stage, const burnin::Parameters& with = {}) {
  const auto found = found_by(bench, stage, with);
  if (!found) return {std::string{found.error().what}};
  Texts reported;
  for (const auto& each : burnin::judge(dgx(), {stage}, {{stage, *found}}))
    if (each.met != burnin::Met::met) reported.push_back(each.part + " " + each.measure);
  return reported;
}

struct Found {
  const char* stage;
  burnin::Parameters with;
  std::vector<Fault> faults;
  const char* names;  // empty: everything is met
};

class UsersTool : public ::testing::TestWithParam<Found> {};

TEST_P(UsersTool, FindsWhatIsThereAndNothingElse) {
  const auto& row = GetParam();
  Bench bench{row.faults};

  const auto reported = not_met(bench, row.stage, row.with);

  if (*row.names == '\0')
    EXPECT_THAT(reported, IsEmpty());
  else
    EXPECT_THAT(reported, Contains(HasSubstr(row.names)));
}

const Found kFound[] = {
    {"dcgm-diag", {}, {}, ""},
    {"dcgm-diag", {{"level", "3"}}, {}, ""},
    {"dcgm-diag", {}, {{.kind = gpu_ecc, .part = "gpu2", .errors = 3}}, "gpu2 dcgm.errors.isolate"},
    {"dcgm-diag", {}, {{.kind = gpu_slow_link, .part = "gpu0", .width = 8}}, "gpu0 dcgm.failed"},
    {"dcgm-diag",
     {{"level", "1"}},
     {{.kind = persistence_off, .part = "gpu7"}},
     "gpu7 dcgm.errors.config"},
    {"dcgm-diag",
     {{"level", "3"}},
     {{.kind = gpu_wrong_results, .part = "gpu4"}},
     "gpu4 dcgm.failed"},
    {"dcgm-diag", {}, {{.kind = driver_mismatch}}, "unable to establish a connection"},
    {"dcgm-diag", {}, {{.kind = gpu_busy, .part = "gpu6"}}, "GPUs are in use"},
    {"dcgm-diag", {}, {{.kind = mig_on, .part = "gpu7"}}, "MIG is on"},
    {"nvbandwidth", {}, {}, ""},
    {"nvbandwidth", {}, {{.kind = gpu_slow_link, .part = "gpu3", .width = 8}}, "gpu3 pcie.h2d"},
    {"nvbandwidth", {}, {{.kind = gpu_missing, .part = "gpu5"}}, "gpu5 pcie.h2d"},
    {"nvbandwidth", {}, {{.kind = fabric_manager_off}}, "system not yet initialized"},
    {"nccl-tests", {}, {}, ""},
    {"nccl-tests", {{"nvls", "off"}}, {}, ""},
    {"nccl-tests", {{"operation", "all_gather"}}, {}, ""},
    {"nccl-tests", {}, {{.kind = gpu_wrong_results, .part = "gpu3"}}, "collective.errors"},
    {"nccl-tests", {}, {{.kind = fabric_manager_off}}, "system not yet initialized"},
    {"gpu-burn", {{"duration", "60s"}}, {}, ""},
    {"gpu-burn", {{"duration", "60s"}, {"precision", "double"}}, {}, ""},
    {"gpu-burn",
     {{"duration", "5m"}},
     {{.kind = gpu_wrong_results, .part = "gpu4"}},
     "gpu4 gpuburn.errors"},
    {"gpu-burn",
     {{"duration", "5m"}},
     {{.kind = gpu_power_capped, .part = "gpu0", .amount = 300}},
     "gpu0 gpuburn.tensor.rate"},
    {"gpu-burn",
     {{"duration", "60s"}},
     {{.kind = fabric_manager_off}},
     "system not yet initialized"},
};

INSTANTIATE_TEST_SUITE_P(All, UsersTool, ::testing::ValuesIn(kFound), [](const auto& info) {
  return std::regex_replace(std::string{info.param.stage}, std::regex{"-"}, "_") + "_" +
         std::to_string(info.index);
});

TEST(GpuBurnTool, GivesTheOthersTheirNamesWhereOneIsMissing) {
  Bench bench{{{.kind = gpu_missing, .part = "gpu5"}, {.kind = gpu_wrong_results, .part = "gpu6"}}};

  const auto found = found_by(bench, "gpu-burn", {{"duration", "5m"}});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu5"), std::nullopt);
  EXPECT_GT(value_of(*found, "gpuburn.errors", "gpu6").value_or(0), 0);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu7"), 0);
}

TEST(GpuBurnTool, EndsWellWhateverItFoundAndDrawsItsLineAnew) {
  CUPEL_NEEDS_SAMPLE(capture, "gpu-burn/a100_8gpu_ok.log");
  Bench bench{{{.kind = gpu_wrong_results, .part = "gpu1"}}};
  const auto first_drawn = [](const std::string& text) {
    const auto begin = text.find("%  proc'd: ");
    return shape_of(text.substr(begin, text.find("temps: ", begin) - begin));
  };

  const auto run = bench.sh("gpu_burn -d -tc 120");
  const auto well = Bench{}.sh("gpu_burn -d -tc 120");

  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("(WARNING!)"));
  EXPECT_THAT(run.out, HasSubstr("\tGPU 1: FAULTY\n"));
  EXPECT_GT(std::ranges::count(run.out, '\r'), 20);
  EXPECT_EQ(first_drawn(well.out), first_drawn(capture));
}

TEST(GpuBurnTool, NamesAGpuThatFallsOffItsBusUnderIt) {
  Fault fault{.kind = gpu_off_bus, .part = "gpu3"};
  fault.timing.under = "gemm";
  Bench bench{{fault}};

  const auto found = found_by(bench, "gpu-burn", {{"duration", "5m"}});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpuburn.died", "gpu3"), 1);
  EXPECT_EQ(value_of(*found, "gpuburn.died", "gpu2"), 0);
}

TEST(NcclTool, TellsWhetherTheSwitchesSum) {
  Bench bench;

  const auto on = found_by(bench, "nccl-tests");
  const auto off = found_by(bench, "nccl-tests", {{"nvls", "off"}});

  ASSERT_TRUE(on && off);
  EXPECT_EQ(value_of(*on, "collective.nvls"), 1);
  EXPECT_EQ(value_of(*off, "collective.nvls"), 0);
  EXPECT_EQ(on->facts.at("nccl.version"), "2.28.9+cuda13.0");
  EXPECT_GT(value_of(*on, "collective.all_reduce.busbw", "nvlinks").value_or(0), 460);
  EXPECT_LT(value_of(*off, "collective.rings.all_reduce.busbw", "nvlinks").value_or(999), 400);
}

}  // namespace
}  // namespace cupel::rehearsal
