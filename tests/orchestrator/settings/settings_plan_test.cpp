// The plan of one machine's settings: what is so, what waits, what is to be set, what is refused.
#include "inventory/profile.h"
#include "tests/orchestrator/settings/reported.h"

namespace cupel::settings {
namespace {

using Kind = bmc::EventTarget::Kind;

TEST(SettingsPlan, SpellsAValueAsTheMachinesRegistryAllows) {
  auto reported =
      machine_of("Supermicro", {{"PCIeACSCTL_1E3C", word("Disable")}, {"SNC_F300", word("Auto")}});
  reported.bios_registry.rules["SNC_F300"].allowed = {"Auto", "Disable",
                                                      "Enable SNC2 (2-clusters)"};
  reported.bios_registry.rules["PCIeACSCTL_1E3C"].allowed = {"Enable", "Disable"};

  const auto plan = plan_settings(wanting({{"acs", "on"}, {"numa_per_socket", "2"}}), reported);

  EXPECT_THAT(lines_of(plan),
              ElementsAre("acs (PCIeACSCTL_1E3C): Disable -> Enable, differs",
                          "numa_per_socket (SNC_F300): Auto -> Enable SNC2 (2-clusters), differs"));
  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"PCIeACSCTL_1E3C", word("Enable")},
                                        {"SNC_F300", word("Enable SNC2 (2-clusters)")}}));
  EXPECT_TRUE(plan.needs_restart());
}

TEST(SettingsPlan, SpellsAValueAsThePresentOneWhereThereIsNoRegistry) {
  const auto reported = machine_of("Supermicro", {{"PCIeACSCTL_1E3C", word("Disable")},
                                                  {"SR_IOVSupport_0047", word("Disabled")}});

  const auto plan = plan_settings(wanting({{"acs", "on"}, {"sr_iov", "on"}}), reported);

  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"PCIeACSCTL_1E3C", word("Enable")},
                                        {"SR_IOVSupport_0047", word("Enabled")}}));
}

TEST(SettingsPlan, SetsEveryAttributeThatARowMatches) {
  const auto reported = machine_of("NVIDIA", {{"Socket0Pcie0AdvertiseACS", true},
                                              {"Socket1Pcie9AdvertiseACS", false},
                                              {"Socket0Pcie0EnableASPML1", true}});

  const auto plan = plan_settings(wanting({{"acs", "on"}}), reported);

  EXPECT_THAT(lines_of(plan),
              ElementsAre("acs (Socket0Pcie0AdvertiseACS): true -> true, as expected",
                          "acs (Socket1Pcie9AdvertiseACS): false -> true, differs"));
}

TEST(SettingsPlan, NamesTheAllowedValuesOfWhatIsRefused) {
  auto reported = machine_of("Lenovo", {{"Processors_SNC", word("Disabled")}});
  reported.bios_registry.rules["Processors_SNC"].allowed = {"Disabled", "Enabled"};
  auto profile = wanting({{"numa_per_socket", "4"}, {"sr_iov", "on"}});
  profile.bios = {{.attribute = "Processors_SNC", .value = "Perhaps"},
                  {.attribute = "Processors_SMC", .value = "Enabled"}};

  const auto plan = plan_settings(profile, reported);

  EXPECT_THAT(
      lines_of(plan),
      ElementsAre(
          "numa_per_socket (Processors_SNC): Disabled -> 4, refused: Processors_SNC allows "
          "Disabled, Enabled",
          "sr_iov:  -> on, absent: this board's BIOS has no DevicesandIOPorts_SRIOV; name its own "
          "attribute under bios",
          "bios Processors_SNC: Disabled -> Perhaps, refused: Processors_SNC allows Disabled, "
          "Enabled",
          "bios Processors_SMC:  -> Enabled, refused: it is not an attribute of this board's BIOS; "
          "there is Processors_SNC"));
  EXPECT_TRUE(plan.bios.empty());
}

TEST(SettingsPlan, LeavesOutASettingOfWhichNoAttributeIsKnown) {
  const auto plan = plan_settings(wanting({{"acs", "on"}}), machine_of("Dell", {}));

  EXPECT_THAT(lines_of(plan),
              ElementsAre("acs:  -> on, absent: no BIOS attribute of Dell is known for it; name "
                          "the attribute itself under bios"));
}

