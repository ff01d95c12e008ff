#include "bmc/power.h"

#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

constexpr Pace kQuick{.first = 1ms,
                      .longest = 2ms,
                      .before_asking_again = 1ms,
                      .until_bmc_is_gone = 5s,
                      .longest_busy = 1ms,
                      .after_lost_answer = 50ms,
                      .until_restart_shows = 5ms,
                      .before_turning_on = 20ms};

/// A machine that does what it is asked after so many looks, and a BMC that writes down what it was
/// asked.
class FakeBmc final : public Bmc {
 public:
  FakeBmc() {
    power.state.bind(this, &FakeBmc::power_state);
    power.reset.bind(this, &FakeBmc::reset);
    power.allowed_resets.bind(this, &FakeBmc::allowed_resets);
    power.has_ac_cycle.bind(this, &FakeBmc::has_ac_cycle);
    power.given_up.bind(this, &FakeBmc::given_up);
  }
  Task<Result<Sourced<PowerState>>> power_state(Deadline deadline) {
    ++looks_after_reset;
    if (looks_until_silent-- == 0) {
      (void)co_await pause_for(deadline.left() + 1ms);
      co_return Error{Code::kTimeout, "Timeout was reached"};
    }
    if (looks_without_answer > 0) {
      if (!never_comes_back) --looks_without_answer;
      co_return Error{Code::kUnreachable, "no route to the BMC"};
    }
    if (state != goal && looks_until_change-- <= 0) state = goal;
    co_return Sourced<PowerState>{state};
  }
  Task<Result<Protocol>> reset(ResetType type, Deadline) {
    resets.push_back(type);
    if (fails_after_reset > 0) looks_without_answer = fails_after_reset;
    looks_after_reset = 0;
    if (conflicts-- > 0) co_return Error{Code::kConflict, "not now"};
    if (busy-- > 0) co_return Error{Code::kBusy, "HTTP 503", 1000ms};
    if (refuses.contains(type)) co_return Error{Code::kUnsupported, "HTTP 501"};
    if (ignores_resets) co_return Protocol::redfish;
    if (type == ResetType::on) goal = PowerState::on;
    if (type == ResetType::force_off) goal = PowerState::off;
    if (type == ResetType::ac_cycle && !stays_in_ac_cycle) looks_without_answer = 5;
    if (type == ResetType::graceful_shutdown && listens) goal = PowerState::off;
    if (type == ResetType::force_restart && restart_leaves_off) goal = PowerState::off;
    if (loses_answer) co_return Error{Code::kUnreachable, "Empty reply from server"};
    co_return Protocol::redfish;
  }
  Task<Result<std::string>> given_up(Deadline) { co_return why_given_up; }
  Task<Result<std::vector<ResetType>>> allowed_resets(Deadline) { co_return allowed; }
  Task<Result<bool>> has_ac_cycle(Deadline) { co_return cycles_ac; }
  Task<void> log_out() override { co_return; }

  PowerState state = PowerState::off, goal = PowerState::off;
  std::vector<ResetType> allowed{ResetType::on, ResetType::force_off, ResetType::graceful_shutdown};
  std::vector<ResetType> resets;
  int looks_until_change = 3, conflicts = 0, looks_without_answer = 0, looks_until_silent = -1;
  int busy = 0, fails_after_reset = 0, looks_after_reset = 0;
  std::set<ResetType> refuses;
  std::string why_given_up;
  bool loses_answer = false, restart_leaves_off = false, stays_in_ac_cycle = false;
  bool ignores_resets = false, listens = true, never_comes_back = false, cycles_ac = false;
};

class Power : public ::testing::Test {
 protected:
  void is(PowerState state) { bmc.state = bmc.goal = state; }
  Result<void> run(Task<Result<void>> task) { return run_to_end(io, std::move(task)); }
  /// What comes of it where the time is over once the BMC was looked at a few times after a reset.
  template <class Verb>
  Result<void> run_out_of_time(Verb verb) {
    for (auto patience = 50ms;; patience *= 4) {
      bmc.resets.clear();
      bmc.looks_after_reset = 0;
      auto done = run(verb(Deadline::in(patience)));
      const bool enough = !bmc.resets.empty() && bmc.looks_after_reset > 2;
      if (enough || patience > 60s) return done;
    }
  }
  static Deadline soon() { return Deadline::in(60s); }

  asio::io_context io;
  FakeBmc bmc;
};

