// Firmware to the baseline on one machine: what is written, what decides that it was done, and what
// never happens twice.
#include <gmock/gmock.h>

#include "tests/orchestrator/updater_fixture.h"

namespace cupel::firmware {
namespace {

using namespace std::chrono_literals;
using State = bmc::UpdateProgress::State;
using inventory::FirmwareReset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(Updating, AMachineAtItsBaselineIsOnlyLookedAt) {
  machine.runs["BIOS"] = "2.4";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline);
  EXPECT_THAT(machine.asked, IsEmpty());
}

TEST_F(Updating, KeepsItsHandleBeforeThePushAndHoldsThePowerUntilTheVersionRuns) {
  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, ElementsAre("observe", "kept pushing", "push BIOS=2.4", "kept writing",
                                         "kept resetting"));
  EXPECT_EQ(kept[1].ticket.task, kTask);
  EXPECT_FALSE(held);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].replaced.front().version, "2.0");
}

TEST_F(Updating, DoesTheResetsThatFollowInTheirOrder) {
  profile.firmware[0].follow = {FirmwareReset::bmc_restart, FirmwareReset::host_restart};
  machine.activated_by = "restart";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, ElementsAre("observe", "kept pushing", "push BIOS=2.4", "kept writing",
                                         "kept resetting", "reset bmc", "kept resetting", "restart",
                                         "kept resetting"));
}

TEST_F(Updating, ATaskThatIsCompletedWhileTheVersionIsTheOldOneIsAFailure) {
  machine.lies = true;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4: the inventory shows BIOS 2.0"));
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_FALSE(held);
}

TEST_F(Updating, ATaskThatFailedWhileTheVersionRunsIsDone) {
  machine.says = {{.state = State::failed, .reported = "Exception"}};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
}

TEST_F(Updating, AFailedTaskIsToldInTheBmcsWords) {
  machine.lies = true;
  machine.says = {
      {.state = State::failed, .reported = "Exception", .message = "ApplyFailed: bad CRC"}};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4: the BMC: Exception: ApplyFailed: bad CRC"));
  EXPECT_FALSE(ended->advice.empty());
}

TEST_F(Updating, ATaskWithoutEndIsGivenTheTimeThatAWriteTakesAndKeepsThePowerHeld) {
  machine.says = {{.state = State::running,
                   .percent = 100,
                   .reported = "Running",
                   .message = "waits for POST"}};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("not written after 100 s; the BMC says: Running (100 %): "
                                       "waits for POST"));
  EXPECT_TRUE(held);
  EXPECT_FALSE(machine.power_changed_at_work);
}

TEST_F(Updating, ATaskThatVanishesIsDecidedByTheVersionAndNothingIsResetBefore) {
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.says = {{.state = State::gone}};
  machine.activated_by = "restart";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_GE(clock - kept[1].pushed, 100s);
}

TEST_F(Updating, ALostPushThatTheBmcTookIsFoundAndFollowed) {
  machine.push_fails = Error{Code::kUnreachable, "the connection broke"};
  machine.took_it = true;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_EQ(machine.tickets.front(), kTask);
}

TEST_F(Updating, ALostPushIsNotMadeAgainBeforeTheTimeThatAWriteTakesIsOver) {
  machine.push_fails = Error{Code::kTimeout, "no answer"};
  std::vector<std::chrono::sys_seconds> pushes;
  auto mine = doors();
  mine.keep = [&](UpdateHandle handle) -> Task<Result<void>> {
    pushes.push_back(clock);
    if (pushes.size() == 2) machine.push_fails.reset();
    kept.push_back(std::move(handle));
    co_return ok();
  };
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  ASSERT_GE(pushes.size(), 2u);
  EXPECT_GE(pushes[1] - pushes[0], 100s);
}

TEST_F(Updating, APushThatIsLostAgainIsAFailure) {
  machine.push_fails = Error{Code::kUnreachable, "reset by peer"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("sent 2 times, and the BMC has none of it: reset by peer"));
  EXPECT_FALSE(held);
}

