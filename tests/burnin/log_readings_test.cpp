// What the readings of the kernel's log become.
#include "burnin/node/log_readings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/criteria/judge.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kMark =
    R"({"kind":"kernel-log","readable":true,"boot":"b1","last":5,"places":{"gpu0":"0000:1b:00.0",)"
    R"("gpu1":"0000:43:00.0","gpu2":"0000:52:00.0"}})";

Result<Findings> read(const std::vector<std::string>& documents) {
  Output output;
  for (const auto& each : documents) output.beside += each + "\n";
  return parsed("kernel-log", output);
}

std::string reading(const std::string& rows, const std::string& more = "",
                    const std::string& places = R"({"gpu0":"0000:1b:00.0"})") {
  return R"({"kind":"kernel-log","readable":true,"boot":"b1","last":9,"restarted":false,"lost":0,)" +
         more + R"("places":)" + places + R"(,"messages":[)" + rows + "]}";
}

TEST(LogReadings, NameAGpuByTheAddressThatItHadBeforeItFellOffItsBus) {
  const auto found =
      read({std::string{kMark},
            reading(R"({"class":"xid","weight":"error","code":79,"part":"pci 0000:43:00.0",)"
                    R"("pci":"0000:43:00.0","count":1,"detail":"GPU has fallen off the bus."})",
                    "", R"({"gpu0":"0000:1b:00.0","gpu1":"0000:52:00.0"})")});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel.xid", "gpu1"), 79);
  EXPECT_EQ(value_of(*found, "kernel.xid", "gpu2"), 0);
  EXPECT_EQ(value_of(*found, "kernel_log.complete"), 1);
}

TEST(LogReadings, OfOneStageAreAddedUp) {
  const std::string nvme = R"({"class":"nvme","weight":"error","part":"nvme3","count":2,)"
                           R"("detail":"nvme3: I/O 12 QID 4 timeout, aborting"})";
  const auto found = read({std::string{kMark}, reading(nvme), reading(nvme)});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel.nvme", "nvme3"), 4);
  EXPECT_EQ(value_of(*found, "kernel.nvme"), 4);
  EXPECT_EQ(value_of(*found, "kernel.mce"), 0);
  const auto whole = std::ranges::find_if(found->measurements, [](const auto& each) {
    return each.name == "kernel.nvme" && each.part.empty();
  });
  EXPECT_EQ(whole->traced_to, "nvme3") << "for the cause to name";
}

TEST(LogReadings, OfAGpuAtNoKnownPlaceAreAGpusAllTheSame) {
  const auto found =
      read({reading(R"({"class":"xid","weight":"error","code":48,"part":"pci 0000:77:00.0",)"
                    R"("pci":"0000:77:00.0","count":1,"detail":"DBE"})",
                    "", "{}")});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel.xid", "gpu at 0000:77:00.0"), 48);
}

std::string replaced_lost(std::string document, int lost) {
  const std::string_view none = R"("lost":0)";
  return document.replace(document.find(none), none.size(), R"("lost":)" + std::to_string(lost));
}

std::string message(const std::string& kind, const std::string& weight, const std::string& more) {
  return R"({"class":")" + kind + R"(","weight":")" + weight +
         R"(","part":"gpu0","pci":"0000:1b:00.0","count":1,"detail":"x",)" + more + "}";
}

const std::string kAer = message("aer", "corrected", R"("since_boot":100.5)");
const std::string kXid = message("xid", "error", R"("code":79,"since_boot":101.25)");

TEST(LogReadings, SayWhenEachKindOfMessageFirstCame) {
  const auto found = read({std::string{kMark}, reading(kXid + "," + kAer),
                           reading(message("aer", "corrected", R"("since_boot":200)"))});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "first.kernel.aer.corrected", "gpu0"), 100.5);
  EXPECT_EQ(value_of(*found, "first.kernel.xid.79", "gpu0"), 101.25);
}

TEST(LogReadings, SayNothingOfTheOrderWhereTheClockWasNotOne) {
  const auto earlier = message("aer", "corrected", R"("since_boot":3)");
  auto after_a_restart = reading(earlier);
  after_a_restart.replace(after_a_restart.find(R"("restarted":false)"), 17, R"("restarted":true)");
  const auto timeless = message("xid", "error", R"("code":79,"since_boot":"soon")");
  const auto negative = message("xid", "error", R"("code":79,"since_boot":-1)");
  const std::vector<std::vector<std::string>> readings{{reading(kXid), reading(earlier)},
                                                       {reading(kXid), after_a_restart},
                                                       {reading(timeless)},
                                                       {reading(negative)}};

  for (const auto& each : readings) {
    const auto found = read(each);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(value_of(*found, "kernel.xid", "gpu0"), 79);
    for (const auto& number : found->measurements)
      EXPECT_FALSE(number.name.starts_with("first.")) << number.name;
  }
}

