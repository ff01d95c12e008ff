#include <gmock/gmock.h>

#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {
using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kCapture = "gpu-burn/a100_8gpu_ok.log";

/// Two GPUs, as the tool draws them: what it counts of errors in the middle and at the end.
std::string drawn(const std::string& work, const std::string& errors,
                  const std::string& temperatures = "62 C - 59 C ", double percent = 100) {
  return "\r" + plain(percent, 1) + (percent == 100 ? ".0" : "") + "%  proc'd: " + work +
         "  errors: " + errors + "  temps: " + temperatures;
}
std::string ended(const std::string& first = "OK", const std::string& second = "OK") {
  return "\nKilling processes with SIGTERM (soft kill)\ndone\n\nTested 2 GPUs:\n\tGPU 0: " + first +
         "\n\tGPU 1: " + second + "\n";
}
const std::string kWork = "562 (374000 Gflop/s) - 562 (371000 Gflop/s) ";
const std::string kMoreWork = "1124 (373000 Gflop/s) - 1124 (370000 Gflop/s) ";
const std::string kNone = "0 - 0 ";

Result<Findings> burnt(const std::string& text) { return parsed("gpu-burn", burn_asked() + text); }

TEST(GpuBurn, ReadsEightGpusAsTheyWereCaptured) {
  CUPEL_NEEDS_SAMPLE(text, kCapture);

  const auto found = parsed("gpu-burn", burn_asked("double") + text);

  ASSERT_TRUE(found) << refusal(found);
  const auto& findings = *found;
  for (int i = 0; i < 8; ++i) {
    const auto gpu = "gpu" + std::to_string(i);
    EXPECT_EQ(value_of(findings, "gpuburn.errors", gpu), 0);
    EXPECT_EQ(value_of(findings, "gpuburn.died", gpu), 0);
    const auto rate = value_of(findings, "gpuburn.double.rate", gpu);
    ASSERT_TRUE(rate) << gpu;
    // An A100's datasheet: 19.5 TFLOP/s of FP64 on tensor cores.
    EXPECT_GT(*rate, 16) << gpu;
    EXPECT_LT(*rate, 19.5) << gpu;
  }
  EXPECT_EQ(value_of(findings, "gpuburn.temperature", "gpu0"), 62);
  EXPECT_EQ(value_of(findings, "gpuburn.temperature", "gpu7"), 61);
}

TEST(GpuBurn, DoesNotPassByItsExitStatusAlone) {
  const auto found = burnt(drawn(kWork, "0 - 3  (WARNING!)") +
                           drawn(kMoreWork, "0 - 9  (WARNING!)") + ended("OK", "FAULTY"));

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu1"), 9);
  EXPECT_THAT(not_met("gpu-burn", *found),
              Contains("gpu1 gpuburn.errors 9 errors, at most 0 errors"));
}

TEST(GpuBurn, AddsUpCountsThatRestartAfterEachSummary) {
  const auto found =
      burnt(drawn(kWork, "5  (WARNING!)- 0 ", "60 C - 60 C ", 12) +
            "\n\tSummary at:   Thu Mar 10 19:21:17 UTC 2022\n\n" +
            drawn(kMoreWork, kNone, "60 C - 60 C ", 50) +
            drawn("1686 (373000 Gflop/s) - 1686 (370000 Gflop/s) ", "2  (WARNING!)- 0 ") +
            ended("FAULTY"));

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu0"), 7);
}

TEST(GpuBurn, TakesNoWorkForNoProof) {
  CUPEL_NEEDS_SAMPLE(text, kCapture);
  // Its first half, in which seven GPUs had done nothing yet, and its end, in which all are OK.
  const auto half = text.substr(0, text.find("60.0%  proc'd"));
  const auto good = replaced(half.substr(0, half.rfind('\r')), "50.0%", "100.0%") + "\n" +
                    text.substr(text.find("Tested 8 GPUs:"));

  const auto found = parsed("gpu-burn", burn_asked("double") + good);

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu1"), std::nullopt);
  EXPECT_TRUE(says_unknown(*found, "gpu_burn of gpu1"));
  EXPECT_THAT(not_met("gpu-burn", *found),
              Contains("gpu1 gpuburn.errors nothing, at most 0 errors"));
}