TEST_F(Updating, ARefusedPushIsAFailureAtOnce) {
  machine.push_fails = Error{Code::kFailed, "HTTP 400: MissingOrMalformedPart"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("MissingOrMalformedPart"));
  EXPECT_FALSE(held);
}

TEST_F(Updating, WhatIsVerifiedIsToldToGoOnAndFollowedUnderItsNewName) {
  machine.says = {{.state = State::verified}, {.state = State::running}, {.state = State::done}};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, ::testing::Contains(std::string{"go on "} + kTask));
  EXPECT_EQ(machine.tickets.back(), std::string{kTask} + "-install");
}

TEST_F(Updating, AnotherUpdateIsWaitedFor) {
  machine.busy = {"/redfish/v1/TaskService/Tasks/7"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::busy);
  EXPECT_THAT(ended->detail, HasSubstr("Tasks/7"));
  EXPECT_THAT(machine.pushed, IsEmpty());
}

TEST_F(Updating, ASickSupplyAWrongClockOrALargeImageKeepTheMachineAsItIs) {
  machine.parts = {{.kind = inventory::PartKind::psu, .name = "psu1", .health = "Critical"}};
  const auto sick = run();
  machine.parts.clear();
  machine.clock_ahead = -6min;
  const auto late = run();
  machine.clock_ahead = 0s;
  machine.most_bytes = 999;
  const auto large = run();

  ASSERT_TRUE(sick && late && large);
  EXPECT_THAT(sick->detail, HasSubstr("psu1 is Critical"));
  EXPECT_THAT(late->detail, HasSubstr("360 s off"));
  EXPECT_THAT(large->detail, HasSubstr("999 at most"));
  EXPECT_THAT(machine.pushed, IsEmpty());
}

/// What stands between a flash and a brick: the BMC itself, and each of its supplies.
TEST_F(Updating, ASickBmcOrASupplyWithAWarningKeepTheMachineAsItIs) {
  using inventory::PartKind;
  for (const auto& [kind, name, health] :
       {std::tuple{PartKind::bmc, "BMC", "Critical"}, std::tuple{PartKind::psu, "psu2", "Warning"},
        std::tuple{PartKind::psu, "psu2", "Critical"}}) {
    machine.parts = {{.kind = kind, .name = name, .health = health}};

    const auto ended = run();

    ASSERT_TRUE(ended) << ended.error().what;
    EXPECT_EQ(ended->how, How::failed);
    EXPECT_THAT(ended->detail, HasSubstr(std::string{name} + " is " + health));
    EXPECT_THAT(ended->advice, ElementsAre(std::string{"repair "} + name));
    EXPECT_THAT(machine.pushed, IsEmpty());
  }
}

TEST_F(Updating, AnAcCycleThatTheMachineDoesNotHaveIsAPersons) {
  profile.firmware[0].follow = {FirmwareReset::ac_cycle};
  machine.activated_by = "ac-cycle";
  machine.has_ac = false;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_THAT(ended->detail, HasSubstr("must have: AC cycle"));
  EXPECT_EQ(kept.back().phase, UpdateHandle::Phase::resetting);
  EXPECT_FALSE(held) << "an operator may change the power now";
}

TEST_F(Updating, RecoversOnlyAsTheProfileAllows) {
  machine.activated_by = "reset bmc";
  const auto left = run();
  profile.firmware[0].recovery = {inventory::FirmwareRecovery::bmc_restart};
  const auto recovered = run();

  ASSERT_TRUE(left) << left.error().what;
  EXPECT_EQ(left->how, How::failed);
  ASSERT_TRUE(recovered) << recovered.error().what;
  EXPECT_EQ(recovered->how, How::at_baseline) << recovered->detail;
}

TEST_F(Updating, APartThatIsCriticalBehindTheUpdateIsAFailure) {
  machine.health["BIOS"] = "Critical";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("BIOS is Critical"));
}

TEST_F(Updating, OneOfSeveralTargetsThatStaysOldIsAFailure) {
  machine.runs = {{"GPU_1", "9.0"}, {"GPU_2", "9.0"}};
  profile.firmware = {component("gpu", "GPU_*", "9.1")};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("GPU_2 9.0"));
  EXPECT_THAT(ended->detail, Not(HasSubstr("GPU_1")));
}

