// The table of vendors' attributes: sound in itself, true of captured machines, and documented.
#include "orchestrator/settings/vendor_attributes.h"

#include <algorithm>

#include "inventory/machine_settings.h"
#include "orchestrator/settings/boot_sequence.h"
#include "tests/orchestrator/settings/reported.h"
#include "tests/support/captures.h"

namespace cupel::settings {
namespace {

const inventory::PortableSetting* setting_named(std::string_view name) {
  const auto all = inventory::portable_settings();
  const auto found = std::ranges::find(all, name, &inventory::PortableSetting::name);
  return found == all.end() ? nullptr : &*found;
}

TEST(VendorAttributes, SpellEachValueThatTheSettingHas) {
  for (const auto& row : vendor_attributes()) {
    const auto* setting = setting_named(row.setting);
    ASSERT_NE(setting, nullptr) << row.setting;
    EXPECT_FALSE(row.source.empty()) << row.attribute;
    EXPECT_EQ(row.values.size(), setting->values.size()) << row.vendor << " " << row.setting;
    for (const auto value : setting->values) {
      const auto spelling = std::ranges::find(row.values, value, &ValueSpelling::value);
      ASSERT_NE(spelling, row.values.end()) << row.attribute << " " << value;
      EXPECT_FALSE(spelling->words.empty());
    }
  }
}

TEST(VendorAttributes, AStarStandsForAnyText) {
  EXPECT_TRUE(matches("SNC_*", "SNC_F300"));
  EXPECT_TRUE(matches("Socket*Pcie*AdvertiseACS", "Socket1Pcie10AdvertiseACS"));
  EXPECT_FALSE(matches("Socket*Pcie*AdvertiseACS", "Socket1Pcie10EnableASPML1"));
  EXPECT_FALSE(matches("Sriov", "SriovSupport"));
  EXPECT_FALSE(matches("SNC_*", "XSNC_1"));
}

TEST(VendorAttributes, AreAllInTheDocument) {
  const auto page = read_file(SOURCE_DIR "/docs/do/settings.md", 1u << 20);
  const auto profiles = read_file(SOURCE_DIR "/docs/know/profiles.md", 1u << 20);
  ASSERT_TRUE(page && profiles);
  for (const auto& row : vendor_attributes())
    EXPECT_THAT(*page, HasSubstr("| `" + std::string{row.setting} + "` | " +
                                 std::string{row.vendor} + " |"))
        << row.attribute;
  for (const auto& row : vendor_attributes())
    EXPECT_THAT(*page, HasSubstr("`" + std::string{row.attribute} + "`"));
  for (const auto& setting : inventory::portable_settings())
    EXPECT_THAT(*profiles, HasSubstr("| `" + std::string{setting.name} + "` |"));
}

/// The console of Windows (EMS) is another switch, and stays.
TEST(VendorAttributes, OfSupermicrosSolAreBothSerialPorts) {
  const auto machine = machine_of("Supermicro", {{"ConsoleRedirection_007E", false},
                                                 {"ConsoleRedirection_0080", true},
                                                 {"ConsoleRedirectionEMS_0083", false}});

  const auto plan = plan_settings(wanting({{"sol", "on"}}), machine);

  EXPECT_THAT(lines_of(plan),
              ElementsAre("sol (ConsoleRedirection_007E): false -> true, differs",
                          "sol (ConsoleRedirection_0080): true -> true, as expected"));
}

bmc::BiosValues attributes_in(const json::value& body) {
  bmc::BiosValues values;
  const auto* attributes = find(body, "Attributes");
  if (attributes == nullptr || !attributes->is_object()) return values;
  for (const auto& entry : attributes->get_object()) {
    const auto& value = entry.value();
    if (value.is_bool()) values[entry.key()] = value.get_bool();
    if (value.is_string()) values[entry.key()] = std::string{value.get_string()};
  }
  return values;
}

struct Captured {
  const char* machine;
  const char* bios;
  const char* vendor;
  std::vector<std::string> settings;  // that have an attribute there
};

void PrintTo(const Captured& one, std::ostream* out) { *out << one.machine; }

class CapturedSettings : public ::testing::TestWithParam<Captured> {};

/// The values that a captured machine has now are spelled as the rows spell them: else a setting
/// would always differ there.
TEST_P(CapturedSettings, HaveTheAttributesOfTheirVendorsRows) {
  CUPEL_NEED_CAPTURE(tree, GetParam().machine);
  const auto answer = test::captured_answer(tree, GetParam().bios);
  ASSERT_TRUE(answer);
  const auto reported = machine_of(GetParam().vendor, attributes_in(*parse_json(*answer)));

  for (const auto& name : GetParam().settings) {
    const auto* setting = setting_named(name);
    ASSERT_NE(setting, nullptr) << name;
    bool is_one = false;
    for (const auto value : setting->values) {
      const auto plan = plan_settings(wanting({{name, std::string{value}}}), reported);
      EXPECT_FALSE(plan.has(SettingState::refused))
          << name << ": " << described(plan, SettingState::refused);
      is_one = is_one || plan.is_as_expected();
    }
    // Supermicro's COM1 and SOL have a switch each: this machine has one of them on.
    const bool in_part = name == "sol" && std::string_view{GetParam().vendor} == "Supermicro";
    const bool may_be_another = name == "numa_per_socket" || name == "power_profile" || in_part;
    EXPECT_TRUE(is_one || may_be_another) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfMachines, CapturedSettings,
    ::testing::Values(
        Captured{"dell",
                 "/redfish/v1/Systems/System.Embedded.1/Bios",
                 "Dell",
                 {"iommu", "numa_per_socket", "power_profile", "sr_iov", "sol", "secure_boot"}},
        Captured{"hpe",
                 "/redfish/v1/Systems/1/Bios",
                 "HPE",
                 {"iommu", "acs", "numa_per_socket", "power_profile", "sr_iov", "smt", "sol"}},
        Captured{"hpe-dl380a-gen11-ilo6-2xh100nvl",
                 "/redfish/v1/Systems/1/bios",
                 "HPE",
                 {"iommu", "acs", "power_profile", "sr_iov", "smt", "sol"}},
        Captured{"lenovo",
                 "/redfish/v1/Systems/1/Bios",
                 "Lenovo",
                 {"iommu", "acs", "numa_per_socket", "power_profile", "sr_iov", "smt", "sol"}},
        Captured{"supermicro",
                 "/redfish/v1/Systems/1/Bios",
                 "Supermicro",
                 {"iommu", "acs", "numa_per_socket", "sr_iov", "smt", "sol"}},
        Captured{"nvidia_viking",
                 "/redfish/v1/Systems/DGX/Bios",
                 "NVIDIA",
                 {"iommu", "power_profile", "sr_iov", "smt", "sol"}},
        Captured{"nvidia_gb200", "/redfish/v1/Systems/System_0/Bios", "NVIDIA", {"acs", "sol"}},
        Captured{"Gigabyte",
                 "/redfish/v1/Systems/Self/Bios",
                 "GIGABYTE",
                 {"iommu", "numa_per_socket", "sr_iov"}}));

struct NamedOption {
  bmc::BootOption option;
  std::string_view kind;
};

TEST(BootSequence, TellsTheKindOfAnOptionAsVendorsWriteThem) {
  const std::vector<NamedOption> all{
      {{.reference = "a", .path = "PciRoot(0x3)/MAC(B42E99BADE15,0x0)/IPv4(0.0.0.0)/Uri()"},
       "http"},
      {{.reference = "b", .name = "PXE IP4", .path = "PciRoot(0x3)/MAC(B42E99BADE15,0x0)"}, "pxe"},
      {{.reference = "c", .path = "HD(1,GPT,030764A9)/\\EFI\\ubuntu\\shimx64.efi"}, "disk"},
      {{.reference = "d", .path = "HD_1_GPT_80230AA1_EFI_ubuntu_shimx64_efi"}, "disk"},
      {{.reference = "e", .path = "PciRoot(0x0)/Pci(0x3,0x2)/NVMe(0x1,60-33-01)"}, "disk"},
      {{.reference = "f", .path = "PciRoot(0x0)/Pci(0x5,0x2)/USB(0x1,0x0)"}, "usb"},
      {{.reference = "g", .name = "Network", .path = "VenHw_B2AD3248_05000000"}, "pxe"},
      {{.reference = "h", .name = "HardDisk", .path = "VenHw_B2AD3248_01000000"}, "disk"},
      {{.reference = "i", .name = "CD_DVDRom", .path = "VenHw_B2AD3248_02000000"}, "cd"},
      {{.reference = "j", .name = "(B26/D0/F0) UEFI PXE IPv4 Nvidia Network Adapter"}, "pxe"},
      {{.reference = "k", .name = "UEFI: Built-in EFI Shell", .path = "VenMedia(5023B95C)"},
       "shell"},
      {{.reference = "l", .name = "UEFI Misc Device", .path = "VenHw(8C91E049)"}, ""},
      {{.reference = "m", .name = "x", .alias = "UefiHttp"}, "http"}};
  for (const auto& one : all)
    EXPECT_EQ(kind_of(one.option), one.kind) << one.option.name << one.option.path;
}

TEST(BootSequence, KeepsTheOrderAmongOptionsOfOneKind) {
  const std::vector<bmc::BootOption> options{{.reference = "Boot0001", .alias = "Hdd"},
                                             {.reference = "Boot0002", .alias = "Pxe"},
                                             {.reference = "Boot0003", .alias = "Pxe"}};

  EXPECT_THAT(in_order({"Boot0009", "Boot0003", "Boot0001", "Boot0002"}, options, {"pxe", "disk"}),
              ElementsAre("Boot0003", "Boot0002", "Boot0001", "Boot0009"));
}

}  // namespace
}  // namespace cupel::settings
