// What settings were before they are set: taken, added to, kept as text, and set back.
#include "orchestrator/settings/settings_snapshot.h"

#include "tests/orchestrator/settings/reported.h"

namespace cupel::settings {
namespace {

ReportedSettings reported_before() {
  auto reported = machine_of("NVIDIA", {{"Sriov", word("Off")}, {"Delay", std::int64_t{120}}});
  reported.boot_order = bmc::BootOrder{.current = {"Boot0001"}, .next = {"Boot0002", "Boot0001"}};
  reported.secure_boot = bmc::SecureBootState{.next = false};
  reported.ntp = bmc::NtpSettings{.enabled = true, .servers = {"10.0.0.7"}};
  reported.services = {{"SNMP", true, 161}, {"SSH", true, 22}};
  reported.session_timeout = std::chrono::seconds{300};
  return reported;
}

SettingsPlan plan_of_all() {
  SettingsPlan plan;
  plan.bios = {{"Sriov", word("On")}, {"NotThere", word("x")}};
  plan.boot_order = {{"Boot0001"}};
  plan.secure_boot = true;
  plan.ntp_servers = {{"10.0.0.1"}};
  plan.services = {{"snmp", false}};
  plan.session_timeout = std::chrono::seconds{900};
  plan.event_targets = {{.destination = "udp://10.0.0.9:514"}};
  return plan;
}

TEST(SettingsSnapshot, HasOfWhatIsSetTheValuesFromBeforeAndNothingElse) {
  const auto before = snapshot_before(plan_of_all(), reported_before());

  EXPECT_EQ(before.bios, (bmc::BiosValues{{"Sriov", word("Off")}}));
  EXPECT_EQ(before.boot_order, (std::vector<std::string>{"Boot0002", "Boot0001"}));
  EXPECT_EQ(before.secure_boot, false);
  EXPECT_EQ(before.ntp_servers, std::vector<std::string>{"10.0.0.7"});
  ASSERT_EQ(before.services.size(), 1u);
  EXPECT_EQ(before.services[0].name, "SNMP");
  EXPECT_TRUE(before.services[0].enabled);
  EXPECT_EQ(before.session_timeout, std::chrono::seconds{300});
  EXPECT_THAT(before.left, ElementsAre("event destination udp://10.0.0.9:514, which was added"));
  EXPECT_EQ(snapshot_before({}, reported_before()), SettingsSnapshot{});
}

TEST(SettingsSnapshot, SaysThatNtpWhichWasOffIsNotSetBack) {
  auto reported = reported_before();
  reported.ntp = bmc::NtpSettings{};

  const auto before = snapshot_before(plan_of_all(), reported);

  EXPECT_EQ(before.ntp_servers, std::nullopt);
  EXPECT_THAT(before.left, ::testing::Contains("NTP, which was off or had no server"));
}

TEST(SettingsSnapshot, KeepsWhatASettingWasFirstAndTakesWhatIsNew) {
  const auto first = snapshot_before(plan_of_all(), reported_before());
  auto later = first;
  later.bios = {{"Sriov", word("On")}, {"Delay", std::int64_t{5}}};
  later.secure_boot = true;
  later.services = {{"SNMP", false}, {"SSH", true}};

  const auto both = joined(first, later);

  EXPECT_EQ(both.bios, (bmc::BiosValues{{"Sriov", word("Off")}, {"Delay", std::int64_t{5}}}));
  EXPECT_EQ(both.secure_boot, false);
  ASSERT_EQ(both.services.size(), 2u);
  EXPECT_TRUE(both.services[0].enabled);
  EXPECT_EQ(both.left, first.left) << "what is known already is not said twice";
}

TEST(SettingsSnapshot, KeepsNothingOfAMachineThatStoodThereBefore) {
  auto first = snapshot_before(plan_of_all(), reported_before());
  first.serial = "SN-1";
  SettingsSnapshot same, other;
  same.serial = "sn-1";
  other.serial = "SN-2";
  other.bios = {{"Sriov", word("On")}};

  EXPECT_EQ(joined(first, same), first);
  EXPECT_EQ(joined(first, {}), first) << "it does not say which machine it is";
  EXPECT_EQ(joined(first, other), other);
  EXPECT_TRUE(is_of_another(first, "SN-2"));
  EXPECT_FALSE(is_of_another(first, "sn-1") || is_of_another(first, "") || is_of_another({}, "x"));
}

TEST(SettingsSnapshot, IsReadAsItWasKept) {
  auto before = snapshot_before(plan_of_all(), reported_before());
  before.serial = "SN-1";
  before.bios = {{"Flag", true}, {"Ratio", 1.5}, {"Delay", std::int64_t{5}}, {"Word", word("x")}};

  const auto read = read_snapshot(to_text(before));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, before);
  EXPECT_FALSE(read_snapshot("[]"));
  EXPECT_FALSE(read_snapshot("{"));
}

TEST(SettingsSnapshot, IsSetBackByAPlanOfItsOwn) {
  const auto before = snapshot_before(plan_of_all(), reported_before());

  const auto back = plan_back(before);

  EXPECT_EQ(back.bios, before.bios);
  EXPECT_EQ(back.boot_order, before.boot_order);
  EXPECT_EQ(back.secure_boot, false);
  EXPECT_EQ(back.services, before.services);
  EXPECT_TRUE(back.event_targets.empty());
  EXPECT_THAT(names_in(before), ElementsAre("bios Sriov", "boot order", "secure boot", "bmc ntp",
                                            "bmc service SNMP", "bmc session timeout"));
}

}  // namespace
}  // namespace cupel::settings