TEST_F(Updating, OneByOneAllAreWrittenBeforeTheResetThatMakesThemRun) {
  machine.runs = {{"GPU_1", "9.0"}, {"GPU_2", "9.0"}, {"GPU_3", "9.1"}};
  profile.firmware = {component("gpu", "GPU_*", "9.1")};
  profile.firmware[0].one_by_one = true;
  profile.firmware[0].before = {FirmwareReset::bmc_restart};
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.activated_by = "restart";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked,
              ElementsAre("observe", "reset bmc", "kept pushing", "push GPU_1=9.1", "kept writing",
                          "kept resetting", "kept pushing", "push GPU_2=9.1", "kept writing",
                          "kept resetting", "restart", "kept resetting"));
  EXPECT_EQ(done.size(), 2u);
  EXPECT_FALSE(held);
}

TEST_F(Updating, OfWhatIsWrittenOneByOneThatWhichStaysOldIsAFailure) {
  machine.runs = {{"GPU_1", "9.0"}, {"GPU_2", "9.0"}};
  profile.firmware = {component("gpu", "GPU_*", "9.1")};
  profile.firmware[0].one_by_one = true;
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.activated_by = "nothing that is done";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("GPU_1 9.0, GPU_2 9.0"));
  EXPECT_EQ(machine.pushed.size(), 2u);
}

TEST_F(Updating, ASteppingStoneIsWrittenToWhatNeedsItAlone) {
  machine.runs = {{"BMC_0", "21.5"}, {"BMC_1", "23.10"}};
  profile.firmware = {component("bmc", "BMC_*", "24.1")};
  profile.firmware[0].one_by_one = true;
  profile.firmware[0].stepping_stones = {
      {.below = "22.0", .version = "22.1", .image = *profile.firmware[0].image}};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  std::vector<std::string> pushes;
  for (const auto& one : machine.pushed) pushes.push_back(one.name);
  EXPECT_THAT(pushes, ElementsAre("BMC_0=22.1", "BMC_0=24.1", "BMC_1=24.1"));
}

TEST_F(Updating, OneByOneGoesOnAfterACrashWithWhatIsNotWrittenYet) {
  machine.runs = {{"GPU_1", "9.0"}, {"GPU_2", "9.0"}};
  profile.firmware = {component("gpu", "GPU_*", "9.1")};
  profile.firmware[0].one_by_one = true;
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.activated_by = "restart";
  ASSERT_TRUE(run());
  const auto handles = kept;
  for (const auto& from : handles) {
    machine = {};
    machine.runs = {{"GPU_1", "9.0"}, {"GPU_2", "9.0"}};
    machine.activated_by = "restart";
    for (const auto& id : from.written) machine.written[id] = "9.1";
    const bool was_reset = from.resets_done > 0;
    if (from.phase != UpdateHandle::Phase::pushing) {
      machine.take({.name = from.ids.front() + "=9.1"});
      if (from.phase == UpdateHandle::Phase::resetting) machine.end_of_write();
    }
    if (was_reset) machine.activate();
    const auto before = machine.pushed.size() + from.written.size();

    const auto ended = resume(from);

    ASSERT_TRUE(ended) << ended.error().what;
    EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
    EXPECT_EQ(machine.runs["GPU_1"], "9.1");
    EXPECT_EQ(machine.runs["GPU_2"], "9.1");
    EXPECT_LE(machine.pushed.size() + from.written.size(), 2u) << before;
    EXPECT_FALSE(machine.power_changed_at_work);
  }
}

TEST_F(Updating, AVersionThatTheBmcWritesInAnotherWayIsTheSame) {
  profile.firmware = {component("bios", "BIOS", "24.9.17")};
  auto mine = doors();
  mine.image = [](const FirmwareUpdate&, const bmc::Identity&,
                  Deadline) -> Task<Result<bmc::UpdateOrder>> {
    co_return bmc::UpdateOrder{.name = "BIOS=24.09.17", .bytes = 1'000};
  };
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
}

TEST_F(Updating, ABmcThatIsStillAtWorkAfterItsTimeIsNotRecovered) {
  profile.firmware[0].recovery = {inventory::FirmwareRecovery::bmc_restart,
                                  inventory::FirmwareRecovery::ac_cycle};
  machine.says = {{.state = State::running, .percent = 100, .reported = "Running"}};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("its power is left alone"));
  const auto named = ended->detail.substr(0, ended->detail.find(": "));
  EXPECT_EQ(ended->detail.rfind(named + ": "), 0u) << "once: " << ended->detail;
  EXPECT_TRUE(held);
  EXPECT_FALSE(machine.power_changed_at_work);
}

