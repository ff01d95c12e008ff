// One reading of the kernel's log from a position on, with a file in the place of /dev/kmsg.
#include "burnin/agent/node/watch/log_reading.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/agent/node_tree.h"

namespace cupel::agent {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kBoot = "4f1c2b0a-0000-4000-8000-000000000001";

class LogReading : public ::testing::Test {
 protected:
  LogReading() {
    node.write("/proc/sys/kernel/random/boot_id", kBoot);
    node.pci("pci0000:9b/0000:9b:00.0", "0x030200", "0x10de", "32.0 x16", "32.0 x16");
    node.pci("pci0000:1b/0000:1b:00.0", "0x030200", "0x10de", "32.0 x16", "32.0 x16");
  }

  /// Records from `first` on, one a second.
  void log(std::uint64_t first, const std::vector<std::string>& texts) const {
    std::string all;
    for (const auto& text : texts) {
      all += "4," + std::to_string(first) + "," + std::to_string(first * 1'000'000) + ",-;" + text +
             "\n";
      ++first;
    }
    node.write_bytes("/dev/kmsg", all);
  }
  json::value read(std::optional<LogPosition> since = std::nullopt) const {
    const auto text = log_document(node.tree(), {.since = since});
    EXPECT_LT(text.size(), 16u * 1024);
    return parse_json(text).value();
  }
  static LogPosition at(std::uint64_t sequence) { return {std::string{kBoot}, sequence}; }

  NodeTree node{};
};

TEST_F(LogReading, ReportsWhereTheLogStandsAndNothingElseWithoutAPosition) {
  log(7, {"NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", "usb 1-1: new device"});

  const auto reported = read();

  EXPECT_EQ(text_at(reported, "boot"), kBoot);
  EXPECT_EQ(number_at(reported, "last"), 8);
  EXPECT_EQ(find(reported, "messages"), nullptr);
  EXPECT_EQ(text_at(reported, "places/gpu1"), "0000:9b:00.0");
}

TEST_F(LogReading, BeginsBehindThePosition) {
  log(7, {"NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.",
          "NVRM: Xid (PCI:0000:9b:00): 94, pid=1, name=cupel-burn, Contained: SM",
          "nvme nvme3: I/O 12 QID 4 timeout, aborting",
          "NVRM: Xid (PCI:0000:9b:00): 94, pid=1, name=cupel-burn, Contained: SM"});

  const auto reported = read(at(7));

  const auto& rows = find(reported, "messages")->as_array();
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(text_at(rows[0], "part"), "gpu1");
  EXPECT_EQ(text_at(rows[0], "pci"), "0000:9b:00.0");
  EXPECT_EQ(number_at(rows[0], "code"), 94);
  EXPECT_EQ(number_at(rows[0], "count"), 2);
  EXPECT_EQ(number_at(rows[0], "since_boot"), 8);
  EXPECT_EQ(text_at(rows[1], "part"), "nvme3");
  EXPECT_EQ(number_at(reported, "last"), 10);
  EXPECT_EQ(number_at(reported, "lost"), 0);
  EXPECT_EQ(number_at(reported, "records"), 3);
  EXPECT_FALSE(find(reported, "restarted")->as_bool());
}

TEST_F(LogReading, CountsTheRecordsThatTheKernelHadOverwritten) {
  log(100, {"usb 1-1: new device", "usb 1-1: gone"});

  EXPECT_EQ(number_at(read(at(40)), "lost"), 59);
  EXPECT_EQ(number_at(read(at(99)), "lost"), 0);
  EXPECT_EQ(number_at(read(at(101)), "lost"), 0);
  EXPECT_EQ(number_at(read(at(101)), "last"), 101);
}

TEST_F(LogReading, ReadsAnotherBootFromItsBeginningAndSaysSo) {
  log(0, {"Linux version 6.8", "mce: Uncorrected hardware memory error in user-access at 3f0"});

  const auto reported = read(LogPosition{"an-earlier-boot", 5000});

  EXPECT_TRUE(find(reported, "restarted")->as_bool());
  EXPECT_EQ(number_at(reported, "lost"), 0);
  EXPECT_EQ(find(reported, "messages")->as_array().size(), 1);
}

TEST_F(LogReading, BeginsWithTheBootWhereThatIsAskedFor) {
  log(3, {"mce: Uncorrected hardware memory error in user-access at 3f0", "usb 1-1: new device"});
  node.write("/proc/uptime", "125.10 99.0");

  const auto reported = parse_json(log_document(node.tree(), {.whole_boot = true})).value();

  EXPECT_TRUE(find(reported, "from_boot")->as_bool());
  EXPECT_FALSE(find(reported, "restarted")->as_bool());
  EXPECT_EQ(number_at(reported, "lost"), 3) << "before the kernel's oldest record";
  EXPECT_EQ(find(reported, "messages")->as_array().size(), 1);
  EXPECT_GT(number_at(reported, "booted").value_or(0), 1.7e9);
}

TEST_F(LogReading, HasNoNewsWhereNothingWasLoggedSince) {
  log(1, {"usb 1-1: new device"});

  const auto reported = read(at(1));

  EXPECT_TRUE(find(reported, "messages")->as_array().empty());
  EXPECT_EQ(number_at(reported, "records"), 0);
}

TEST_F(LogReading, KeepsErrorsWhereThereIsNoRoomForAll) {
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i)
    texts.push_back("nvidia-nvswitch" + std::to_string(i) +
                    ": SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 61 " +
                    std::string(200, 'x'));
  texts.push_back("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.");
  log(1, texts);

  const auto reported = read(at(0));

  const auto& rows = find(reported, "messages")->as_array();
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(number_at(rows[0], "code"), 79);
  EXPECT_GT(number_at(reported, "rows_left_out"), 2900);
}

TEST_F(LogReading, SaysWhyTheLogCannotBeRead) {
  const auto reported = read(at(1));

  EXPECT_FALSE(find(reported, "readable")->as_bool());
  EXPECT_THAT(text_at(reported, "why").value_or(""), HasSubstr("No such file"));
}

TEST_F(LogReading, RefusesAPositionWithoutItsBoot) {
  for (const auto& words : {std::vector<std::string_view>{"--after", "7"},
                            {"--boot", "x", "--after", "7", "--from-boot"}})
    EXPECT_EQ(kernel_log(words), kUsage);
}

}  // namespace
}  // namespace cupel::agent
