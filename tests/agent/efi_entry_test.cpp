// The boot entry of what was installed, in an NVRAM as efibootmgr shows it.
#include "burnin/agent/node/boot/efi_entry.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/agent/node_tree.h"

namespace cupel::agent::boot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What efibootmgr does, and what firmware does otherwise.
class Nvram {
 public:
  std::vector<std::string> order{"0000", "0001", "0002"};
  std::vector<std::pair<std::string, std::string>> entries{
      {"0000", "UEFI PXEv4\tPciRoot(0x0)/Pci(0x2,0x0)/MAC(525400000001,1)/IPv4(0.0.0.0)"},
      {"0001", "debian\tHD(1,GPT,old,0x800,0x100000)/File(\\EFI\\debian\\shimx64.efi)"},
      {"0002", "UEFI HTTPv4\tPciRoot(0x0)/MAC(525400000001,1)/IPv4(0.0.0.0)/Uri()"}};
  bool is_full = false, drops_new_entry = false, keeps_its_order = false, has_esp = true;
  bool keeps_old_entries = false, other_disk_fails = false;
  std::vector<Argv> changes{};

  Finished run(const Argv& argv) {
    if (argv.front() == "sfdisk" && argv.back() != "/dev/sda")
      return other_disk_fails ? Finished{1, "", "Input/output error"} : Finished{0, other(), ""};
    if (argv.front() == "sfdisk") return {0, table(), ""};
    if (argv.at(1) == "-v") return {0, listed(), ""};
    changes.push_back(argv);
    if (argv.at(2) == "-b" && !keeps_old_entries) remove(argv.at(3));
    if (argv.at(2) == "-o" && !keeps_its_order) set_order(argv.at(3));
    if (argv.at(2) != "-c") return {0, "", ""};
    if (is_full) return {5, "", "Could not prepare Boot variable: No space left on device"};
    if (drops_new_entry) return {0, "", ""};
    entries.emplace_back("0007", argv.at(8) + "\tHD(1,GPT,new)/File(" + argv.back() + ")");
    order.insert(order.begin(), "0007");
    return {0, "", ""};
  }

 private:
  std::string table() const {
    const std::string esp = has_esp ? "C12A7328-F81F-11D2-BA4B-00A0C93EC93B" : "0FC63DAF";
    return R"({"partitiontable":{"label":"gpt","partitions":[{"node":"/dev/sda2","start":4096,)"
           R"("size":8,"type":"0FC63DAF"},{"node":"/dev/sda1","start":2048,"size":8,"type":")" +
           esp + R"(","uuid":"AAAAAAAA-0000-4000-8000-000000000001"}]}})";
  }
  static std::string other() {
    return R"({"partitiontable":{"label":"gpt","partitions":[{"node":"/dev/sdb1","start":2048,)"
           R"("size":8,"type":"0FC63DAF","uuid":"BBBBBBBB-0000-4000-8000-000000000001"}]}})";
  }
  std::string listed() const {
    std::string text = "BootCurrent: 0000\nTimeout: 1 seconds\nBootOrder: ";
    for (const auto& each : order) text += (each == order.front() ? "" : ",") + each;
    for (const auto& [number, rest] : entries) text += "\nBoot" + number + "* " + rest;
    return text + "\n";
  }
  void remove(const std::string& number) {
    std::erase(order, number);
    std::erase_if(entries, [&](const auto& entry) { return entry.first == number; });
  }
  void set_order(const std::string& text) {
    order.clear();
    for (std::size_t at = 0; at < text.size(); at += 5) order.push_back(text.substr(at, 4));
  }
};

class Entering : public ::testing::Test {
 protected:
  Entering() { node_.write("/sys/firmware/efi/efivars/BootOrder", "x"); }

  Outcome<EnteredOs> enter() {
    return enter_os(node_.tree(), "/dev/sda", request_,
                    [this](const Argv& argv, std::string_view, std::chrono::seconds) {
                      return nvram_.run(argv);
                    });
  }

  NodeTree node_;
  Nvram nvram_;
  BootEntry request_{.label = "Cupel OS", .efi = "\\EFI\\debian\\shimx64.efi"};
};

TEST_F(Entering, PutsItsEntryFirstAndLeavesTheOthersAsTheyAre) {
  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_EQ(entered->entry, "Boot0007");
  EXPECT_THAT(entered->order, ElementsAre("0007", "0000", "0001", "0002"));
  EXPECT_EQ(nvram_.entries.size(), 4u);
  EXPECT_THAT(nvram_.changes,
              ElementsAre(Argv{"efibootmgr", "-q", "-c", "-d", "/dev/sda", "-p", "1", "-L",
                               "Cupel OS", "-l", "\\EFI\\debian\\shimx64.efi"}));
}

TEST_F(Entering, PutsItsEntryBehindTheNetworksWhereTheOrderSaysSo) {
  request_.network_first = true;

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->order, ElementsAre("0000", "0002", "0007", "0001"));
  EXPECT_EQ(nvram_.order, entered->order);
}

TEST_F(Entering, TakesThePlaceOfItsOwnOldEntries) {
  nvram_.entries.emplace_back("0003", "Cupel OS\tHD(1,GPT,older)/File(\\EFI\\x.efi)");
  nvram_.entries.emplace_back("0004", "Cupel OS\tHD(1,GPT,oldest)/File(\\EFI\\x.efi)");
  nvram_.order.emplace_back("0003");

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->order, ElementsAre("0007", "0000", "0001", "0002"));
  EXPECT_EQ(nvram_.entries.size(), 4u);
}