TEST_F(Updating, ABmcThatForgotTheTaskAndIsAtWorkIsNotReset) {
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.says = {{.state = State::gone}};
  machine.activated_by = "restart";
  machine.busy_after_gone = 3;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_FALSE(machine.power_changed_at_work);
}

TEST_F(Updating, ABmcThatForgotTheTaskAndNeverEndsIsAPersons) {
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.says = {{.state = State::gone}};
  machine.busy_after_gone = 1'000'000;

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("the BMC forgot the update, and is at work with"));
  EXPECT_TRUE(held);
  EXPECT_FALSE(machine.power_changed_at_work);
}

TEST_F(Updating, WhatTheBmcRefusedIsNotFollowedLater) {
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.push_fails = Error{Code::kBusy, "UpdateInProgress"};
  const auto refused = run();
  machine.push_fails.reset();
  machine.busy = {"/redfish/v1/TaskService/Tasks/7"};

  const auto later = resume(kept.back());

  ASSERT_TRUE(refused && later);
  EXPECT_EQ(refused->how, How::busy);
  EXPECT_EQ(kept.back().phase, UpdateHandle::Phase::refused);
  EXPECT_EQ(later->how, How::busy) << later->detail;
  EXPECT_THAT(machine.asked, Not(::testing::Contains("restart")));
  EXPECT_FALSE(held);
}

TEST_F(Updating, AnImageThatIsVerifiedWhenTheControllerStopsIsInstalledOnce) {
  machine.verifies_first = true;
  machine.says = {{.state = State::running}, {.state = State::done}};
  for (const auto phase : {UpdateHandle::Phase::pushing, UpdateHandle::Phase::starting}) {
    const bool starting = phase == UpdateHandle::Phase::starting;
    auto from = handle(phase);
    from.ticket = starting ? bmc::UpdateTicket{"verify", kTask} : bmc::UpdateTicket{};
    machine.asked.clear(), machine.pushed.clear();
    machine.runs["BIOS"] = "2.0";
    machine.take({.name = "BIOS=2.4"});

    const auto ended = resume(from);

    ASSERT_TRUE(ended) << ended.error().what;
    EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
    EXPECT_EQ(machine.pushed.size(), 1u);
    EXPECT_EQ(std::ranges::count_if(machine.asked,
                                    [](const auto& one) { return one.starts_with("go on"); }),
              starting ? 0 : 1);
  }
}

TEST_F(Updating, AClaimThatALostPushLeftIsNoUpdateOfAnothers) {
  machine.push_fails = Error{Code::kUnreachable, "the connection broke"};
  auto mine = doors();
  mine.keep = [&](UpdateHandle handle) -> Task<Result<void>> {
    if (handle.phase == UpdateHandle::Phase::pushing) {
      if (!machine.busy.empty()) machine.push_fails.reset();
      machine.busy = {std::string{bmc::kTargetsClaimed}};
    }
    co_return ok();
  };
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  ASSERT_FALSE(machine.pushed.empty());
  EXPECT_TRUE(machine.pushed.back().claim_is_ours);
}

TEST_F(Updating, AMachineThatWasSwitchedOffForARefusedImageIsOnAgain) {
  profile.firmware[0].before = {FirmwareReset::host_off};
  machine.push_fails = Error{Code::kFailed, "HTTP 400: MissingOrMalformedPart"};
  const auto refused = run();
  const bool on_again = machine.on;
  machine.on = false;
  const auto was_off = run();

  ASSERT_TRUE(refused && was_off);
  EXPECT_EQ(refused->how, How::failed);
  EXPECT_THAT(machine.asked, ::testing::Contains("GracefulShutdown"));
  EXPECT_TRUE(on_again);
  EXPECT_FALSE(machine.on) << "it was off before";
}

