// How the firmware booted a machine, and what the kernel chose, in a written /sys and /proc.
#include <gmock/gmock.h>

#include "base/json.h"
#include "burnin/agent/node/efi_variables.h"
#include "burnin/agent/node/facts/sections.h"
#include "tests/agent/node_tree.h"

namespace cupel::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BootSettings : public ::testing::Test {
 protected:
  json::value document() const {
    auto parsed = parse_json(facts_document(node.tree(), nvml::Library{"libabsent.so"}));
    EXPECT_TRUE(parsed);
    return parsed ? *std::move(parsed) : json::value{};
  }
  void variable(std::string_view name, const std::string& data) const {
    node.write_bytes(efi_variable_path(name), std::string{"\x07\0\0\0", 4} + data);
  }

  NodeTree node;
};

std::vector<std::string> unknown(const json::value& facts) {
  std::vector<std::string> names;
  for (const auto& each : find(facts, "unknown")->as_array())
    names.push_back(text_at(each, "fact").value_or(""));
  return names;
}

bool is_unknown(const json::value& facts, std::string_view fact) {
  const auto names = unknown(facts);
  return std::ranges::find(names, fact) != names.end();
}

/// A node of a device path: type, subtype, length, data.
std::string node_of(int type, int subtype, const std::string& data) {
  const auto length = data.size() + 4;
  return std::string{static_cast<char>(type), static_cast<char>(subtype), static_cast<char>(length),
                     '\0'} +
         data;
}

/// EFI_LOAD_OPTION, UEFI 2.10, 3.1.3.
std::string option(bool active, std::string_view label, std::string path) {
  path += std::string{"\x7F\xFF\x04\0", 4};
  std::string bytes{active ? '\1' : '\0', '\0', '\0', '\0', static_cast<char>(path.size()), '\0'};
  for (const char letter : label) (bytes += letter) += '\0';
  return bytes + std::string(2, '\0') + path;
}

const std::string kDisk = node_of(4, 1, std::string(38, 'p')) + node_of(4, 4, "\\");
const std::string kPxe = node_of(1, 1, "ab") + node_of(3, 11, std::string(33, 'm'));
const std::string kHttp = kPxe + node_of(3, 24, "http://10.0.0.1/boot/x");

TEST_F(BootSettings, ShowSecureBootAndTheBootOrderOfAUefi) {
  variable("SecureBoot", "\1");
  variable("SetupMode", std::string(1, '\0'));
  variable("BootCurrent", std::string{"\x03\0", 2});
  variable("BootOrder", std::string{"\x03\0\x0A\0\x01\0\x02\0", 8});
  variable("Boot0003", option(true, "ubuntu\x1b[2J", kDisk));
  variable("Boot000A", option(false, "HTTP", kHttp));
  variable("Boot0001", option(true, "UEFI: Built-in EFI Shell", node_of(4, 6, "guid")));

  const auto facts = document();

  EXPECT_EQ(text_at(facts, "firmware/boot_mode"), "uefi");
  EXPECT_EQ(*find(facts, "firmware/secure_boot"), json::value(true));
  EXPECT_EQ(*find(facts, "firmware/setup_mode"), json::value(false));
  EXPECT_EQ(text_at(facts, "firmware/boot_current"), "Boot0003");
  const auto expected = parse_json(
      R"([{"name":"Boot0003","label":"ubuntu[2J","active":true,"kind":"disk"},)"
      R"({"name":"Boot000A","label":"HTTP","active":false,"kind":"http"},)"
      R"({"name":"Boot0001","label":"UEFI: Built-in EFI Shell","active":true,"kind":"shell"},)"
      R"({"name":"Boot0002"}])");
  EXPECT_EQ(*find(facts, "firmware/boot_order"), *expected);
  EXPECT_TRUE(is_unknown(facts, "boot entry Boot0002"));
}

TEST_F(BootSettings, AreUnknownWithoutVariablesAndNoValue) {
  std::filesystem::create_directories(node.root() + "/sys/firmware/efi/efivars");

  const auto facts = document();

  EXPECT_EQ(text_at(facts, "firmware/boot_mode"), "uefi");
  for (const auto* key : {"secure_boot", "setup_mode", "boot_current", "boot_order"})
    EXPECT_EQ(find(facts, std::string{"firmware/"} + key), nullptr) << key;
  for (const auto* fact : {"SecureBoot", "SetupMode", "boot order"})
    EXPECT_TRUE(is_unknown(facts, fact)) << fact;
}

TEST_F(BootSettings, OfAnEmptyTreeAreAllUnknown) {
  const auto facts = document();

  EXPECT_EQ(find(facts, "firmware/boot_mode"), nullptr);
  EXPECT_EQ(find(facts, "consoles"), nullptr);
  EXPECT_EQ(find(facts, "cpufreq"), nullptr);
  for (const auto* fact : {"boot mode", "consoles", "CPU frequency policy"})
    EXPECT_TRUE(is_unknown(facts, fact)) << fact;
}

TEST_F(BootSettings, OfAMachineThatABiosStartedHaveNoSecureBoot) {
  std::filesystem::create_directories(node.root() + "/sys/firmware/acpi");

  const auto facts = document();

  EXPECT_EQ(text_at(facts, "firmware/boot_mode"), "bios");
  EXPECT_EQ(find(facts, "firmware/secure_boot"), nullptr);
}

TEST_F(BootSettings, TakeNoOtherContentForAFlag) {
  for (const auto& data : {std::string{}, std::string{"\2"}, std::string{"\1\1"}}) {
    variable("SecureBoot", data);
    EXPECT_EQ(efi_flag(node.tree(), "SecureBoot"), std::nullopt) << data.size();
  }
  variable("SecureBoot", "\1");
  EXPECT_EQ(efi_flag(node.tree(), "SecureBoot"), true);
}

TEST_F(BootSettings, ReadNoMoreEntriesThanTheyMay) {
  variable("BootOrder", std::string(4096, '\1'));

  EXPECT_EQ(efi_entries(node.tree(), "BootOrder").size(), 64);
}

TEST(LoadOption, IsReadOnlyToItsEnd) {
  const auto whole = option(true, "PXE", kHttp);

  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto cut = parse_load_option(whole.substr(0, length));
    EXPECT_TRUE(!cut || cut->path.size() < 4) << length;
  }
  const auto read = parse_load_option(whole);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->label, "PXE");
  ASSERT_EQ(read->path.size(), 4);
  EXPECT_EQ(read->path[2].data, "http://10.0.0.1/boot/x");
  EXPECT_EQ(boot_kind(*read), "http");
  EXPECT_EQ(boot_kind(*parse_load_option(option(true, "NIC", kPxe))), "pxe");
  EXPECT_EQ(boot_kind(*parse_load_option(option(true, "Setup", node_of(4, 6, "guid")))), "other");
}