TEST_F(Power, LeavesAMachineAloneThatIsOnAlready) {
  is(PowerState::on);

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre());
}

TEST_F(Power, IsOnOnlyOnceTheBmcItselfSaysSo) {
  is(PowerState::off);

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_EQ(bmc.state, PowerState::on);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::on));
}

TEST_F(Power, OnlyWaitsForAMachineThatIsPoweringOn) {
  bmc.state = PowerState::powering_on;
  bmc.goal = PowerState::on;

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre());
}

TEST_F(Power, NeverTakesAnUnknownStateForOff) {
  is(PowerState::unknown);

  const auto done = run(ensure_off(bmc, 0ms, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_off));
}

TEST_F(Power, TimesOutWhenThePowerOnWasAcceptedAndIgnored) {
  is(PowerState::off);
  bmc.ignores_resets = true;

  const auto done =
      run_out_of_time([&](Deadline deadline) { return ensure_on(bmc, deadline, kQuick); });

  EXPECT_EQ(done.error().code, Code::kTimeout);
  EXPECT_EQ(done.error().what, "power on: accepted by the BMC, which still reports off, not on");
}

TEST_F(Power, ReportsWhatTheBmcReportedLastWhereTheDeadlineCutsALookOff) {
  is(PowerState::off);
  bmc.ignores_resets = true;

  const auto done = run_out_of_time([&](Deadline deadline) {
    bmc.looks_until_silent = 3;
    return ensure_on(bmc, deadline, kQuick);
  });

  EXPECT_EQ(done.error().code, Code::kTimeout);
  EXPECT_EQ(done.error().what, "power on: accepted by the BMC, which still reports off, not on");
}

TEST_F(Power, BearsLooksThatFailOnceTheMachineWasAsked) {
  is(PowerState::off);
  bmc.fails_after_reset = 4;

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::on)) << "asked once";
}

TEST_F(Power, RestartsOnceThoughLooksFailAfterIt) {
  is(PowerState::on);
  bmc.allowed = {ResetType::on, ResetType::force_off, ResetType::force_restart};
  bmc.fails_after_reset = 3;

  const auto done = run(restart(bmc, soon(), kQuick));

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_restart));
}

TEST_F(Power, SaysHowManyLooksInARowFailed) {
  is(PowerState::off);
  bmc.fails_after_reset = 100;

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_EQ(done.error().code, Code::kUnreachable);
  EXPECT_EQ(done.error().what,
            "power on: no route to the BMC; 6 looks at the power state in a row failed");
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::on));
}

TEST_F(Power, IsUnsupportedWhereNoAllowedResetTurnsTheMachineOn) {
  is(PowerState::off);
  bmc.allowed = {ResetType::force_restart};

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(bmc.resets, ElementsAre());
}

TEST_F(Power, TriesWhereTheBmcDoesNotTellWhatItAllows) {
  is(PowerState::off);
  bmc.allowed = {};

  EXPECT_TRUE(run(ensure_on(bmc, soon(), kQuick)));
}

TEST_F(Power, AsksAgainWhileTheBmcIsNotReadyForPowerOn) {
  is(PowerState::off);
  bmc.conflicts = 3;

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_EQ(bmc.resets.size(), 4u);
}

TEST_F(Power, DoesNotAskForEver) {
  is(PowerState::off);
  bmc.conflicts = 100;

  const auto done = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_EQ(done.error().code, Code::kConflict);
  EXPECT_EQ(bmc.resets.size(), 6u);
}

TEST_F(Power, AsksTheSystemToShutDownBeforeItForcesIt) {
  is(PowerState::on);
  bmc.listens = false;

  const auto done = run(ensure_off(bmc, 10ms, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::graceful_shutdown, ResetType::force_off));
}

TEST_F(Power, ForcesNothingWhereTheSystemShutDownByItself) {
  is(PowerState::on);

  const auto done = run(ensure_off(bmc, 5s, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::graceful_shutdown));
}

TEST_F(Power, CyclesByOffAndOn) {
  is(PowerState::on);

  const auto done = run(cycle(bmc, 0ms, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_off, ResetType::on));
  EXPECT_EQ(bmc.state, PowerState::on);
}

TEST_F(Power, RestartsByTheBmcsOwnRestart) {
  is(PowerState::on);
  bmc.allowed = {ResetType::on, ResetType::force_off, ResetType::force_restart};

  const auto done = run(restart(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_restart));
}

