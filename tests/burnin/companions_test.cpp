// What works on the host beside a stage of the GPUs: how it is started, and distinguished again.
#include "burnin/companions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Parameters kBoth{{"duration", "12h"}, {"beside", "cpu,memory"}};

Job job_of(std::string_view name, const Parameters& with) {
  auto job = stage(name)->prepare(profile(), with);
  EXPECT_TRUE(job) << (job ? std::string{} : job.error().what);
  return job ? *std::move(job) : Job{};
}

TEST(Companions, WorkAsLongAsTheGpusAndLeaveThemCpusAndMemory) {
  for (const auto* name : {"gemm", "hbm", "train"}) {
    const auto alone = job_of(name, {{"duration", "12h"}}), both = job_of(name, kBoth);

    EXPECT_THAT(both.script,
                AllOf(HasSubstr(R"("beside":[{"stage":"cpu","order":{"seconds":43200,"interval")"),
                      HasSubstr(R"({"stage":"memory","order":{"seconds":43170,"stream":30,)"
                                R"("percent":70)"),
                      HasSubstr(R"("spare":8)")));
    EXPECT_THAT(both.tools, Contains("stress-ng"));
    EXPECT_THAT(alone.script, Not(HasSubstr("beside")));
    EXPECT_THAT(alone.tools, Not(Contains("stress-ng")));
    EXPECT_GE(both.limit, hours{15}) << "what memory alone is given for as long";
    EXPECT_THAT(both.script,
                HasSubstr(fmt::format(R"("limit":{},"arguments")", both.limit.count())))
        << "no tool is killed before the job is";
    EXPECT_GE(both.expected, alone.expected);
  }
}

TEST(Companions, AreRefusedWhereTheyAreUnknownOrNamedTwice) {
  for (const auto* written : {"disk", "cpu,cpu", "cpu,", "", "all"})
    EXPECT_FALSE(stage("train")->prepare(profile(), {{"beside", written}})) << written;
  EXPECT_TRUE(companions(*stage("pcie"), {{"beside", "cpu"}})->empty()) << "it knows no companions";
}

TEST(Companions, DrawWhatTheyDrawAlsoButNeverMoreThanALoadedMachine) {
  EXPECT_DOUBLE_EQ(load_share(*stage("hbm"), {}, true), 0.7);
  EXPECT_DOUBLE_EQ(load_share(*stage("hbm"), {{"beside", "cpu"}}, true), 0.9);
  EXPECT_DOUBLE_EQ(load_share(*stage("hbm"), kBoth, true), 1);
  EXPECT_DOUBLE_EQ(load_share(*stage("train"), kBoth, true), 1);
  EXPECT_DOUBLE_EQ(load_share(*stage("cpu"), {}, false), 0.9);
}

std::string with_beside(const std::string& own, const std::string& rest) {
  return "cupel-beside: cpu memory\n" + own + rest + "cupel-companion: end 0\n";
}

TEST(Companions, AreSeparatedFromTheStageAndFromEachOther) {
  Output output{with_beside("cupel-section: end\n",
                            "cupel-companion: cpu 69\ncupel-gave-up: /proc/cpuinfo is gone\n"
                            "cupel-companion-errors: cpu\n"
                            "cupel-companion: memory 0\nnothing\ncupel-companion-errors: memory\n"
                            "mktemp: no space\n"),
                "", 0};

  const auto found = take_companions(profile(), output);

  EXPECT_EQ(output.text, "cupel-beside: cpu memory\ncupel-section: end\n");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, "cpu");
  EXPECT_THAT(found[0].findings.measurements, IsEmpty());
  ASSERT_THAT(found[0].findings.unknown, SizeIs(1));
  EXPECT_EQ(found[0].findings.unknown[0].why, "/proc/cpuinfo is gone");
  ASSERT_THAT(found[1].findings.unknown, SizeIs(1));
  EXPECT_THAT(found[1].findings.unknown[0].why, HasSubstr("mktemp: no space"));
}

constexpr std::string_view kNoted = R"({"kind":"note","name":"beside","text":"cpu memory"})";

TEST(Companions, SeparateLinesOfCupelNodeByTheirStage) {
  const auto text = std::string{kNoted} +
                    "\n"
                    R"({"kind":"stage","stage":"cupel-burn","protocol":1})"
                    "\n"
                    R"({"kind":"stage","stage":"cpu","protocol":1,"of":"cpu"})"
                    "\n"
                    R"({"kind":"evidence","name":"run","out":"\n{\"a\":1,\"of\":\"cpu\"}"})"
                    "\n"
                    R"({"kind":"gave-up","why":"/proc/cpuinfo is gone","of":"cpu"})"
                    "\n"
                    R"({"kind":"done","status":2,"of":"cpu"})"
                    "\n"
                    R"({"kind":"done","of":"disk"})"
                    "\n"
                    R"({"kind":"done","status":0})"
                    "\n"
                    R"({"kind":"cut)";
  Output output{text, "", 0};

  const auto found = take_companions(profile(), output);

  EXPECT_EQ(output.text,
            std::string{kNoted} +
                "\n"
                R"({"kind":"stage","stage":"cupel-burn","protocol":1})"
                "\n"
                R"({"kind":"evidence","name":"run","out":"\n{\"a\":1,\"of\":\"cpu\"}"})"
                "\n"
                R"({"kind":"done","status":0})"
                "\n"
                R"({"kind":"cut)");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].findings.unknown.at(0).why, "/proc/cpuinfo is gone");
  EXPECT_EQ(found[1].findings.unknown.at(0).why, "it did not come to its end");
}

TEST(Companions, ReportACompanionWithoutOutput) {
  Output output{"cupel-beside: cpu memory\n", "", 137};

  const auto found = take_companions(profile(), output);

  ASSERT_THAT(found, SizeIs(2));
  for (const auto& each : found) {
    EXPECT_THAT(each.findings.measurements, IsEmpty());
    ASSERT_THAT(each.findings.unknown, SizeIs(1));
    EXPECT_EQ(each.findings.unknown[0].why, "it did not come to its end");
  }
}

TEST(Companions, OfAStageWithoutThemAreNone) {
  Output output{"cupel-companion: cpu 0\nforged\n", "", 0};

  EXPECT_THAT(take_companions(profile(), output), IsEmpty());
  EXPECT_THAT(output.text, HasSubstr("forged"));
}

}  // namespace
}  // namespace cupel::burnin
