// What the BMC itself and the machine's BIOS are set to, on a virtual BMC of every vendor.
#include <set>

#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

class VendorBehaviorOfSettings : public OfEachVendor {
 protected:
  auto services() {
    return with_bmc([](Bmc& bmc) { return bmc.manager.services(soon()); });
  }
  auto enable(const std::string& name, bool enabled) {
    return with_bmc([&](Bmc& bmc) { return bmc.manager.enable_service(name, enabled, soon()); });
  }
  bool serves(const std::string& name) {
    return server().on(
        [&](auto&, auto& service) { return service.state().services.find(name)->second.enabled; });
  }
  auto stage(const BiosValues& requested) {
    return with_bmc([&](Bmc& bmc) { return bmc.bios.stage(requested, soon()); });
  }
  auto bios() {
    return with_bmc([](Bmc& bmc) { return bmc.bios.read(soon()); });
  }
};

TEST_P(VendorBehaviorOfSettings, ListsItsServices) {
  const auto reported = services();

  ASSERT_TRUE(reported) << reported.error().what;
  const auto& all = reported->value;
  EXPECT_THAT(all, ::testing::Contains(NetworkService{"HTTPS", true, 443}));
  EXPECT_THAT(all, ::testing::Contains(NetworkService{"IPMI", true, 623}));
  EXPECT_THAT(all, ::testing::Contains(NetworkService{"SNMP", false, 161}));
}

TEST_P(VendorBehaviorOfSettings, SwitchesAServiceOnAndOff) {
  const auto on = enable("snmp", true);
  const bool was_on = serves("SNMP");
  const auto off = enable("IPMI", false);
  const auto again = enable("IPMI", false);

  EXPECT_TRUE(on) << on.error().what;
  EXPECT_TRUE(was_on);
  EXPECT_TRUE(off) << off.error().what;
  EXPECT_FALSE(serves("IPMI"));
  EXPECT_TRUE(again);
}

TEST_P(VendorBehaviorOfSettings, SaysWhichServicesThereAreAndWhichCannotBeSet) {
  const auto unknown = enable("Gopher", true);
  const auto own = enable("HTTPS", false);

  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kUnsupported);
  EXPECT_THAT(unknown.error().what, HasSubstr("HTTPS"));
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, Code::kUnsupported) << own.error().what;
  EXPECT_TRUE(serves("HTTPS"));
}

// A BMC's clock runs as fast as its machine does: at our speed, here.
TEST_P(VendorBehaviorOfSettings, SetsItsClock) {
  become({.speed = 1});
  const auto in_an_hour =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + 1h;

  const auto set = with_bmc([=](Bmc& bmc) { return bmc.manager.set_clock(in_an_hour, soon()); });
  const auto reported = with_bmc([](Bmc& bmc) { return bmc.manager.clock(soon()); });

  ASSERT_TRUE(set) << set.error().what;
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_NEAR(static_cast<double>(reported->ahead.count()), 3600, 30);
}

TEST_P(VendorBehaviorOfSettings, SaysThatNtpSetsTheClockAndItsServers) {
  become({.speed = 1});
  server().on([](auto&, auto& service) {
    service.state().services.find("NTP")->second.enabled = true;
    service.state().ntp_servers = {"10.0.0.123"};
    return true;
  });
  const auto in_an_hour =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + 1h;

  const auto set = with_bmc([=](Bmc& bmc) { return bmc.manager.set_clock(in_an_hour, soon()); });
  const auto reported = with_bmc([](Bmc& bmc) { return bmc.manager.clock(soon()); });

  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::kConflict) << set.error().what;
  EXPECT_THAT(set.error().what, HasSubstr("NTP is on"));
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_THAT(reported->ntp_servers, ElementsAre("10.0.0.123"));
}

/// Asks until it answers; what it said meanwhile.
Task<Result<std::set<Code>>> until_back(Bmc& bmc, Deadline deadline) {
  std::set<Code> codes;
  for (;;) {
    const auto state = co_await bmc.power.state(deadline);
    if (state) co_return codes;
    codes.insert(state.error().code);
    if (!is_transient(state.error().code)) co_return state.error();
    CO_TRY(co_await pause_for(10ms));
  }
}