TEST_F(Power, RestartsByOffAndOnWhereTheBmcHasNoRestartThatIsSafe) {
  is(PowerState::on);
  bmc.allowed = {ResetType::on, ResetType::force_off};

  const auto done = run(restart(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_off, ResetType::on));
}

TEST_F(Power, AsksTheSystemToRestartWhereTheBmcHasNothingElse) {
  is(PowerState::on);
  bmc.allowed = {ResetType::on, ResetType::graceful_restart};

  const auto done = run(restart(bmc, soon(), kQuick));

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::graceful_restart));
}

TEST_F(Power, TurnsOnAMachineThatIsOffWhenItIsToRestart) {
  is(PowerState::off);
  bmc.allowed = {ResetType::on, ResetType::force_off, ResetType::force_restart};

  const auto done = run(restart(bmc, soon(), kQuick));

  EXPECT_TRUE(done);
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::on));
}

TEST_F(Power, CyclesTheAcOfAMachineThatIsOffAndWaitsForItsBmc) {
  is(PowerState::on);
  bmc.cycles_ac = true;

  const auto done = run(ac_cycle(bmc, 0ms, soon(), kQuick));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_off, ResetType::ac_cycle, ResetType::on));
  EXPECT_EQ(bmc.looks_without_answer, 0);
  EXPECT_EQ(bmc.state, PowerState::on);
}

/// The cycle cuts the BMC's own power, often before it has answered.
TEST_F(Power, HasCycledTheAcWhereTheAnswerToItWasLostAndTheBmcWentAway) {
  bmc.cycles_ac = true;
  bmc.loses_answer = true;

  const auto done = run(ac_cycle(bmc, 0ms, soon(), kQuick));

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::ac_cycle, ResetType::on)) << "once";
  EXPECT_EQ(bmc.state, PowerState::on);
}

TEST_F(Power, SaysThatTheAnswerToAnAcCycleWasLostWhereTheBmcStayedAndTurnsTheMachineOn) {
  bmc.cycles_ac = true;
  bmc.loses_answer = true;
  bmc.stays_in_ac_cycle = true;
  auto pace = kQuick;
  pace.until_bmc_is_gone = 20ms;

  const auto done = run(ac_cycle(bmc, 0ms, soon(), pace));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "AC cycle: Empty reply from server");
  EXPECT_EQ(bmc.state, PowerState::on);
}

TEST_F(Power, HasBegunAResetWhoseAnswerWasLostWhereTheBmcWentAway) {
  bmc.looks_without_answer = 5;

  const auto done =
      run(has_begun(bmc, Error{Code::kUnreachable, "Empty reply from server"}, soon(), kQuick));

  EXPECT_TRUE(done) << done.error().what;
}

TEST_F(Power, SaysThatTheAnswerToAResetWasLostWhereTheBmcStayed) {
  auto pace = kQuick;
  pace.until_bmc_is_gone = 20ms;

  const auto done =
      run(has_begun(bmc, Error{Code::kUnreachable, "Empty reply from server"}, soon(), pace));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnreachable);
  EXPECT_EQ(done.error().what, "Empty reply from server; the BMC did not go away after that");
}

TEST_F(Power, HasNotBegunAResetThatTheBmcGaveUpAtOnce) {
  bmc.why_given_up = "its task ended in Exception: not allowed now";

  const auto done = run(has_begun(bmc, Protocol::redfish, soon(), kQuick));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "its task ended in Exception: not allowed now");
}

TEST_F(Power, LeavesAMachineOnWhoseBmcHasNoAcCycle) {
  is(PowerState::on);

  const auto done = run(ac_cycle(bmc, 0ms, soon(), kQuick));

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(bmc.resets, ElementsAre());
}

TEST_F(Power, SaysThatTheBmcDidNotComeBackFromAnAcCycle) {
  bmc.cycles_ac = true;
  bmc.never_comes_back = true;

  const auto done = run_out_of_time([&](Deadline deadline) {
    is(PowerState::on);
    bmc.looks_without_answer = bmc.looks_until_change = 0;  // one look after the power-off
    return ac_cycle(bmc, 0ms, deadline, kQuick);
  });

  EXPECT_EQ(done.error().what, "AC cycle: waiting for the BMC: no route to the BMC");
}