TEST(LoadOption, HasAShortLabelOfWholeLetters) {
  std::string label;
  for (int i = 0; i < 500; ++i) label += std::string{"\xFC\x00", 2};
  const auto bytes = std::string(6, '\0') + label + std::string(2, '\0');

  const auto read = parse_load_option(bytes);

  ASSERT_TRUE(read);
  EXPECT_LE(read->label.size(), 64);
  EXPECT_TRUE(read->label.starts_with("\xC3\xBC\xC3\xBC")) << read->label;
}

TEST_F(BootSettings, NameConsolesWithAnUart) {
  node.write("/proc/consoles",
             "tty0                 -WU (EC p  )    4:1\n"
             "ttyS0                -W- (E  p a)    4:64\n"
             "ttyS1                -W- (   p a)    4:65");
  node.write("/sys/class/tty/ttyS0/type", "4");
  node.write("/sys/class/tty/ttyS1/type", "0");

  const auto facts = document();

  const auto expected =
      parse_json(R"([{"name":"tty0","enabled":true,"serial":false},)"
                 R"({"name":"ttyS0","enabled":true,"serial":true,"uart":true},)"
                 R"({"name":"ttyS1","enabled":false,"serial":true,"uart":false}])");
  EXPECT_EQ(*find(facts, "consoles"), *expected);
}

TEST_F(BootSettings, NameConsolesByTheActiveOnesWhereTheKernelListsNone) {
  node.write("/sys/class/tty/console/active", "tty0 ttyAMA0");

  const auto facts = document();

  const auto expected = parse_json(R"([{"name":"tty0","enabled":true,"serial":false},)"
                                   R"({"name":"ttyAMA0","enabled":true,"serial":true}])");
  EXPECT_EQ(*find(facts, "consoles"), *expected);
}

TEST_F(BootSettings, GiveOneValueForAllFrequencyPoliciesOrMixed) {
  const std::string folder = "/sys/devices/system/cpu/cpufreq/policy";
  for (int i = 0; i < 3; ++i) {
    node.write(folder + std::to_string(i) + "/scaling_driver", "intel_pstate");
    node.write(folder + std::to_string(i) + "/scaling_governor",
               i == 1 ? "performance" : "powersave");
  }
  node.write(folder + "0/energy_performance_preference", "balance_power");

  const auto facts = document();

  EXPECT_EQ(number_at(facts, "cpufreq/policies"), 3);
  EXPECT_EQ(text_at(facts, "cpufreq/driver"), "intel_pstate");
  EXPECT_EQ(text_at(facts, "cpufreq/governor"), "mixed");
  EXPECT_EQ(find(facts, "cpufreq/energy_preference"), nullptr);
}

}  // namespace
}  // namespace cupel::agent