TEST_P(VendorBehaviorOfSettings, RestartsTheBmcAndLeavesTheMachineAlone) {
  become({.speed = 100});
  ASSERT_TRUE(server().boot());
  const auto restarted = [](Bmc& bmc) -> Task<Result<std::set<Code>>> {
    CO_TRY(co_await bmc.manager.reset(soon()));
    CO_TRY(co_await pause_for(150ms));  // the answer still goes out; then it is away
    co_return co_await until_back(bmc, soon());
  };

  const auto reply = with_bmc([=](Bmc& bmc) { return restarted(bmc); });

  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_TRUE(reply->contains(Code::kUnreachable));
  // Others ask for patience while they start; where they say for how long, the client waits.
  if (is("dgx")) EXPECT_FALSE(reply->contains(Code::kBusy));
  EXPECT_EQ(boots(), 1);
}

TEST_P(VendorBehaviorOfSettings,
       ANewCertificateAfterItsRestartIsRefusedWithTheCommandThatAcceptsIt) {
  become({.bmc = {.new_certificate = true}});
  const auto before = server().fingerprint();
  const auto restarted = [](Bmc& bmc) -> Task<Result<std::set<Code>>> {
    CO_TRY(co_await bmc.manager.reset(soon()));
    CO_TRY(co_await pause_for(150ms));
    co_return co_await until_back(bmc, soon());
  };

  const auto reply = with_bmc([=](Bmc& bmc) { return restarted(bmc); });

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::kUntrusted);
  EXPECT_THAT(reply.error().what, HasSubstr("cupel bmc a01-n01 accept-certificate"));
  EXPECT_THAT(reply.error().what, HasSubstr(before));
  EXPECT_THAT(reply.error().what, HasSubstr(server().fingerprint()));
}

TEST_P(VendorBehaviorOfSettings, ReadsTheBiosSettings) {
  const auto reported = bios();

  ASSERT_TRUE(reported) << reported.error().what;
  const auto& current = reported->current;
  EXPECT_EQ(current.at("ProcVirtualization"), BiosValue{std::string{"Enabled"}});
  EXPECT_EQ(current.at("AcPwrRcvryDelay"), BiosValue{std::int64_t{120}});
  EXPECT_EQ(current.at("SpcrConsoleRedirection"), BiosValue{true});
  EXPECT_TRUE(reported->pending.empty());
}

TEST_P(VendorBehaviorOfSettings, ABiosSettingIsTrueAfterTheNextBootAndNotBefore) {
  const BiosValues requested{{"ProcVirtualization", std::string{"Disabled"}},
                             {"AcPwrRcvryDelay", std::int64_t{300}}};

  const auto staged = stage(requested);
  const auto twice = stage(requested);
  const auto before = bios();
  ASSERT_TRUE(server().boot());
  const auto after = bios();

  ASSERT_TRUE(staged) << staged.error().what;
  ASSERT_TRUE(twice) << "idempotent: " << twice.error().what;
  ASSERT_TRUE(before) << before.error().what;
  EXPECT_EQ(before->pending, requested);
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_TRUE(after->pending.empty());
  for (const auto& [name, value] : requested) EXPECT_EQ(after->current.at(name), value) << name;
}

TEST_P(VendorBehaviorOfSettings, ResetsItsBiosSettingsAtTheNextBootAndNotBefore) {
  const auto virtualization = [&] {
    const auto reported = bios();
    return reported ? reported->current.at("ProcVirtualization") : BiosValue{reported.error().what};
  };
  ASSERT_TRUE(stage({{"ProcVirtualization", std::string{"Disabled"}}}));
  ASSERT_TRUE(server().boot());

  const auto reset = with_bmc([](Bmc& bmc) { return bmc.bios.reset(soon()); });
  const auto again = with_bmc([](Bmc& bmc) { return bmc.bios.reset(soon()); });
  const auto before = virtualization();
  server().on([](rehearsal::Machine& running, auto&) {
    return running.press(rehearsal::Reset::force_off);
  });
  ASSERT_TRUE(server().boot());

  ASSERT_TRUE(reset) << reset.error().what;
  EXPECT_TRUE(again) << "idempotent: " << again.error().what;
  EXPECT_EQ(before, BiosValue{std::string{"Disabled"}});
  EXPECT_EQ(virtualization(), BiosValue{std::string{"Enabled"}});
}