TEST_F(Power, OfABmcThatGaveUpTheResetIsAnErrorAtOnceWithItsReason) {
  is(PowerState::on);
  bmc.ignores_resets = true;
  bmc.why_given_up = "its task ended in Exception: chassis power budget exceeded";

  const auto off = run(ensure_off(bmc, 0ms, soon(), kQuick));

  EXPECT_EQ(off.error().code, Code::kFailed);
  EXPECT_THAT(off.error().what, HasSubstr("chassis power budget exceeded"));
}

TEST_F(Power, IsForcedOffWhereTheBmcGaveUpTheGracefulShutdown) {
  is(PowerState::on);
  bmc.listens = false;
  bmc.why_given_up = "its task ended in Exception";
  bmc.looks_until_change = 0;

  const auto off = run(ensure_off(bmc, 10s, soon(), kQuick));

  EXPECT_TRUE(off) << off.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::graceful_shutdown, ResetType::force_off));
}

TEST_F(Power, IsOnWhereTheAnswerToItWasLostAndTheMachineTurnsOn) {
  bmc.loses_answer = true;

  const auto on = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_TRUE(on) << on.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::on)) << "once";
}

TEST_F(Power, SaysThatTheAnswerWasLostWhereNothingComesOfIt) {
  bmc.loses_answer = true;
  bmc.looks_until_change = 1'000'000;

  const auto on = run(ensure_on(bmc, soon(), kQuick));

  EXPECT_EQ(on.error().code, Code::kUnreachable);
  EXPECT_THAT(on.error().what, HasSubstr("Empty reply from server"));
}

TEST_F(Power, IsAskedForAgainWhenTheBmcSaysSo) {
  bmc.busy = 2;

  EXPECT_TRUE(run(ensure_on(bmc, soon(), kQuick)));
  EXPECT_EQ(bmc.resets.size(), 3u);
}

TEST_F(Power, RestartsByOffAndOnWhereTheBmcListsARestartAndRefusesIt) {
  is(PowerState::on);
  bmc.allowed.push_back(ResetType::force_restart);
  bmc.refuses = {ResetType::force_restart, ResetType::power_cycle};

  const auto done = run(restart(bmc, soon(), kQuick));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets,
              ElementsAre(ResetType::force_restart, ResetType::force_off, ResetType::on));
}

TEST_F(Power, TurnsOnWhatARestartLeftOff) {
  is(PowerState::on);
  bmc.allowed.push_back(ResetType::force_restart);
  bmc.restart_leaves_off = true;
  bmc.looks_until_change = 0;

  const auto done = run(restart(bmc, soon(), kQuick));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_restart, ResetType::on));
  EXPECT_EQ(bmc.state, PowerState::on);
}

TEST_F(Power, SaysThatAMachineMayHaveBeenRestartedWhereTheAnswerWasLost) {
  is(PowerState::on);
  bmc.allowed.push_back(ResetType::force_restart);
  bmc.loses_answer = true;

  const auto done = run(restart(bmc, soon(), kQuick));

  EXPECT_EQ(done.error().code, Code::kUnreachable);
  EXPECT_THAT(done.error().what, HasSubstr("may have been restarted all the same"));
  EXPECT_THAT(bmc.resets, ElementsAre(ResetType::force_restart)) << "never twice";
}

class PowerOverHttps : public OverHttps {};

TEST_F(PowerOverHttps, TellsWhyTheTaskOfAResetFailed) {
  server.misbehave({.method = "POST",
                    .path = kSystem,
                    .status = 202,
                    .body = R"({"TaskState": "Running"})",
                    .headers = {{"Location", "/redfish/v1/TaskService/Tasks/9"}}});
  server.set(
      "/redfish/v1/TaskService/Tasks/9",
      json::value{
          {"TaskState", "Exception"},
          {"Messages",
           {{{"Message", "Chassis power budget exceeded."}, {"MessageId", "X.1.0.PowerDenied"}}}}});
  const auto bmc = open();

  const auto off = run(ensure_off(*bmc, 0ms, soon(), kQuick));
  run(bmc->log_out());

  EXPECT_EQ(off.error().code, Code::kFailed);
  EXPECT_THAT(off.error().what, HasSubstr("Chassis power budget exceeded. (X.1.0.PowerDenied)"));
}

/// A System of another make, with another list of resets.
json::value system_of(const char* manufacturer, const char* model) {
  auto system = test::small_machine("/redfish/v1/Systems/1");
  system.as_object()["Manufacturer"] = manufacturer;
  system.as_object()["Model"] = model;
  return system;
}