TEST(SettingsPlan, RefusesTwoValuesForOneAttribute) {
  auto profile = wanting({{"smt", "on"}});
  profile.bios = {{.attribute = "LogicalProc", .value = "Disabled"}};

  const auto plan = plan_settings(profile, machine_of("Dell", {{"LogicalProc", word("Enabled")}}));

  EXPECT_TRUE(plan.has(SettingState::refused));
  EXPECT_EQ(described(plan, SettingState::refused),
            "bios LogicalProc cannot be Disabled: the profile wants Enabled of LogicalProc too");
}

TEST(SettingsPlan, TellsWhatWaitsForTheNextBootFromWhatIsToBeSet) {
  auto reported = machine_of("HPE", {{"Sriov", word("Disabled")}, {"ProcSMT", word("Enabled")}});
  reported.bios->pending = {{"Sriov", word("Enabled")}, {"ProcSMT", word("Disabled")}};

  const auto plan = plan_settings(wanting({{"sr_iov", "on"}, {"smt", "on"}}), reported);

  EXPECT_THAT(lines_of(plan), ElementsAre("sr_iov (Sriov): Disabled -> Enabled, waits for a boot",
                                          "smt (ProcSMT): Enabled -> Enabled, differs"));
  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"ProcSMT", word("Enabled")}}))
      << "what waits would undo it";
}

TEST(SettingsPlan, TakesSecureBootFromItsResourceWhereNoAttributeIsIt) {
  auto lenovo = machine_of("Lenovo", {});
  lenovo.secure_boot = bmc::SecureBootState{.next = true, .active = false};
  const auto dell = machine_of("Dell", {{"SecureBoot", word("Disabled")}});

  const auto waits = plan_settings(wanting({{"secure_boot", "on"}}), lenovo);
  const auto attribute = plan_settings(wanting({{"secure_boot", "on"}}), dell);

  EXPECT_THAT(lines_of(waits), ElementsAre("secure_boot: off -> on, waits for a boot"));
  EXPECT_FALSE(waits.secure_boot);
  EXPECT_EQ(attribute.bios, (bmc::BiosValues{{"SecureBoot", word("Enabled")}}));
}

TEST(SettingsPlan, ComparesTheBmcsOwnSettings) {
  inventory::Profile profile;
  profile.settings.bmc = {.ntp_servers = {"10.0.0.1"},
                          .syslog = {{"udp", "10.0.0.9", 514}},
                          .alerts = {"https://10.0.0.9/e"},
                          .services = {{"ssh", true}, {"Telnet", false}},
                          .session_timeout = std::chrono::seconds{600}};
  ReportedSettings reported;
  reported.ntp = bmc::NtpSettings{.enabled = false, .servers = {"10.0.0.1"}};
  reported.event_targets = {{Kind::syslog, "udp://10.0.0.9:514", {}}};
  reported.services = std::vector<bmc::NetworkService>{{"SSH", false, 22}};
  reported.unreadable["session timeout"] = "it does not report a session timeout";
  reported.lacking = {"session timeout"};

  const auto plan = plan_settings(profile, reported);

  EXPECT_THAT(
      lines_of(plan),
      ElementsAre("bmc ntp: 10.0.0.1 (off) -> 10.0.0.1, differs",
                  "bmc syslog: udp://10.0.0.9:514 -> udp://10.0.0.9:514, as expected",
                  "bmc alerts: not a destination -> https://10.0.0.9/e, differs",
                  "bmc service ssh: off -> on, differs",
                  "bmc service Telnet:  -> off, absent: this BMC has no such service",
                  "bmc session_timeout:  -> 600 s, absent: it does not report a session timeout"));
  EXPECT_FALSE(plan.needs_restart()) << "these take effect at once";
}

TEST(SettingsPlan, RefusesANumberThatIsOutOfBounds) {
  auto reported = machine_of("Contoso", {{"Delay", word("5")}});
  reported.bios_registry.rules["Delay"] = {.least = 1, .most = 9};
  inventory::Profile profile;
  profile.bios = {{.attribute = "Delay", .value = "10"}};

  EXPECT_THAT(lines_of(plan_settings(profile, reported)),
              ElementsAre("bios Delay: 5 -> 10, refused: Delay is at most 9"));
}

