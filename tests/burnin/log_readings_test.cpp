// What the readings of the kernel's log become.
#include "burnin/node/log_readings.h"

#include <gmock/gmock.h>

#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

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