TEST_F(PowerOverHttps, NeverForcesARestartOnAModelThatItMayHang) {
  server.set(kSystem, system_of("Lenovo", "ThinkSystem SR675 V3 OVX"));
  const auto bmc = open();

  const auto allowed = run(bmc->power.allowed_resets(soon()));
  const auto forced = run(bmc->power.reset(ResetType::force_restart, soon()));
  const auto done = run(restart(*bmc, soon(), kQuick));
  run(bmc->log_out());

  EXPECT_THAT(*allowed,
              ElementsAre(ResetType::on, ResetType::force_off, ResetType::graceful_shutdown));
  EXPECT_EQ(forced.error().code, Code::kUnsupported);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().resets, ElementsAre("ForceOff", "On"));
}

TEST_F(PowerOverHttps, AsksAgainWhileAnIdrac10CannotBeTurnedOnYet) {
  const auto bmc = open();
  ASSERT_TRUE(run(ensure_off(*bmc, 0ms, soon(), kQuick)));
  server.misbehave({.method = "POST",
                    .path = kSystem,
                    .times = 3,
                    .status = 409,
                    .body = R"({"error": {"@Message.ExtendedInfo": [{
                      "MessageId": "Base.1.18.ActionParameterValueConflict",
                      "Message": "The parameter ResetType conflicts with the state."}]}})"});

  const auto done = run(ensure_on(*bmc, soon(), kQuick));
  run(bmc->log_out());

  EXPECT_TRUE(done) << done.error().what;
}

TEST_F(PowerOverHttps, AsksADellAgainWhoseFirmwareIsKnownToIgnorePowerOn) {
  auto system = system_of("Dell Inc.", "PowerEdge R650");
  system.as_object()["PowerState"] = "Off";
  server.set(kSystem, system);
  server.set("/redfish/v1/Managers/1", json::value{{"FirmwareVersion", "5.10.10.05"}});
  server.misbehave({.method = "POST", .path = kSystem, .status = 204});
  const auto bmc = open();

  const auto done = run(ensure_on(*bmc, Deadline::in(60s), kQuick));
  run(bmc->log_out());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().resets, ElementsAre("On"));
}

TEST_F(PowerOverHttps, CutsAnHpesStandbyPowerOnlyWhileItIsOff) {
  auto system = system_of("HPE", "ProLiant");
  system.as_object()["Oem"] = {
      {"Hpe",
       {{"Actions",
         {{"#HpeComputerSystemExt.SystemReset",
           {{"target", "/redfish/v1/Systems/1/Actions/Oem/Hpe/HpeComputerSystemExt.SystemReset"},
            {"ResetType@Redfish.AllowableValues", {"ColdBoot", "AuxCycle"}}}}}}}}};
  server.set(kSystem, system);
  const auto bmc = open();

  const auto done = run(bmc->power.reset(ResetType::ac_cycle, soon()));
  run(bmc->log_out());

  EXPECT_EQ(done.error().code, Code::kConflict);
  EXPECT_THAT(done.error().what, HasSubstr("power it off first"));
  EXPECT_THAT(server.asked().resets, ElementsAre());
}

/// What a chassis may answer in place of itself.
test::Habit chassis_that(int status, std::string body = {}) {
  auto habit = page(status, std::move(body), "/redfish/v1/Chassis/1");
  habit.times = 1000;
  return habit;
}

class UnreadableChassis : public OverHttps, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    auto system = test_system();
    system.at("Links").as_object()["Chassis"] =
        json::array{{{"@odata.id", "/redfish/v1/Chassis/1"}}};
    server.set(kSystem, system);
    auto habit = chassis_that(GetParam());
    if (GetParam() == 200) habit.body = R"({"error": {"code": "Base.1.0.GeneralError"}})";
    if (GetParam() == 0) habit.kind = test::Habit::Kind::never_answer;
    server.misbehave(std::move(habit));
  }
};
INSTANTIATE_TEST_SUITE_P(Answers, UnreadableChassis, ::testing::Values(500, 503, 200, 0));

TEST_P(UnreadableChassis, DoesNotKeepAMachineFromBeingTurnedOffAndOn) {
  const auto bmc = open();

  const auto off = run(ensure_off(*bmc, 0ms, soon(), kQuick));
  const auto on = run(ensure_on(*bmc, soon(), kQuick));
  const auto cycled = run(cycle(*bmc, 0ms, soon(), kQuick));
  run(bmc->log_out());

  EXPECT_TRUE(off) << off.error().what;
  EXPECT_TRUE(on) << on.error().what;
  EXPECT_TRUE(cycled) << cycled.error().what;
  EXPECT_THAT(server.asked().resets, ElementsAre("ForceOff", "On", "ForceOff", "On"));
}