TEST_F(Updating, WithoutAnAcCycleAPowerDrainLeavesTheMachineOn) {
  profile.firmware[0].follow = {FirmwareReset::power_drain};
  machine.has_ac = false;
  machine.activated_by = "pulling the cord";

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_THAT(ended->detail, HasSubstr("must have: power drain"));
  EXPECT_TRUE(machine.on);
}

TEST_F(Updating, SuppliesThatAreNotRedundantKeepTheMachineAsItIs) {
  machine.sensors = {{.kind = bmc::SensorKind::redundancy,
                      .name = "fan redundancy 0",
                      .state = "Lost",
                      .health = "Critical"}};
  const auto fans = run();
  machine.runs["BIOS"] = "2.0";
  machine.pushed.clear();
  machine.sensors = {{.kind = bmc::SensorKind::redundancy,
                      .name = "PSU redundancy 0",
                      .state = "N+m",
                      .health = "Warning"}};
  const auto supplies = run();

  ASSERT_TRUE(fans && supplies);
  EXPECT_EQ(fans->how, How::at_baseline) << fans->detail;
  EXPECT_EQ(supplies->how, How::failed);
  EXPECT_THAT(supplies->detail, HasSubstr("PSU redundancy 0: N+m"));
  EXPECT_THAT(machine.pushed, IsEmpty());
}

TEST_F(Updating, AnImageIsServedToABmcThatFetchesAndNotAnyMoreAtTheEnd) {
  std::vector<std::string> served;
  auto mine = doors();
  mine.serve = [&](bmc::UpdateOrder order, std::vector<std::string>,
                   Deadline) -> Task<Result<std::string>> {
    served.push_back("serve " + order.name);
    co_return "http://10.0.0.1:8080/token/bios.bin";
  };
  mine.serve_no_more = [&](const std::string& url) { served.push_back("end " + url); };
  const auto with_ways = [&](std::vector<std::string> ways) {
    machine = {};
    machine.ways = std::move(ways);
    asio::io_context io;
    Updater updater{mine};
    return run_to_end(io, updater.run(Deadline::in(60s)));
  };

  const auto pushed = with_ways({"multipart", "simple"});
  const auto untouched = served;
  const auto fetched = with_ways({"simple"});

  ASSERT_TRUE(pushed && fetched);
  EXPECT_THAT(untouched, IsEmpty());
  EXPECT_THAT(served, ElementsAre("serve BIOS=2.4", "end http://10.0.0.1:8080/token/bios.bin"));
  EXPECT_EQ(machine.pushed.front().pull_uri, "http://10.0.0.1:8080/token/bios.bin");
}

TEST_F(Updating, WhoeverCancelsWaitsUntilALostPushWouldShow) {
  held = true;
  const auto begun = clock;
  const auto wait = [&](UpdateHandle::Phase phase) {
    asio::io_context io;
    Updater updater{doors()};
    auto from = handle(phase);
    from.pushed = clock;
    return run_to_end(io, updater.wait_for_end(std::move(from), Deadline::in(60s)));
  };

  const auto written = wait(UpdateHandle::Phase::writing);
  const auto at_once = clock - begun;
  const auto pushed = wait(UpdateHandle::Phase::pushing);

  EXPECT_TRUE(written && pushed);
  EXPECT_LT(at_once, 100s);
  EXPECT_GE(clock - begun, 100s);
  EXPECT_FALSE(held);
}

TEST_F(Updating, GoesOnFromEachPhaseWithoutASecondPush) {
  using enum UpdateHandle::Phase;
  for (const auto phase : {pushing, writing, starting, resetting}) {
    machine = {};
    machine.take({.name = "BIOS=2.4"});
    if (phase == resetting) machine.end_of_write();

    const auto ended = resume(handle(phase));

    ASSERT_TRUE(ended) << ended.error().what;
    EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
    EXPECT_EQ(machine.pushed.size(), 1u) << words[static_cast<std::size_t>(phase)];
  }
}