class EnteringAmongOld : public Entering {
 protected:
  EnteringAmongOld() {
    node_.write("/sys/block/sdb/device/type", "0");
    node_.write("/sys/block/sdb/size", std::to_string(kBytes / 512));
    fill_other_disk("EFI PART");
    const auto add = [&](const char* number, const char* label, const char* guid) {
      nvram_.entries.emplace_back(number, std::string{label} + "\tHD(1,GPT," + guid +
                                              "-0000-4000-8000-000000000001,0x800,0x8)/File(\\x)");
      nvram_.order.emplace_back(number);
    };
    add("0003", "written", "aaaaaaaa");
    add("0004", "data", "BBBBBBBB");
    add("0005", "old\x1b[31m", "cccccccc");
    add("0006", "Cupel OS", "dddddddd");
  }

  /// A GPT's mark, or a RAID's, where each stands.
  void fill_other_disk(const std::string& mark, std::size_t at = 512) {
    std::string disk(kBytes, '\0');
    disk.replace(at, mark.size(), mark);
    node_.write_bytes("/dev/sdb", disk);
  }

  static constexpr std::size_t kBytes = 4 << 20;
};

TEST_F(EnteringAmongOld, RemovesThoseWhosePartitionIsOnNoDisk) {
  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->order, ElementsAre("0007", "0000", "0001", "0002", "0003", "0004"));
  EXPECT_THAT(entered->removed, ElementsAre(HasSubstr("Boot0005 old"), "Boot0006 Cupel OS"));
  EXPECT_EQ(entered->removed.front().find('\x1b'), std::string::npos);
}

TEST_F(EnteringAmongOld, RemovesThemBeforeItNeedsRoomForItsOwn) {
  ASSERT_TRUE(enter());

  ASSERT_GE(nvram_.changes.size(), 3u);
  EXPECT_EQ(nvram_.changes.front(), (Argv{"efibootmgr", "-q", "-b", "0005", "-B"}));
  EXPECT_EQ(nvram_.changes.back().at(2), "-c");
}

TEST_F(EnteringAmongOld, RemovesNoneWhereADiskDoesNotSayWhichPartitionsItHas) {
  nvram_.other_disk_fails = true;

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->removed, ElementsAre("Boot0006 Cupel OS"));
}

/// It opens, and each read of it fails, as a directory's does.
TEST_F(EnteringAmongOld, RemovesNoneWhereADiskFailsToRead) {
  std::filesystem::remove(node_.root() + "/dev/sdb");
  std::filesystem::create_directory(node_.root() + "/dev/sdb");

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->removed, ElementsAre("Boot0006 Cupel OS"));
}

TEST_F(EnteringAmongOld, RemovesNoneWhereADiskIsAPartOfAFirmwaresRaid) {
  fill_other_disk("\xDE\x11\xDE\x11", kBytes - 512);

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->removed, ElementsAre("Boot0006 Cupel OS"));
}

TEST_F(EnteringAmongOld, DoesNotCallRemovedWhatTheFirmwareKeeps) {
  std::erase_if(nvram_.entries, [](const auto& entry) { return entry.first == "0006"; });
  std::erase(nvram_.order, "0006");
  nvram_.keeps_old_entries = true;

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_TRUE(entered->removed.empty());
  EXPECT_THAT(entered->order, ::testing::Contains("0005"));
}

TEST_F(EnteringAmongOld, TakesTheNetworkOutOfTheOrderWhereTheOrderSaysSo) {
  request_.network_drop = true;

  const auto entered = enter();

  ASSERT_TRUE(entered) << entered.error().text;
  EXPECT_THAT(entered->order, ElementsAre("0007", "0001", "0003", "0004"));
  EXPECT_EQ(nvram_.order, entered->order);
  EXPECT_EQ(nvram_.entries.front().first, "0000") << "the entry itself stays";
}

TEST_F(Entering, SaysThatTheNvramIsFull) {
  nvram_.is_full = true;

  const auto entered = enter();

  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().cause, Cause::kNvramFull);
}

TEST_F(Entering, SaysThatTheFirmwareDoesNotKeepTheEntry) {
  nvram_.drops_new_entry = true;

  const auto entered = enter();

  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().cause, Cause::kBootOrder);
  EXPECT_THAT(entered.error().text, HasSubstr("does not keep the boot entry"));
}

TEST_F(Entering, SaysThatTheFirmwareDoesNotKeepTheOrder) {
  request_.network_first = true;
  nvram_.keeps_its_order = true;

  const auto entered = enter();

  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().cause, Cause::kBootOrder);
  EXPECT_THAT(entered.error().text,
              HasSubstr("keeps the boot order 0007,0000,0001,0002, not 0000,0002,0007,0001"));
}

TEST_F(Entering, NeedsAnEfiSystemPartition) {
  nvram_.has_esp = false;

  const auto entered = enter();

  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().cause, Cause::kBootOrder);
  EXPECT_THAT(entered.error().text, HasSubstr("no EFI system partition"));
  EXPECT_TRUE(nvram_.changes.empty());
}

TEST_F(Entering, NeedsEfiVariables) {
  std::filesystem::remove_all(node_.root() + "/sys/firmware");

  const auto entered = enter();

  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().cause, Cause::kNoEfiVariables);
}

}  // namespace
}  // namespace cupel::agent::boot