TEST_P(UnreadableChassis, LeavesAMachineOnThatWasToBeCycledByItsChassis) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));

  const auto done = run(ac_cycle(*bmc, 0ms, Deadline::in(1s), kQuick));
  run(bmc->log_out());

  EXPECT_THAT(done.error().what, HasSubstr("AC cycle: GET /redfish/v1/Chassis/1"));
  EXPECT_THAT(server.asked().resets, ElementsAre());
}

TEST_F(PowerOverHttps, TurnsAMachineOffWhoseActionInfoCannotBeRead) {
  auto system = test_system();
  system.at("Actions").as_object()["#ComputerSystem.Reset"] = {
      {"target", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"},
      {"@Redfish.ActionInfo", "/redfish/v1/Systems/1/ResetActionInfo"}};
  server.set(kSystem, system);
  auto habit = page(500, "", "/redfish/v1/Systems/1/ResetActionInfo");
  habit.times = 100;
  server.misbehave(std::move(habit));
  const auto bmc = open();

  const auto off = run(ensure_off(*bmc, 0ms, soon(), kQuick));
  run(bmc->log_out());

  EXPECT_TRUE(off) << off.error().what;
  EXPECT_THAT(server.asked().resets, ElementsAre("ForceOff"));
}

TEST_F(PowerOverHttps, CyclesAMachineWhoseStateLagsBehind) {
  server.change([](auto& options) { options.looks_until_power_changes = 3; });
  const auto bmc = open();

  const auto done = run(cycle(*bmc, 0ms, soon(), kQuick));
  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(*state, PowerState::on);
  EXPECT_THAT(server.asked().resets, ElementsAre("ForceOff", "On"));
}

TEST_F(PowerOverHttps, TurnsOnAMachineThatIsOffInsteadOfRestartingIt) {
  const auto bmc = open();
  ASSERT_TRUE(run(ensure_off(*bmc, 0ms, soon(), kQuick)));

  const auto done = run(bmc->power.reset(ResetType::force_restart, soon()));

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().resets, ElementsAre("ForceOff", "On"));
}

TEST_F(PowerOverHttps, TakesAConflictForSuccessWhereTheMachineIsSoAlready) {
  const auto bmc = open();
  server.misbehave({.method = "POST", .path = kSystem, .status = 409});

  const auto on = run(bmc->power.reset(ResetType::on, soon()));
  server.misbehave({.method = "POST", .path = kSystem, .status = 409});
  const auto off = run(bmc->power.reset(ResetType::force_off, soon()));

  EXPECT_TRUE(on);
  EXPECT_EQ(off.error().code, Code::kConflict);
}

TEST_F(PowerOverHttps, NamesWhatTheMachineAllowsWhereItCannot) {
  const auto bmc = open();

  const auto done = run(bmc->power.reset(ResetType::power_cycle, soon()));

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_EQ(done.error().what,
            "a01-n01: reset PowerCycle: /redfish/v1/Systems/1: no reset PowerCycle; it allows: "
            "On, ForceOff, GracefulShutdown, ForceRestart");
}

TEST_F(PowerOverHttps, SaysWhichLicenceTheBmcAsksFor) {
  const auto bmc = open();
  server.misbehave({.method = "POST",
                    .path = kSystem,
                    .status = 403,
                    .body = R"({"error": {"@Message.ExtendedInfo": [{
                      "MessageId": "SMC.1.0.OemLicenseNotPassed",
                      "Message": "Not licensed to perform this request: SFT-OOB-LIC"}]}})"});

  const auto done = run(bmc->power.reset(ResetType::force_off, soon()));

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("SFT-OOB-LIC"));
  EXPECT_THAT(done.error().what, HasSubstr("needs a licence"));
}

TEST_F(PowerOverHttps, DoesNotTakeAStateThatItDoesNotKnowForOff) {
  server.set(kSystem,
             json::value{{"PowerState", "Paused"},
                         {"Actions", {{"#ComputerSystem.Reset", {{"target", "/redfish/v1/X"}}}}}});
  const auto bmc = open();

  EXPECT_EQ(*run(bmc->power.state(soon())), PowerState::unknown);
}

}  // namespace
}  // namespace cupel::bmc
