// What precedes and follows an update, how a machine recovers from one, and BMCs whose answers are
// odd.
#include <gmock/gmock.h>

#include "tests/orchestrator/updater_fixture.h"

namespace cupel::firmware {
namespace {

using State = bmc::UpdateProgress::State;
using inventory::FirmwareRecovery;
using inventory::FirmwareReset;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Error kRefusedAc{Code::kFailed, "HTTP 400: ActionParameterNotSupported"};

class Recovering : public Updating {};

TEST_F(Recovering, WritesAMachineThatMustBeOffWhileItIsOffAndSwitchesItOnAgain) {
  profile.firmware[0].before = {FirmwareReset::host_off};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked,
              ElementsAre("observe", "kept refused", "GracefulShutdown", "kept pushing",
                          "push BIOS=2.4", "kept writing", "kept resetting", "On"));
  EXPECT_THAT(machine.on_when_pushed, ElementsAre(false));
  EXPECT_TRUE(machine.on);
}

TEST_F(Recovering, HoldsThePowerFromTheFirstThingThatPrecedesTheWrite) {
  profile.firmware[0].before = {FirmwareReset::host_off};
  auto mine = doors();
  mine.hold_power = [this](const UpdateHandle&, std::chrono::seconds longest) -> Result<void> {
    machine.asked.emplace_back(longest > 0s ? "hold" : "free");
    return ok();
  };
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_THAT(machine.asked, ElementsAre("observe", "hold", "kept refused", "GracefulShutdown",
                                         "hold", "kept pushing", "push BIOS=2.4", "kept writing",
                                         "kept resetting", "free", "free", "On"));
}

TEST_F(Recovering, SwitchesOnAgainAMachineThatAnEarlierTrySwitchedOffAndNeverWrote) {
  profile.firmware[0].before = {FirmwareReset::host_off};
  auto dies = doors();
  dies.keep = [keep = dies.keep](UpdateHandle handle) -> Task<Result<void>> {
    if (handle.phase == UpdateHandle::Phase::pushing)
      return [](std::string why) -> Task<Result<void>> {
        co_return Error{Code::kStorage, std::move(why)};
      }("the controller dies");
    return keep(std::move(handle));
  };
  asio::io_context io;
  Updater updater{std::move(dies)};
  ASSERT_FALSE(run_to_end(io, updater.run(Deadline::in(60s))));
  ASSERT_FALSE(machine.on);
  ASSERT_FALSE(kept.empty());

  const auto later = resume(kept.back());

  ASSERT_TRUE(later) << later.error().what;
  EXPECT_EQ(later->how, How::at_baseline) << later->detail;
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_TRUE(machine.on);
}

/// A person took it out, since what must precede it cannot be done.
TEST_F(Recovering, AComponentThatTheProfileNamesNoLongerAndOfWhichNothingWasWrittenIsLeftOut) {
  profile.firmware.clear();
  machine.on = false;
  auto from = handle(UpdateHandle::Phase::refused);
  from.was_on = true;

  const auto ended = resume(std::move(from));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_TRUE(machine.on);
}

TEST_F(Recovering, WhatIsEndedBeforeAnythingWasSentHoldsThePowerNoLonger) {
  held = true;
  asio::io_context io;
  Updater updater{doors()};

  const auto ended =
      run_to_end(io, updater.wait_for_end(handle(UpdateHandle::Phase::refused), Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_FALSE(held);
}

TEST_F(Recovering, APowerDrainCutsTheStandbyPowerOfAMachineThatStoodOffForAWhile) {
  profile.firmware[0].follow = {FirmwareReset::power_drain};
  machine.activated_by = "FullPowerCycle";
  auto mine = doors();
  mine.drained = 30ms;
  asio::io_context io;
  Updater updater{std::move(mine)};
  const auto begun = Deadline::Clock::now();

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, ElementsAre("observe", "kept pushing", "push BIOS=2.4", "kept writing",
                                         "kept resetting", "GracefulShutdown", "FullPowerCycle",
                                         "On", "kept resetting"));
  EXPECT_GE(Deadline::Clock::now() - begun, 30ms);
  EXPECT_TRUE(machine.on);
}

TEST_F(Recovering, APowerDrainBeforeTheWriteIsDoneBeforeIt) {
  profile.firmware[0].before = {FirmwareReset::power_drain};
  auto mine = doors();
  mine.drained = 1ms;
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked,
              ElementsAre("observe", "GracefulShutdown", "FullPowerCycle", "On", "kept pushing",
                          "push BIOS=2.4", "kept writing", "kept resetting"));
}

TEST_F(Recovering, SwitchesOnAgainAMachineOfWhichTheNextThingToPrecedeCannotBeDone) {
  profile.firmware[0].before = {FirmwareReset::host_off, FirmwareReset::ac_cycle};
  machine.has_ac = false;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4: what must precede it cannot be done from here: "
                                       "AC cycle: this BMC has none"));
  EXPECT_THAT(machine.asked, ElementsAre("observe", "kept refused", "GracefulShutdown", "On"));
  EXPECT_TRUE(machine.on);
  EXPECT_FALSE(held);
}