TEST_P(VendorBehaviorOfSettings, NamesEveryWrongBiosSettingAtOnce) {
  const BiosValues requested{{"BootMod", std::string{"Uefi"}},
                             {"BootMode", std::string{"Maybe"}},
                             {"AcPwrRcvryDelay", std::int64_t{5}}};

  const auto staged = stage(requested);
  const auto reported = bios();

  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().code, Code::kInvalid) << staged.error().what;
  EXPECT_THAT(staged.error().what, HasSubstr("BootMod is not an attribute"));
  if (abilities().bios_registry) {
    EXPECT_THAT(staged.error().what, HasSubstr("BootMode is one of Uefi, Bios"));
    EXPECT_THAT(staged.error().what, HasSubstr("AcPwrRcvryDelay is at least 60"));
  }
  ASSERT_TRUE(reported);
  EXPECT_TRUE(reported->pending.empty());
}

TEST_P(VendorBehaviorOfSettings, ReportsAMissingLicenceForBiosSettings) {
  become({.bmc = {.licensed = false}});

  const auto staged = stage({{"ProcVirtualization", std::string{"Disabled"}}});

  ASSERT_EQ(!staged, is("supermicro"));
  if (!staged) {
    EXPECT_EQ(staged.error().code, Code::kUnsupported);
    EXPECT_THAT(staged.error().what, HasSubstr("licen"));
  }
}

TEST_P(VendorBehaviorOfSettings, TurnsItsLocatorLightOnAndOff) {
  const auto lit = [&] {
    return server().on([](auto& machine, auto&) { return machine.locator(); });
  };
  const auto locate = [&](bool on) {
    return with_bmc([=](Bmc& bmc) { return bmc.locator.set(on, soon()); });
  };
  const auto located = [&] {
    const auto reported = with_bmc([](Bmc& bmc) { return bmc.locator.read(soon()); });
    return reported ? std::optional{reported->value} : std::nullopt;
  };

  const auto before = located();
  const auto on = locate(true);
  const auto again = locate(true);
  const bool was_lit = lit();
  const auto then = located();
  const auto off = locate(false);

  EXPECT_EQ(before, false);
  ASSERT_TRUE(on) << on.error().what;
  EXPECT_TRUE(again) << "idempotent: " << again.error().what;
  EXPECT_TRUE(was_lit);
  EXPECT_EQ(then, true);
  ASSERT_TRUE(off) << off.error().what;
  EXPECT_FALSE(lit());
  EXPECT_EQ(located(), false);
}

TEST_P(VendorBehaviorOfSettings, ClearsItsEventLog) {
  ASSERT_TRUE(server().boot());
  const auto before = with_bmc([](Bmc& bmc) { return bmc.log.read({}, 100, soon()); });

  const auto cleared = with_bmc([](Bmc& bmc) { return bmc.log.clear(soon()); });
  const auto after = with_bmc([](Bmc& bmc) { return bmc.log.read({}, 100, soon()); });

  ASSERT_TRUE(before) << before.error().what;
  EXPECT_GE(before->entries.size(), 2u);
  ASSERT_TRUE(cleared) << cleared.error().what;
  ASSERT_TRUE(after) << after.error().what;
  ASSERT_EQ(after->entries.size(), 1u);
  EXPECT_THAT(after->entries[0].message, HasSubstr("cleared"));
}

INSTANTIATE_TEST_SUITE_P(OfVendor, VendorBehaviorOfSettings, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