TEST(LogReadings, OfAnotherBootSayThatTheNodeRestartedAndWhen) {
  const auto found = read(
      {std::string{kMark},
       R"({"kind":"kernel-log","readable":true,"boot":"b2","last":1,"restarted":true,"lost":0,)"
       R"("booted":1795919165,"places":{},"messages":[]})"});
  const auto quiet = read({std::string{kMark}, reading("")});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "node.restarted"), 1);
  const auto reported =
      std::ranges::find(found->measurements, "node.restarted", &Measurement::name);
  EXPECT_THAT(reported->traced_to, HasSubstr("2026-11-29"));
  EXPECT_EQ(value_of(*quiet, "node.restarted"), 0);
}

TEST(LogReadings, OfABootCountErrorsAndNotWhatEveryBootLogs) {
  const auto row = [](const char* kind, const char* weight, const char* detail = "y") {
    return fmt::format(R"({{"class":"{}","weight":"{}","part":"x","count":1,"detail":"{}"}})", kind,
                       weight, detail);
  };
  const auto found =
      read({reading(row("gpu", "error") + "," + row("mce", "error") + "," + row("link", "error") +
                        "," + row("iommu", "error") + "," + row("thermal", "information") + "," +
                        row("pcie", "error", "pciehp: Slot(5): Link Down"),
                    R"("from_boot":true,)"),
            reading(row("link", "error"))});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel.gpu"), 1);
  EXPECT_EQ(value_of(*found, "kernel.mce"), 1);
  EXPECT_EQ(value_of(*found, "kernel.iommu"), 0);
  EXPECT_EQ(value_of(*found, "kernel.thermal"), 0);
  EXPECT_EQ(value_of(*found, "kernel.pcie"), 0);
  EXPECT_EQ(value_of(*found, "kernel.link"), 1) << "of the reading behind the boot";
  EXPECT_EQ(value_of(*found, "kernel_log.complete"), 1);
}

TEST(LogReadings, OfABootThatTheKernelOverwroteAreNoGapUnderLoad) {
  const auto found = read({replaced_lost(reading("", R"("from_boot":true,)"), 900), reading("")});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel_log.complete"), 1);
  EXPECT_TRUE(says_unknown(*found, "the beginning of the boot's log"));
}

TEST(LogReadings, CountTheXidsAndSxidsOfEachPart) {
  const auto found = read({reading(
      R"({"class":"xid","weight":"information","code":13,"part":"gpu0","count":60,"detail":"x"},)"
      R"({"class":"sxid","weight":"information","code":20001,"part":"nvswitch2","count":70,)"
      R"("detail":"y"})")});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "kernel.xid.count", "gpu0"), 60);
  EXPECT_EQ(value_of(*found, "kernel.sxid.count", "nvswitch2"), 70);
  std::vector<std::string> failed;
  for (const auto& each : judge(profile(), {"kernel-log"}, {{"kernel-log", *found}}))
    if (each.met == Met::failed) failed.push_back(each.part + " " + each.measure);
  EXPECT_THAT(failed, ElementsAre("gpu0 kernel.xid.count", "nvswitch2 kernel.sxid.count"));
}

TEST(LogReadings, ThatLackAPartAreNotComplete) {
  const auto restarted = read(
      {R"({"kind":"kernel-log","readable":true,"boot":"b2","last":1,"restarted":true,"lost":0,)"
       R"("places":{},"messages":[]})"});
  const auto unplaced = read({std::string{kMark}});

  EXPECT_EQ(value_of(*restarted, "kernel_log.complete"), 0);
  EXPECT_THAT(restarted->unknown.front().why, HasSubstr("restarted"));
  EXPECT_EQ(value_of(*unplaced, "kernel_log.complete"), 0);
}

TEST(LogReadings, ThatDidNotComeProveNothing) {
  for (const std::string text :
       {R"({"failed":"no answer"})", R"({"kind":"kernel-log","readable":false,"why":"denied"})"}) {
    const auto found = read({std::string{kMark}, text});

    ASSERT_TRUE(found);
    EXPECT_TRUE(found->measurements.empty());
    EXPECT_EQ(found->unknown.size(), 1);
  }
  EXPECT_FALSE(read({"nonsense"}));
  EXPECT_FALSE(read({R"({"kind":"facts"})"}));
}

}  // namespace
}  // namespace cupel::burnin