/// The engine's tries: what cannot be asked is asked again later, from the handle.
class CutOff : public Updating {
 protected:
  CutOff() {
    profile.firmware[0].follow = {FirmwareReset::host_restart};
    profile.firmware[0].takes = 600s;
    profile.firmware[0].settles = 600s;
  }

  Result<UpdateEnd> run_as_the_engine_does() {
    auto ended = run();
    for (int tries = 1; !ended && is_transient(ended.error().code) && tries < 30; ++tries) {
      clock += 30s;
      ended = kept.empty() ? run() : resume(kept.back());
    }
    return ended;
  }

  /// From the question with this number on, for five minutes; each takes a while to be given up.
  /// Returns how many were asked.
  int cut_from(int question) {
    int asked = 0;
    std::optional<std::chrono::sys_seconds> until;
    machine = {};
    machine.says = {{.state = State::running}, {.state = State::running}, {.state = State::done}};
    machine.activated_by = "restart";
    machine.is_cut = [&asked, &until, this, question] {
      if (asked++ == question) until = clock + 5min;
      const bool cut = until && clock < *until;
      if (cut) clock += 10s;
      return cut;
    };
    kept.clear();
    ended_ = run_as_the_engine_does();
    return asked;
  }

  Result<UpdateEnd> ended_ = Error{Code::kFailed, ""};
};

TEST_F(CutOff, FiveMinutesAtAnyQuestionCostNeitherASecondPushNorThePower) {
  constexpr int kNever = 1'000'000;
  const int questions = cut_from(kNever);
  ASSERT_GT(questions, 10);
  for (int question = 0; question < questions; ++question) {
    SCOPED_TRACE(::testing::Message() << "cut at question " << question);

    cut_from(question);

    ASSERT_TRUE(ended_) << ended_.error().what;
    EXPECT_EQ(ended_->how, How::at_baseline) << ended_->detail;
    EXPECT_EQ(machine.pushed.size(), 1u);
    EXPECT_FALSE(machine.pushed_at_work);
    EXPECT_FALSE(machine.power_changed_at_work);
    EXPECT_FALSE(held);
  }
}

TEST_F(CutOff, AnUploadThatArrivedBeforeTheCutIsFoundAgain) {
  machine.took_it = true;
  int asked = 0;
  std::optional<std::chrono::sys_seconds> until;
  machine.activated_by = "restart";
  machine.is_cut = [&] {
    const bool pushing = !machine.asked.empty() && machine.asked.back().starts_with("push");
    if (pushing && asked++ == 0) until = clock + 5min;
    const bool cut = until && clock < *until;
    if (cut) clock += 10s;
    return cut;
  };

  const auto ended = run_as_the_engine_does();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_EQ(machine.pushed.size(), 1u);
  EXPECT_EQ(machine.tickets.front(), kTask);
}

TEST_F(Updating, AResetThatWasDoneIsNotDoneAgain) {
  profile.firmware[0].follow = {FirmwareReset::host_restart};
  machine.runs["BIOS"] = "2.4";
  auto from = handle(UpdateHandle::Phase::resetting);
  from.resets_done = 1;

  const auto ended = resume(from);

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.asked, Not(::testing::Contains("restart")));
}

TEST(UpdateHandles, AreReadAsTheyWereWritten) {
  const UpdateHandle handle{.phase = UpdateHandle::Phase::starting,
                            .component = "hgx",
                            .version = "1.2",
                            .sha256 = "ab",
                            .targets = 9,
                            .others = {"GPU_9"},
                            .ids = {"GPU_2"},
                            .written = {"GPU_1", "GPU_3"},
                            .more = true,
                            .ticket = {"push", kTask},
                            .resets_done = 2,
                            .pushed = std::chrono::sys_seconds{1'700'000'000s},
                            .was_on = true};

  const auto read = update_handle_of(to_text(handle));

  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(handle));
  EXPECT_EQ(read->pushed, handle.pushed);
  EXPECT_FALSE(update_handle_of("/var/lib/cupel-node/run1"));
  EXPECT_FALSE(update_handle_of("{}"));
}

}  // namespace
}  // namespace cupel::firmware
