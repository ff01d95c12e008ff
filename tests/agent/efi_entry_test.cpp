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
  std::vector<Argv> changes{};

  Finished run(const Argv& argv) {
    if (argv.front() == "sfdisk") return {0, table(), ""};
    if (argv.at(1) == "-v") return {0, listed(), ""};
    changes.push_back(argv);
    if (argv.at(2) == "-b") remove(argv.at(3));
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
           esp + R"("}]}})";
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
    return enter_os(node_.tree(), "/dev/sda", wish_,
                    [this](const Argv& argv, std::string_view, std::chrono::seconds) {
                      return nvram_.run(argv);
                    });
  }

  NodeTree node_;
  Nvram nvram_;
  BootEntry wish_{.label = "Cupel OS", .efi = "\\EFI\\debian\\shimx64.efi"};
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
  wish_.network_first = true;

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
  wish_.network_first = true;
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
