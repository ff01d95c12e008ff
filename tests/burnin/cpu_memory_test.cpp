#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {
using ::testing::HasSubstr;

constexpr std::string_view kGood =
    R"(cupel-asked-seconds: 2
oom_kill 3
stress-ng: info:  [13290] setting to a 2 second run per stressor
stress-ng: info:  [13290] dispatching hogs: 2 cpu, 2 vm
stress-ng: metrc: [13290] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s CPU used per       RSS Max
stress-ng: metrc: [13290]                           (secs)    (secs)    (secs)   (real time) (usr+sys time) instance (%)          (KB)
stress-ng: metrc: [13290] cpu                3372      2.00      1.96      0.00      1684.50        1716.83        49.06          6540
stress-ng: metrc: [13290] vm               158384      2.00      1.49      0.52     79093.23       79112.33        49.99         20612
stress-ng: info:  [13290] skipped: 0
stress-ng: info:  [13290] successful run completed in 2.00s
oom_kill 3
)";

std::string without(std::string_view line_part, std::string_view text = kGood) {
  std::string kept;
  for (const auto line : lines(text))
    if (!line.contains(line_part)) kept += std::string{line} + "\n";
  return kept;
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text{kGood};
  return text.replace(text.rfind(from), from.size(), to);
}

TEST(CpuMemory, CountsNoFailureWhereAllWorkWasDoneAndRight) {
  const auto found = parsed("cpu-memory", std::string{kGood});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->measurements,
            (std::vector<Measurement>{{"stress.failures", "", 0, "errors"},
                                      {"stress.bogo_ops", "cpu", 3372, "count"},
                                      {"stress.bogo_ops", "vm", 158384, "count"}}));
}

TEST(CpuMemory, CountsEveryWrongResult) {
  const auto text =
      changed("stress-ng: info:  [13290] successful",
              "stress-ng: fail:  [13295] vm: detected 3 memory errors, offset 0x1000\n"
              "stress-ng: fail:  [13296] cpu: calculation error of bitops\n"
              "stress-ng: info:  [13290] unsuccessful");

  const auto found = parsed("cpu-memory", text, 2);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "stress.failures"), 2);
}

TEST(CpuMemory, TakesTheExitStatusForAFailureEvenWithoutAWord) {
  const auto found = parsed("cpu-memory", std::string{kGood}, 2);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "stress.failures"), 1);
}

TEST(CpuMemory, ProvesNothingWhereWorkWasLeftUndone) {
  const auto late = changed("oom_kill 3", "oom_kill 4");
  const auto idle = changed("158384", "0");
  const auto shorter = changed("3372      2.00", "3372      1.10");
  const auto skipped = changed("skipped: 0", "vm: skipping stressor, out of memory");
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {late, "killed for memory"},
           {idle, "stressor vm did no work"},
           {shorter, "ran for 1.1 of 2 s"},
           {skipped, "skipping"},
           {without("cpu   "), "stressor cpu did no work"},
           {without("bogo ops"), "did no work"},
           {without("oom_kill"), "oom_kill"},
           {without("cupel-asked"), "not started"},
           {"cupel-gave-up: stress-ng is not installed on the node\n",
            "stress-ng is not installed on the node"}}) {
    const auto found = parsed("cpu-memory", text);
    ASSERT_FALSE(found) << why;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_THAT(found.error().what, HasSubstr(why));
  }
  EXPECT_EQ(parsed("cpu-memory", std::string{kGood}, 3).error().code, Code::kNoMeasurement);
}

TEST(CpuMemory, RefusesWhatCannotBeMeant) {
  for (const auto& [with, why] : std::vector<std::pair<Parameters, std::string>>{
           {{{"duration", "soon"}}, "duration must be a duration of 1s to 168h, not 'soon'"},
           {{{"duration", "0s"}}, "duration"},
           {{{"duration", "169h"}}, "168h"},
           {{{"memory", "96%"}}, "memory must be 1% to 95%, or a size, not '96%'"},
           {{{"memory", "0%"}}, "memory"},
           {{{"memory", "80%; reboot"}}, "memory must be a size of 1 MiB to 64 TiB"},
           {{{"memory", "4KiB"}}, "memory"}}) {
    const auto job = prepared("cpu-memory", with);
    ASSERT_FALSE(job) << why;
    EXPECT_EQ(job.error().code, Code::kInvalid);
    EXPECT_THAT(job.error().what, HasSubstr(why));
  }
}

/// As cupel-node sends what stress-ng printed.
std::string agent_text(const std::string& kills_after, const std::string& cut = "false",
                       const std::string& fails = "") {
  const auto note = [](const std::string& name, const std::string& text) {
    return R"({"kind":"note","name":"oom-kills-)" + name + R"(","text":")" + text + "\"}\n";
  };
  const auto printed = without("oom_kill", without("cupel-asked")) + fails;
  return R"({"kind":"stage","stage":"cpu-memory","protocol":1})"
         "\n"
         R"({"kind":"asked","name":"seconds","value":2})"
         "\n" +
         note("before", "3") + note("after", kills_after) +
         R"({"kind":"evidence","name":"stress-ng","part":"","status":0,"cut":)" + cut +
         R"(,"out":"","err":)" + json::serialize(json::string(printed)) + "}\n" +
         R"({"kind":"done","status":0})" + "\n";
}

TEST(CpuMemory, ReadsTheSameOfCupelNodeAsOfAnEarlierVersionsScript) {
  const auto fresh = parsed("cpu-memory", agent_text("3"));

  ASSERT_TRUE(fresh) << fresh.error().what;
  EXPECT_EQ(*fresh, *parsed("cpu-memory", std::string{kGood}));
  EXPECT_THAT(parsed("cpu-memory", agent_text("4")).error().what, HasSubstr("killed for memory"));
}

TEST(CpuMemory, ProvesNothingByAnOutputThatTheNodeCutUnlessItFailed) {
  const auto cut = parsed("cpu-memory", agent_text("3", "true"));
  const auto failed = parsed(
      "cpu-memory", agent_text("3", "true", "stress-ng: fail:  [13295] vm: detected 3 errors\n"));

  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().what, HasSubstr("more than cupel-node keeps"));
  ASSERT_TRUE(failed) << failed.error().what;
  EXPECT_EQ(value_of(*failed, "stress.failures"), 1);
}

}  // namespace
}  // namespace cupel::burnin