TEST(GpuBurn, ReadsNegativeCountsAsWhatTheyOverflowedFrom) {
  const auto found = burnt(drawn(kWork, "0 - -524288000  (WARNING!)") + ended("OK", "FAULTY"));

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu1"), 3770679296);
}

TEST(GpuBurn, NamesTheGpuWhoseProcessDied) {
  const auto found =
      burnt(drawn(kWork, kNone) +
            drawn("1124 (373000 Gflop/s) - -1 (371000 Gflop/s) ", "0 - 0  (DIED!)", "62 C - -- ") +
            ended());

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "gpuburn.died", "gpu1"), 1);
  EXPECT_EQ(value_of(*found, "gpuburn.errors", "gpu1"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gpuburn.died", "gpu0"), 0);
}

TEST(GpuBurn, ReadsDashesAsNoTemperature) {
  const auto found = burnt(drawn(kWork, kNone, "-- - 59 C ") + ended());

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "gpuburn.temperature", "gpu0"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gpuburn.temperature", "gpu1"), 59);
  EXPECT_TRUE(says_unknown(*found, "gpuburn.temperature of gpu0"));
}

TEST(GpuBurn, ProvesNothingWhereItDidNotComeToItsEnd) {
  EXPECT_THAT(refusal(burnt(drawn(kWork, kNone, "62 C - 59 C ", 40) + "\n")),
              HasSubstr("it ended at 40 %"));
  EXPECT_THAT(refusal(burnt(drawn(kWork, kNone) + "\nKilled\n")), HasSubstr("it ended at 100 %"));
  EXPECT_THAT(
      refusal(burnt("Couldn't init CUDA: system not yet initialized\n" +
                    drawn("-1 (0 Gflop/s) - -1 (0 Gflop/s) ", "0  (DIED!)- 0  (DIED!)") + "\n")),
      HasSubstr("system not yet initialized"));
  EXPECT_THAT(refusal(parsed("gpu-burn", "sh: out of memory\n")), HasSubstr("it was not started"));
}

TEST(GpuBurn, FailsAllEightWhereAllAreEquallySlow) {
  Findings slow, usual;
  for (int i = 0; i < 8; ++i)
    for (auto* findings : {&slow, &usual}) {
      const auto gpu = "gpu" + std::to_string(i);
      findings->measurements.push_back({"gpuburn.errors", gpu, 0, "errors"});
      findings->measurements.push_back({"gpuburn.died", gpu, 0, "count"});
      // What healthy ones differ by: a twentieth.
      const double rate = findings == &slow ? 250 : 373 - 19.0 * (i % 2);
      findings->measurements.push_back({"gpuburn.tensor.rate", gpu, rate, "TFLOP/s"});
    }

  EXPECT_THAT(not_met("gpu-burn", slow),
              AllOf(SizeIs(8), Each(EndsWith(" 250 TFLOP/s, at least 300 TFLOP/s"))));
  EXPECT_THAT(not_met("gpu-burn", usual), IsEmpty());
}

TEST(GpuBurn, ReadsTheSameOfCupelNodeAsOfAnEarlierVersionsScript) {
  const auto text = drawn(kWork, kNone) + drawn(kMoreWork, "0 - 9  (WARNING!)") + ended();
  const auto asked = R"({"kind":"asked","name":"seconds","value":10})"
                     "\n"
                     R"({"kind":"note","name":"precision","text":"tensor"})"
                     "\n";
  const auto old = burnt(std::string{kScriptGpus} + replaced(text, "\r", "\n"));
  const auto fresh = parsed("gpu-burn", agent_ran("gpu-burn", "gpu_burn", text, asked));

  ASSERT_TRUE(old && fresh) << refusal(fresh);
  EXPECT_EQ(*fresh, *old);
  EXPECT_EQ(value_of(*fresh, "gpuburn.tensor.rate", "gpu1"), 370);
  EXPECT_THAT(refusal(parsed("gpu-burn", agent_ran("gpu-burn", "gpu_burn", "", "", 127, "no env"))),
              HasSubstr("it was not started: no env"));
}

}  // namespace
}  // namespace cupel::burnin
