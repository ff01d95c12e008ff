// Settings that a site wants the same everywhere, on a virtual BMC of every vendor: what is set is
// read back, what waits for a boot is true after it.
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

class SiteSettings : public OfEachVendor {
 protected:
  template <class T>
  T reported(Task<Result<T>> (*ask)(Bmc&)) {
    auto answer = with_bmc([&](Bmc& bmc) { return ask(bmc); });
    EXPECT_TRUE(answer) << answer.error().what;
    return answer ? *std::move(answer) : T{};
  }
  BootOrder order() {
    return reported<BootOrder>([](Bmc& bmc) { return bmc.settings.boot_order(soon()); });
  }
  SecureBootState secure_boot() {
    return reported<SecureBootState>([](Bmc& bmc) { return bmc.settings.secure_boot(soon()); });
  }
  Result<void> set_order(std::vector<std::string> references) {
    return with_bmc([&](Bmc& bmc) { return bmc.settings.set_boot_order(references, soon()); });
  }
  Result<void> set_secure_boot(bool on) {
    return with_bmc([&](Bmc& bmc) { return bmc.settings.set_secure_boot(on, soon()); });
  }
  static std::vector<std::string> reversed() {
    return {"Boot0004", "Boot0003", "Boot0002", "Boot0001"};
  }
};

TEST_P(SiteSettings, ABootOrderIsTheOrderAfterTheNextBoot) {
  const auto before = order();

  const auto set = set_order(reversed());
  const auto again = set_order(reversed());
  const auto waiting = order();
  ASSERT_TRUE(server().boot());
  const auto after = order();

  EXPECT_THAT(before.current, ElementsAre("Boot0001", "Boot0002", "Boot0003", "Boot0004"));
  ASSERT_EQ(before.options.size(), 4u);
  EXPECT_EQ(before.options[0].alias, "Pxe");
  EXPECT_THAT(before.options[1].path, HasSubstr("HD(1,GPT,"));
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_TRUE(again) << "idempotent: " << again.error().what;
  EXPECT_EQ(waiting.next, reversed());
  EXPECT_EQ(after.current, reversed());
  EXPECT_EQ(after.next, reversed());
}

TEST_P(SiteSettings, ABootOrderWithWhatIsNoOptionIsRefusedBeforeItIsSent) {
  const auto set = set_order({"Boot0001", "Boot00FF"});

  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::kInvalid);
  EXPECT_THAT(set.error().what, HasSubstr("no boot option Boot00FF"));
}

TEST_P(SiteSettings, SecureBootIsOnAfterTheNextBoot) {
  const auto before = secure_boot();
  const auto set = set_secure_boot(true);
  const auto waiting = secure_boot();
  ASSERT_TRUE(server().boot());
  const auto after = secure_boot();

  EXPECT_EQ(before, (SecureBootState{.next = false, .active = false, .mode = "UserMode"}));
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(waiting, (SecureBootState{.next = true, .active = false, .mode = "UserMode"}));
  EXPECT_EQ(after, (SecureBootState{.next = true, .active = true, .mode = "UserMode"}));
}

TEST_P(SiteSettings, NtpServersReplaceThoseThatThereWere) {
  const auto set = [&](std::vector<std::string> servers) {
    return with_bmc([&](Bmc& bmc) { return bmc.settings.set_ntp(servers, soon()); });
  };
  const auto ntp = [&] {
    return reported<NtpSettings>([](Bmc& bmc) { return bmc.settings.ntp(soon()); });
  };

  const auto first = set({"10.0.0.1", "10.0.0.2"});
  const auto two = ntp();
  const auto second = set({"time.example.org"});
  const auto one = ntp();

  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(two, (NtpSettings{true, {"10.0.0.1", "10.0.0.2"}}));
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(one, (NtpSettings{true, {"time.example.org"}}));
}

TEST_P(SiteSettings, AnEventTargetIsAddedOnce) {
  const EventTarget syslog{EventTarget::Kind::syslog, "udp://10.0.0.9:514", {}};
  const EventTarget alerts{EventTarget::Kind::redfish, "https://10.0.0.9/events", {}};
  const auto add = [&](const EventTarget& target) {
    return with_bmc([&](Bmc& bmc) { return bmc.settings.add_event_target(target, soon()); });
  };

  const auto first = add(syslog);
  const auto again = add(syslog);
  const auto other = add(alerts);
  const auto targets = reported<std::vector<EventTarget>>(
      [](Bmc& bmc) { return bmc.settings.event_targets(soon()); });

  ASSERT_TRUE(first) << first.error().what;
  ASSERT_TRUE(again) << again.error().what;
  ASSERT_TRUE(other) << other.error().what;
  std::vector<std::string> destinations;
  for (const auto& one : targets) destinations.push_back(one.destination);
  EXPECT_THAT(destinations, UnorderedElementsAre("udp://10.0.0.9:514", "https://10.0.0.9/events"));
}

TEST_P(SiteSettings, TheSessionTimeoutIsReadBack) {
  const auto set =
      with_bmc([](Bmc& bmc) { return bmc.settings.set_session_timeout(10min, soon()); });
  const auto after =
      reported<std::chrono::seconds>([](Bmc& bmc) { return bmc.settings.session_timeout(soon()); });

  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(after, 10min);
}

TEST_P(SiteSettings, TheRegistryTellsWhatABiosAttributeMayBe) {
  const auto registry =
      reported<BiosRegistry>([](Bmc& bmc) { return bmc.settings.bios_registry(soon()); });
  const auto& rules = registry.rules;

  ASSERT_EQ(!rules.empty(), abilities().bios_registry);
  if (rules.empty()) return;
  EXPECT_THAT(rules.at("BootMode").allowed, ElementsAre("Uefi", "Bios"));
  EXPECT_EQ(rules.at("AcPwrRcvryDelay").most, 600);
  EXPECT_TRUE(rules.at("SystemModelName").read_only);
  EXPECT_EQ(registry.dependencies.empty(), !is("dell"));
  EXPECT_TRUE(registry.unusable.empty());
}

TEST_P(SiteSettings, ABootThatDropsWhatWaitedLeavesTheOldValues) {
  become({.faults = {{.kind = rehearsal::FaultKind::settings_ignored}}});
  const BiosValues requested{{"BootMode", std::string{"Bios"}}};

  const auto staged = with_bmc([&](Bmc& bmc) { return bmc.bios.stage(requested, soon()); });
  ASSERT_TRUE(set_secure_boot(true));
  ASSERT_TRUE(server().boot());
  const auto bios = with_bmc([](Bmc& bmc) { return bmc.bios.read(soon()); });

  ASSERT_TRUE(staged) << staged.error().what;
  ASSERT_TRUE(bios) << bios.error().what;
  EXPECT_TRUE(bios->pending.empty());
  EXPECT_EQ(bios->current.at("BootMode"), BiosValue{std::string{"Uefi"}});
  EXPECT_EQ(secure_boot().active, false);
}

INSTANTIATE_TEST_SUITE_P(OfVendor, SiteSettings, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
