// Every verb that IPMI has, on a virtual BMC; and both protocols to one machine.
#include "bmc/ipmi/ipmi.h"

#include "bmc/fallback_bmc.h"
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

using rehearsal::FaultKind;

constexpr const char* kNew = "Sesame-opens-5678";

class OverIpmi : public ::testing::Test {
 protected:
  void become(test::VirtualBmc::Options options) {
    options.ipmi = true;
    server_ = std::make_unique<test::VirtualBmc>(std::move(options));
    password = server_->password();
  }
  test::VirtualBmc& server() {
    if (!server_) become({});
    return *server_;
  }
  std::unique_ptr<Bmc> by_ipmi() {
    return ipmi::open(datagrams, "a01-n01", {.endpoint = server().ipmi_endpoint(), .cipher = suite},
                      "admin", password_from(password));
  }
  std::unique_ptr<Bmc> by_redfish(bool has_ipmi = false) {
    return redfish::open(
        transport, "a01-n01",
        {.endpoint = server().endpoint(), .user = "admin", .password = {}, .trust = {}},
        password_from(password), keys, {.has_ipmi = has_ipmi});
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  template <class Verb>
  auto with(std::unique_ptr<Bmc> bmc, Verb verb) {
    auto done = run(verb(*bmc));
    run([](Bmc& leaving) -> Task<bool> {
      co_await leaving.log_out();
      co_return true;
    }(*bmc));
    return done;
  }
  template <class Verb>
  auto with_ipmi(Verb verb) {
    return with(by_ipmi(), verb);
  }
  template <class Verb>
  auto with_both(Verb verb) {
    return with(first_of(by_redfish(), by_ipmi()), verb);
  }
  static Deadline soon() { return Deadline::in(60s); }
  bool powers(rehearsal::Power requested) {
    return server().wait_until([=](auto& machine) { return machine.power() == requested; });
  }
  bool boots_reach(int requested) {
    return server().wait_until([=](auto& machine) { return machine.boots() >= requested; });
  }
  bool turn_off() {
    server().on([](auto& machine, auto&) { return machine.press(rehearsal::Reset::force_off); });
    return powers(rehearsal::Power::off);
  }

  asio::io_context io;
  redfish::Transport transport{io.get_executor()};
  ipmi::Transport datagrams{io.get_executor(), &transport.all_bmc_limits()};
  RememberedKeys keys;
  std::string password{};
  std::optional<int> suite{};

 private:
  std::unique_ptr<test::VirtualBmc> server_{};
};

/// Suite 17 and suite 3.
class OverIpmiBySuite : public OverIpmi, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override { suite = GetParam(); }
};

TEST_P(OverIpmiBySuite, TurnsTheMachineOnAndOff) {
  const auto on = with_ipmi([](Bmc& bmc) { return ensure_on(bmc, soon(), kQuick); });
  ASSERT_TRUE(on) << on.error().what;
  EXPECT_TRUE(powers(rehearsal::Power::on));

  const auto off = with_ipmi([](Bmc& bmc) { return ensure_off(bmc, 0ms, soon(), kQuick); });

  ASSERT_TRUE(off) << off.error().what;
  EXPECT_TRUE(powers(rehearsal::Power::off));
  EXPECT_EQ(server().ipmi_sessions(), 0u);
}

TEST_P(OverIpmiBySuite, EveryResetDoesWhatItSays) {
  ASSERT_TRUE(server().boot());

  const auto restarted =
      with_ipmi([](Bmc& bmc) { return bmc.power.reset(ResetType::force_restart, soon()); });
  ASSERT_TRUE(restarted) << restarted.error().what;
  ASSERT_TRUE(boots_reach(2));
  const auto cycled =
      with_ipmi([](Bmc& bmc) { return bmc.power.reset(ResetType::power_cycle, soon()); });
  ASSERT_TRUE(cycled) << cycled.error().what;
  ASSERT_TRUE(boots_reach(3));
  const auto shut_down =
      with_ipmi([](Bmc& bmc) { return bmc.power.reset(ResetType::graceful_shutdown, soon()); });

  ASSERT_TRUE(shut_down) << shut_down.error().what;
  EXPECT_TRUE(powers(rehearsal::Power::off));
}