TEST_F(Recovering, TriesWhatTheProfileAllowsInItsOrderUntilTheVersionShows) {
  profile.firmware[0].recovery = {FirmwareRecovery::bmc_restart, FirmwareRecovery::ac_cycle};
  machine.activated_by = "FullPowerCycle";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, ElementsAre("observe", "kept pushing", "push BIOS=2.4", "kept writing",
                                         "kept resetting", "reset bmc", "GracefulShutdown",
                                         "FullPowerCycle", "On"));
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_FALSE(held);
}

TEST_F(Recovering, NamesEachWayThatDidNotHelpAndLeavesTheMachineOn) {
  profile.firmware[0].recovery = {FirmwareRecovery::bmc_restart, FirmwareRecovery::ac_cycle};
  machine.lies = true;
  machine.has_ac = false;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail,
              HasSubstr("; after a BMC restart: bios 2.4: the inventory shows BIOS 2.0"));
  EXPECT_THAT(ended->detail, HasSubstr("; after an AC cycle: AC cycle: this BMC has none"));
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("leave the machine powered")));
  EXPECT_TRUE(machine.on);
  EXPECT_FALSE(held);
}

TEST_F(Recovering, WhatAPersonCutsThePowerForRunsThenWithoutASecondPush) {
  profile.firmware[0].follow = {FirmwareReset::ac_cycle};
  machine.activated_by = "the cord";
  machine.has_ac = false;
  const auto waits = run();
  machine.reset("the cord");

  const auto retried = resume(kept.back());

  ASSERT_TRUE(waits && retried);
  EXPECT_EQ(waits->how, How::needs_person);
  EXPECT_THAT(
      waits->advice,
      ElementsAre("cut and restore the machine's power; then: cupel firmware continue NODE"));
  EXPECT_EQ(retried->how, How::at_baseline) << retried->detail;
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_FALSE(held);
}

TEST_F(Recovering, ABmcThatOffersAnAcCycleAndRefusesItLeavesTheMachineOn) {
  profile.firmware[0].follow = {FirmwareReset::ac_cycle};
  machine.activated_by = "the cord";
  machine.ac_cycle_fails = kRefusedAc;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_THAT(ended->detail, HasSubstr("must have: AC cycle, which cannot be done from here: "));
  EXPECT_THAT(ended->detail, HasSubstr("ActionParameterNotSupported"));
  EXPECT_THAT(machine.asked, Contains("GracefulShutdown"));
  EXPECT_TRUE(machine.on);
}

TEST_F(Recovering, ADrainWhoseAcCycleIsRefusedLeavesTheMachineOn) {
  profile.firmware[0].follow = {FirmwareReset::power_drain};
  machine.activated_by = "the cord";
  machine.ac_cycle_fails = kRefusedAc;
  auto mine = doors();
  mine.drained = 1ms;
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_TRUE(machine.on);
}

TEST_F(Recovering, ABmcThatDoesNotRestartItselfIsAPersonsWork) {
  profile.firmware[0].follow = {FirmwareReset::bmc_restart};
  machine.activated_by = "reset bmc";
  machine.bmc_reset_fails = Error{Code::kUnsupported, "HTTP 405: Manager.Reset"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_THAT(ended->advice,
              ElementsAre("do this by hand: BMC restart; then: cupel firmware continue NODE"));
}

class OddAnswers : public Updating {};

/// A BMC that starts its other copy again would be written 64 times.
TEST_F(OddAnswers, AVersionThatShowsAndIsGoneAgainIsNotWrittenASecondTime) {
  machine.before_versions = [this, shown = 0]() mutable {
    const bool second = machine.runs["BIOS"] == "2.4" && shown++ % 2 == 1;
    if (second) machine.runs["BIOS"] = "2.0";
  };

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4: the inventory showed it, and shows BIOS 2.0 "
                                       "again"));
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("cupel bmc NODE log")));
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_FALSE(held);
}