TEST(SettingsPlan, IsAsWantedWhereTheMachineLacksWhatElseIsWanted) {
  const auto plan = plan_settings(wanting({{"acs", "on"}}), machine_of("Dell", {}));

  EXPECT_TRUE(plan.is_as_expected());
  EXPECT_FALSE(plan.needs_restart());
}

TEST(SettingsPlan, SaysForEachAttributeWhyTheBiosCannotBeRead) {
  ReportedSettings reported;
  reported.vendor = "Dell";
  reported.unreadable["BIOS"] = "this BMC shows no BIOS settings";

  const auto plan = plan_settings(wanting({{"smt", "on"}}), reported);

  EXPECT_THAT(lines_of(plan), ElementsAre("smt:  -> on, refused: this BMC shows no BIOS settings"));
}

TEST(SettingsPlan, LeavesPortableSettingsOutWhereTheMachineHasNoBiosSettings) {
  ReportedSettings reported;
  reported.vendor = "Dell";
  reported.unreadable["BIOS"] = "this BMC shows no BIOS settings";
  reported.lacking = {"BIOS"};
  auto profile = wanting({{"smt", "on"}});
  profile.bios = {{.attribute = "SysProfile", .value = "Custom"}};

  const auto plan = plan_settings(profile, reported);

  EXPECT_THAT(lines_of(plan),
              ElementsAre("smt:  -> on, absent: this BMC shows no BIOS settings",
                          "bios SysProfile:  -> Custom, refused: this BMC shows no BIOS settings"));
}

TEST(SettingsPlan, ChangesTheBootOrderOnlyWhereTheKindsAreInAnotherOrder) {
  inventory::Profile profile;
  profile.settings.boot_order = {"disk", "pxe"};
  ReportedSettings reported;
  reported.boot_order = bmc::BootOrder{
      .current = {"Boot0001", "Boot0002", "Boot0003"},
      .next = {"Boot0001", "Boot0002", "Boot0003"},
      .options = {{.reference = "Boot0001", .path = "PciRoot(0x0)/MAC(5CFF35FE04B1,0x1)/IPv4(0)"},
                  {.reference = "Boot0002", .path = "HD(1,GPT,AB)/x.efi"},
                  {.reference = "Boot0003", .name = "UEFI Shell"}}};

  const auto differs = plan_settings(profile, reported);
  profile.settings.boot_order = {"pxe"};
  const auto same = plan_settings(profile, reported);
  profile.settings.boot_order = {"cd"};
  const auto none = plan_settings(profile, reported);

  EXPECT_THAT(lines_of(differs), ElementsAre("boot_order: pxe, disk, shell -> disk, pxe, differs"));
  EXPECT_EQ(differs.boot_order, (std::vector<std::string>{"Boot0002", "Boot0001", "Boot0003"}));
  EXPECT_TRUE(same.is_as_expected());
  EXPECT_EQ(none.items[0].refusal, "the machine has no such boot option; it has pxe, disk, shell");
}

TEST(SettingsPlan, SaysHowLongAMachineWalksItsNetworkPortsBeforeTheDisk) {
  bmc::BootOrder walks;
  for (int port = 1; port <= 8; ++port) {
    walks.options.push_back(
        {.reference = "Boot000" + std::to_string(port), .path = "MAC(5CFF35FE04B1,0x1)/IPv4(0)"});
    walks.current.push_back(walks.options.back().reference);
  }
  walks.options.push_back({.reference = "Boot0009", .path = "HD(1,GPT,AB)/x.efi"});
  walks.current.emplace_back("Boot0009");
  walks.next = walks.current;
  inventory::Profile profile;
  profile.settings.boot_order = {"disk"};
  ReportedSettings reported;
  reported.boot_order = walks;

  const auto walking = plan_settings(profile, reported);
  profile.settings.boot_order = {"pxe", "disk"};
  const auto expected = plan_settings(profile, reported);

  EXPECT_THAT(lines_of(walking), ElementsAre("boot_order: pxe, disk -> disk, differs"));
  EXPECT_EQ(walking.items.front().note,
            "8 network options before the disk: up to 8 min of each boot saved");
  ASSERT_TRUE(walking.boot_order);
  EXPECT_EQ(walking.boot_order->front(), "Boot0009");
  EXPECT_TRUE(expected.is_as_expected());
  EXPECT_EQ(expected.items.front().note, "");
}

}  // namespace
}  // namespace cupel::settings