TEST_P(OverIpmiBySuite, EveryBootTargetThatIpmiHasIsWhatTheMachineBootsFrom) {
  const std::map<BootTarget, std::vector<std::string>> words{
      {BootTarget::pxe, {"Pxe"}},
      {BootTarget::disk, {"Hdd"}},
      {BootTarget::virtual_cd, {"Cd", "UsbCd"}},
      {BootTarget::bios_setup, {"BiosSetup"}}};
  for (const auto& [target, booted] : words) {
    const BootOverride requested{.target = target, .once = true};

    const auto set = with_ipmi([&](Bmc& bmc) { return bmc.boot.set(requested, soon()); });
    const auto reported = with_ipmi([](Bmc& bmc) { return bmc.boot.read(soon()); });

    ASSERT_TRUE(set) << to_string(target) << ": " << set.error().what;
    ASSERT_TRUE(reported) << reported.error().what;
    EXPECT_EQ(reported->value, requested);
    ASSERT_TRUE(server().boot());
    const auto from =
        server().on([](auto& machine, auto&) { return std::string{machine.booted_from()}; });
    EXPECT_THAT(booted, ::testing::Contains(from));
    ASSERT_TRUE(turn_off());
  }
}

TEST_P(OverIpmiBySuite, ReadsSensorsLogPartsAndClock) {
  ASSERT_TRUE(server().boot());

  const auto sensors = with_ipmi([](Bmc& bmc) { return bmc.sensors.read(soon()); });
  const auto log = with_ipmi([](Bmc& bmc) { return bmc.log.read({}, 100, soon()); });
  const auto seen = with_ipmi([](Bmc& bmc) { return bmc.facts.observe(soon()); });
  const auto clock = with_ipmi([](Bmc& bmc) { return bmc.manager.clock(soon()); });

  ASSERT_TRUE(sensors) << sensors.error().what;
  EXPECT_GT(sensors->sensors.size(), 5u);
  EXPECT_EQ(sensors->by, Protocol::ipmi);
  ASSERT_TRUE(log) << log.error().what;
  EXPECT_FALSE(log->entries.empty());
  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_FALSE(seen->identity.serial.empty());
  ASSERT_TRUE(clock) << clock.error().what;
}

INSTANTIATE_TEST_SUITE_P(Of, OverIpmiBySuite, ::testing::Values(17, 3),
                         [](const auto& info) { return "Suite" + std::to_string(info.param); });

TEST_F(OverIpmi, ClearsTheLog) {
  ASSERT_TRUE(server().boot());
  const auto before = with_ipmi([](Bmc& bmc) { return bmc.log.read({}, 100, soon()); });

  const auto cleared = with_ipmi([](Bmc& bmc) { return bmc.log.clear(soon()); });
  const auto after = with_ipmi([](Bmc& bmc) { return bmc.log.read({}, 100, soon()); });

  ASSERT_TRUE(cleared) << cleared.error().what;
  ASSERT_TRUE(before && after);
  EXPECT_LE(after->entries.size(), 1u);
  EXPECT_GT(before->entries.size(), after->entries.size());
}

TEST_F(OverIpmi, ChangesAPasswordAndLogsInWithIt) {
  const auto users = with_ipmi([](Bmc& bmc) { return bmc.accounts.read(soon()); });
  const auto changed =
      with_ipmi([](Bmc& bmc) { return bmc.accounts.change_password("admin", kNew, soon()); });
  ASSERT_TRUE(changed) << changed.error().what;

  const std::string old = password;
  password = kNew;
  const auto with_new = with_ipmi([](Bmc& bmc) { return bmc.power.state(soon()); });
  password = old;
  const auto with_old = with_ipmi([](Bmc& bmc) { return bmc.power.state(soon()); });

  ASSERT_TRUE(users) << users.error().what;
  EXPECT_THAT(users->value, ::testing::Contains(::testing::Field(&Account::user, "admin")));
  EXPECT_TRUE(with_new) << with_new.error().what;
  EXPECT_EQ(with_old.error().code, Code::kRefused);
}

TEST_F(OverIpmi, SetsTheClock) {
  become({.speed = 1});
  const auto in_an_hour =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + 1h;

  const auto set = with_ipmi([=](Bmc& bmc) { return bmc.manager.set_clock(in_an_hour, soon()); });
  const auto reported = with_ipmi([](Bmc& bmc) { return bmc.manager.clock(soon()); });

  ASSERT_TRUE(set) << set.error().what;
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_NEAR(static_cast<double>(reported->ahead.count()), 3600, 30);
}

TEST_F(OverIpmi, TellsItsServicesAndItsConsole) {
  const auto services = with_ipmi([](Bmc& bmc) { return bmc.manager.services(soon()); });
  const auto ways = with_ipmi([](Bmc& bmc) { return bmc.console.ways(soon()); });

  ASSERT_TRUE(services) << services.error().what;
  EXPECT_FALSE(services->value.empty());
  ASSERT_TRUE(ways) << ways.error().what;
  ASSERT_EQ(ways->size(), 1u);
  EXPECT_EQ((*ways)[0].kind, ConsoleWay::Kind::sol);
}