/// Supermicro: OemFirmwareAlreadyInUpdateMode, OemLicenseNotPassed.
TEST_F(OddAnswers, AnImageThatIsVerifiedAndMayNotBeInstalledIsAFailureInTheBmcsWords) {
  machine.verifies_first = true;
  machine.says = {{.state = State::verified}};
  machine.install_fails = Error{Code::kUnsupported, "HTTP 405: SMC.1.0.OemLicenseNotPassed"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4: the BMC: HTTP 405: SMC.1.0.OemLicenseNotPassed"));
  EXPECT_EQ(kept.back().phase, UpdateHandle::Phase::refused);
  EXPECT_FALSE(held);
}

TEST_F(OddAnswers, AnInstallationThatMayHaveBegunIsNeitherBegunNorPushedAgain) {
  machine.verifies_first = true;
  machine.says = {{.state = State::verified}, {.state = State::done}};
  machine.install_fails = Error{Code::kUnreachable, "the connection broke"};

  const auto cut = run();
  const auto later = resume(kept.back());

  ASSERT_FALSE(cut);
  ASSERT_TRUE(later) << later.error().what;
  EXPECT_EQ(later->how, How::at_baseline) << later->detail;
  EXPECT_EQ(std::ranges::count_if(machine.asked,
                                  [](const auto& one) { return one.starts_with("go on"); }),
            1);
  EXPECT_EQ(machine.pushed.size(), 1u);
}

/// An image of several parts has a task for each.
TEST_F(OddAnswers, NothingIsResetWhileAnotherTaskOfTheImageRuns) {
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.activated_by = "restart";
  machine.second_task_runs = 4;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, Contains("restart"));
  EXPECT_FALSE(machine.power_changed_at_work);
  EXPECT_FALSE(held);
}

TEST_F(OddAnswers, ATaskThatFailedIsNotRecoveredFromWhileAnotherOneRunsWithoutEnd) {
  profile.firmware[0].recovery = {FirmwareRecovery::bmc_restart};
  machine.lies = true;
  machine.says = {{.state = State::failed, .reported = "Exception"}};
  machine.second_task_runs = 1'000;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("its task has ended, and the BMC is at work with "
                                       "/redfish/v1/TaskService/Tasks/1002; its power is left"));
  EXPECT_FALSE(machine.power_changed_at_work);
  EXPECT_TRUE(held);
}

/// A part that does not start any more is not in the inventory.
TEST_F(OddAnswers, AnEntryThatIsMissingBehindTheUpdateIsAFailure) {
  machine.runs = {{"GPU_1", "9.0"}, {"GPU_2", "9.0"}};
  profile.firmware = {component("gpu", "GPU_*", "9.1")};
  machine.before_versions = [this] {
    if (!machine.pushed.empty()) machine.runs = {{"GPU_1", "9.1"}};
  };

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("gpu 9.1: the inventory shows fewer entries of it than "
                                       "before"));
  EXPECT_EQ(machine.pushed.size(), 1u);
}

/// AMI refuses everybody while it writes.
TEST_F(OddAnswers, RightCredentialsThatAreRefusedMeanwhileEndNoUpdate) {
  machine.refuses = 3;
  int forgotten = 0;
  auto mine = doors();
  mine.forget_refusals = [&] { ++forgotten; };
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_EQ(forgotten, 3);
  EXPECT_EQ(machine.pushed.size(), 1u);
}

/// OpenBMC has staged it, and the profile forgot the restart.
TEST_F(OddAnswers, WhatWaitsForARestartThatTheProfileDoesNotNameIsAFailure) {
  machine.says = {{.state = State::needs_reset, .reported = "Stopping"}};
  machine.activated_by = "restart";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("the inventory shows BIOS 2.0"));
  EXPECT_THAT(machine.asked, Not(Contains("restart")));
}

TEST_F(OddAnswers, AVersionThatIsNoneIsPrintedShortAndWithoutControlCharacters) {
  machine.lies = true;
  machine.runs["BIOS"] = "2.0\x1b[2J\n" + std::string(5'000, 'x');

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ended->detail, Not(HasSubstr("\n")));
  EXPECT_LT(ended->detail.size(), 1'000u);
}

}  // namespace
}  // namespace cupel::firmware