TEST_F(OverIpmi, SwitchesSerialOverLanOffAndOn) {
  const auto enabled = [&](bool expected) {
    return with_ipmi([=](Bmc& bmc) { return bmc.manager.enable_service("sol", expected, soon()); });
  };
  const auto is_on = [&] {
    const auto ways = with_ipmi([](Bmc& bmc) { return bmc.console.ways(soon()); });
    return ways && !ways->empty() && (*ways)[0].enabled;
  };
  ASSERT_TRUE(is_on());

  const auto off = enabled(false);
  const bool after_off = is_on();
  const auto on = enabled(true);
  const bool after_on = is_on();

  ASSERT_TRUE(off) << off.error().what;
  EXPECT_FALSE(after_off);
  ASSERT_TRUE(on) << on.error().what;
  EXPECT_TRUE(after_on);
}

TEST_F(OverIpmi, DoesNotSwitchItselfOffAndNamesWhatItCanSwitch) {
  const auto itself =
      with_ipmi([](Bmc& bmc) { return bmc.manager.enable_service("IPMI", false, soon()); });
  const auto other =
      with_ipmi([](Bmc& bmc) { return bmc.manager.enable_service("SNMP", true, soon()); });

  ASSERT_FALSE(itself);
  EXPECT_EQ(itself.error().code, Code::kUnsupported);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kNotFound);
  EXPECT_THAT(other.error().what, HasSubstr("SOL"));
}

/// Asks until it answers again.
Task<Result<PowerState>> until_back(Bmc& bmc) {
  for (;;) {
    const auto state = co_await bmc.power.state(Deadline::in(60s));
    if (state || !is_transient(state.error().code)) co_return state;
  }
}

TEST_F(OverIpmi, TurnsTheLocatorLightOnUntilItIsTurnedOff) {
  const auto lit = [&] {
    return server().on([](auto& machine, auto&) { return machine.locator(); });
  };

  const auto on = with_ipmi([](Bmc& bmc) { return bmc.locator.set(true, soon()); });
  const bool was_lit = lit();
  const auto reported = with_ipmi([](Bmc& bmc) { return bmc.locator.read(soon()); });
  const auto off = with_ipmi([](Bmc& bmc) { return bmc.locator.set(false, soon()); });

  ASSERT_TRUE(on) << on.error().what;
  EXPECT_TRUE(was_lit);
  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(*reported, (Sourced<bool>{true, Protocol::ipmi}));
  ASSERT_TRUE(off) << off.error().what;
  EXPECT_FALSE(lit());
}

TEST_F(OverIpmi, ARestartedBmcIsSilentForAWhileAndLeavesTheMachineAlone) {
  ASSERT_TRUE(server().boot());

  const auto reset = with_ipmi([](Bmc& bmc) { return bmc.manager.reset(soon()); });
  const auto back = with_ipmi([](Bmc& bmc) { return until_back(bmc); });

  ASSERT_TRUE(reset) << reset.error().what;
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(*back, PowerState::on);
  EXPECT_EQ(server().on([](auto& machine, auto&) { return machine.boots(); }), 1);
}

TEST_F(OverIpmi, ALostDatagramCostsTimeAndNothingElse) {
  become({.faults = {{.kind = FaultKind::ipmi_lossy, .every = 9}}});

  const auto on = with_ipmi([](Bmc& bmc) { return ensure_on(bmc, soon(), kQuick); });
  const auto set = with_ipmi(
      [](Bmc& bmc) { return bmc.boot.set({.target = BootTarget::pxe, .once = true}, soon()); });

  ASSERT_TRUE(on) << on.error().what;
  ASSERT_TRUE(set) << set.error().what;
  EXPECT_TRUE(boots_reach(1));
}

TEST_F(OverIpmi, ASilentBmcEndsInTimeAndSaysSo) {
  become({.faults = {{.kind = FaultKind::ipmi_silent}}});

  const auto state = with_ipmi([](Bmc& bmc) { return bmc.power.state(Deadline::in(300ms)); });

  ASSERT_FALSE(state);
  EXPECT_TRUE(is_transient(state.error().code)) << state.error().what;
  EXPECT_THAT(state.error().what, HasSubstr("a01-n01"));
}

TEST_F(OverIpmi, ABmcThatHasSuite3AloneIsAskedByItWhereTheInventoryNamesNone) {
  become({.faults = {{.kind = FaultKind::ipmi_suite_3_only}}});

  const auto state = with_ipmi([](Bmc& bmc) { return bmc.power.state(soon()); });

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->value, PowerState::off);
}

class BothProtocols : public OverIpmi {
 protected:
  Result<Protocol> restart_a_dgx() {
    return with(first_of(by_redfish(true), by_ipmi(), by_redfish()),
                [](Bmc& bmc) { return bmc.power.reset(ResetType::force_restart, soon()); });
  }
};

TEST_F(BothProtocols, RedfishAnswersWhatItHas) {
  const auto state = with_both([](Bmc& bmc) { return bmc.power.state(soon()); });

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->by, Protocol::redfish);
  EXPECT_EQ(server().ipmi_sessions(), 0u);
}

TEST_F(BothProtocols, IpmiTurnsTheLightOnWhereHttpsIsDead) {
  server().silence_https();

  const auto on = with_both([](Bmc& bmc) { return bmc.locator.set(true, soon()); });

  ASSERT_TRUE(on) << on.error().what;
  EXPECT_EQ(*on, Protocol::ipmi);
  EXPECT_TRUE(server().on([](auto& machine, auto&) { return machine.locator(); }));
}

TEST_F(BothProtocols, IpmiTurnsTheMachineOnWhereHttpsIsDead) {
  server().silence_https();

  const auto reset = with_both([](Bmc& bmc) { return bmc.power.reset(ResetType::on, soon()); });
  const auto state = with_both([](Bmc& bmc) { return bmc.power.state(soon()); });

  ASSERT_TRUE(reset) << reset.error().what;
  EXPECT_EQ(*reset, Protocol::ipmi);
  EXPECT_TRUE(boots_reach(1));
  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->by, Protocol::ipmi);
}

TEST_F(BothProtocols, ARestartThatRedfishDoesNotHaveIsIpmis) {
  ASSERT_TRUE(server().boot());

  const auto cycled =
      with_both([](Bmc& bmc) { return bmc.power.reset(ResetType::power_cycle, soon()); });

  ASSERT_TRUE(cycled) << "a DGX has no PowerCycle: " << cycled.error().what;
  EXPECT_EQ(*cycled, Protocol::ipmi);
  EXPECT_TRUE(boots_reach(2));
}

// A DGX H100's restart by Redfish cuts the power of its DPUs.
TEST_F(BothProtocols, ARestartThatWouldCutTheDpusPowerIsIpmis) {
  ASSERT_TRUE(server().boot());

  const auto restarted = restart_a_dgx();

  ASSERT_TRUE(restarted) << restarted.error().what;
  EXPECT_EQ(*restarted, Protocol::ipmi);
  EXPECT_TRUE(boots_reach(2));
}

TEST_F(BothProtocols, ARestartIsRedfishsAfterAllWhereIpmiIsSilent) {
  become({.faults = {{.kind = FaultKind::ipmi_silent}}});
  ASSERT_TRUE(server().boot());

  const auto restarted = restart_a_dgx();

  ASSERT_TRUE(restarted) << restarted.error().what;
  EXPECT_EQ(*restarted, Protocol::redfish);
  EXPECT_TRUE(boots_reach(2));
}

TEST_F(BothProtocols, AKeptOverrideThatAnXccDoesNotHaveIsIpmis) {
  become({.bmc = {.vendor = "lenovo"}});
  const BootOverride kept{.target = BootTarget::disk, .once = false};

  const auto set = with_both([&](Bmc& bmc) { return bmc.boot.set(kept, soon()); });

  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(*set, Protocol::ipmi);
  ASSERT_TRUE(server().boot());
  EXPECT_EQ(server().on([](auto& machine, auto&) { return machine.booted_from(); }), "Hdd");
}

TEST_F(BothProtocols, ReportAMissingLicenceWhereIpmiFailsToo) {
  become({.bmc = {.vendor = "supermicro", .licensed = false}});

  const auto inserted = with_both(
      [](Bmc& bmc) { return bmc.media.insert("https://10.0.0.1/installer.iso", soon()); });

  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().code, Code::kUnsupported);
  EXPECT_THAT(inserted.error().what, HasSubstr("licen"));
}

TEST_F(BothProtocols, ARefusedPasswordIsNotTriedByTheOtherProtocol) {
  password.clear();
  (void)server();
  password = "Not-the-password-1";

  const auto state = with_both([](Bmc& bmc) { return bmc.power.state(soon()); });
  const auto by_ipmi_alone = with_ipmi([](Bmc& bmc) { return bmc.power.state(soon()); });

  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Code::kRefused);
  ASSERT_FALSE(by_ipmi_alone);
  EXPECT_EQ(by_ipmi_alone.error().code, Code::kRefused) << "they share the refusal";
}

}  // namespace
}  // namespace cupel::bmc
