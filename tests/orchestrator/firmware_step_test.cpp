// The step that brings firmware to the baseline, driven by the engine, whose controller dies at
// every write; and that nobody changes the power of a machine that is being written.
#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/handoff/scheduler.h"
#include "orchestrator/steps/step_type.h"
#include "orchestrator/store/firmware_state.h"
#include "orchestrator/store/power_hold.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/closed_window.h"
#include "tests/orchestrator/one_controller.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"
#include "tests/support/firmware_machine.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using engine::EventKind;
using engine::Outcome;
using engine::StepEnd;
using playbooks::StepKind;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using State = bmc::UpdateProgress::State;
using End = store::FirmwareState::End;
using Phase = engine::StepState::Phase;

/// A scheduler with one node.
class OneNode final : public handoff::Scheduler {
 public:
  handoff::NodeState state{.name = "n1", .drained = true};

  std::string_view name() const override { return "Slurm"; }
  std::vector<std::string_view> keys() const override { return {"slurm"}; }
  const std::string& signature() const override { return signature_; }
  Task<Result<handoff::NodeState>> look(const inventory::Node&, const inventory::Profile&,
                                        Deadline) override {
    co_return state;
  }
  Task<Result<void>> hold(const inventory::Node&, std::string, Deadline) override {
    co_return ok();
  }
  Task<Result<std::string>> release(const inventory::Node&, Deadline) override {
    co_return std::string{};
  }

 private:
  std::string signature_ = "cupel";
};

struct Silent : engine::Observer {
  void on_event(const engine::Event&, const engine::RunState&) override {}
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

class FirmwareStep : public ::testing::Test {
 protected:
  FirmwareStep() {
    inventory::ExpectedFirmware bios{.component = "bios", .version = "2.4"};
    bios.ids = {"BIOS"};
    bios.image = inventory::FirmwareImage{.file = "/srv/images/bios.bin"};
    bios.takes = 3s;  // a push whose end was not seen is waited for so long
    bios.settles = 0s;
    bios.follow = {inventory::FirmwareReset::host_restart};
    inventory_.profiles["a1"] = {.name = "a1", .firmware = {bios}};
    node_.name = "n1";
    node_.profile = "a1";
    playbooks::PlannedStep step;
    step.kind = StepKind::firmware;
    step.name = "firmware";
    step.deadline = 60s;
    step.once = true;
    plan_.nodes.push_back({&node_, std::make_shared<std::vector<playbooks::PlannedStep>>(1, step)});
    machine_.says = {{.state = State::running}, {.state = State::done}};
    machine_.activated_by = "restart";
  }

  StepEnvironment environment() {
    StepEnvironment world{
        inventory_,
        *store_,
        [this](const inventory::Node&) { return std::make_unique<test::FirmwareBmc>(machine_); },
        {},
        nullptr};
    world.ask_update_every = 0ms;
    world.pace.until_restart_shows = 0ms;
    world.scheduler_of = [this](const inventory::Node&) { return scheduler_; };
    world.firmware_image = [](firmware::FirmwareUpdate update, bmc::Identity,
                              Deadline) -> Task<Result<bmc::UpdateOrder>> {
      co_return bmc::UpdateOrder{.name = update.replaces.front().id + "=" + update.version};
    };
    return world;
  }

  /// What outlives the run.
  store::FirmwareState remembered() {
    return store::firmware_state(*store_, "firmware", "n1").value().value();
  }
  void ask_to_go_on() {
    auto state = remembered();
    state.go_on = true;
    ASSERT_TRUE(store::keep_firmware_state(*store_, "firmware", "n1", state));
  }

  /// One controller, from what the journal holds to its end.
  Result<void> control() {
    NodeSteps steps{environment()};
    Silent observer;
    auto controlled = test::control_run(plan_, journal_, steps, observer);
    state_ = controlled.state;
    end_ = state_.nodes.at("n1").steps[0];
    return controlled.ended;
  }

  inventory::Node node_{};
  inventory::Inventory inventory_{};
  playbooks::Plan plan_{};
  test::TemporaryFolder folder_{};
  std::unique_ptr<store::Store> store_ = store::Store::open(folder_.path()).value();
  test::FirmwareMachine machine_{};
  test::MortalJournal journal_{};
  std::shared_ptr<OneNode> scheduler_ = std::make_shared<OneNode>();
  engine::RunState state_{};
  engine::StepState end_{};
};

TEST_F(FirmwareStep, SaysWhatItWrote) {
  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done);
  EXPECT_EQ(end_.detail, "brought to the baseline: bios 2.4");
  EXPECT_EQ(machine_.runs["BIOS"], "2.4");
  EXPECT_FALSE(store::power_is_held(*store_, "n1", now()));
}

TEST_F(FirmwareStep, PushesOnceAndChangesNoPowerMeanwhileHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "died at write " << room << (after ? ", written" : ""));
      const auto says = machine_.says;
      machine_ = {};
      machine_.says = says;
      machine_.activated_by = "restart";
      journal_ = {};
      journal_.room = room;
      journal_.dies_after_writing = after;
      EXPECT_FALSE(control());
      journal_.room = 1'000;
      ASSERT_TRUE(control());

      EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
      EXPECT_EQ(machine_.pushed.size(), 1u);
      EXPECT_FALSE(machine_.power_changed_at_work);
    }
}

TEST_F(FirmwareStep, AFailureNamesTheComponentAndWhatAPersonIsToDo) {
  machine_.lies = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("bios 2.4: the inventory shows BIOS 2.0"));
  const auto& last = journal_.events.back();
  EXPECT_THAT(json::serialize(journal_.events[journal_.events.size() - 2].data) +
                  json::serialize(last.data),
              HasSubstr("cupel bmc n1 log"));
}

TEST_F(FirmwareStep, WritesNothingToANodeThatIsNotDrainedOrHasJobs) {
  for (const auto& [drained, busy, why] : {std::tuple{false, false, "n1 is not drained in Slurm"},
                                           std::tuple{true, true, "n1 has jobs in Slurm"}}) {
    scheduler_->state.drained = drained;
    scheduler_->state.busy = busy;
    journal_ = {};

    ASSERT_TRUE(control());

    EXPECT_EQ(end_.phase, Phase::failed);
    EXPECT_THAT(end_.detail, HasSubstr(why));
    EXPECT_TRUE(machine_.asked.empty()) << "its BMC was asked";
  }
}

class WritesBack : public FirmwareStep {
 protected:
  WritesBack() {
    inventory_.profiles["a1"].firmware[0].recovery = {inventory::FirmwareRecovery::previous_image};
    machine_.before_versions = [this] {
      machine_.health["BIOS"] = machine_.runs["BIOS"] == "2.4" ? "Critical" : "OK";
    };
  }
};

TEST_F(WritesBack, APreviousImageIsPushedOnceHoweverOftenTheControllerDiesAndTheStepFails) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  const auto fresh = test::FirmwareMachine{};
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "died at write " << room << (after ? ", written" : ""));
      const auto says = machine_.says;
      const auto sickens = machine_.before_versions;
      machine_ = fresh;
      machine_.says = says;
      machine_.before_versions = sickens;
      machine_.activated_by = "restart";
      journal_ = {};
      journal_.room = room;
      journal_.dies_after_writing = after;
      EXPECT_FALSE(control());
      journal_.room = 1'000;
      ASSERT_TRUE(control());

      EXPECT_EQ(end_.phase, Phase::failed) << end_.detail;
      EXPECT_THAT(end_.detail, HasSubstr("bios 2.4 runs, and BIOS is Critical; "));
      EXPECT_LE(machine_.pushed.size(), 2u);
      EXPECT_FALSE(machine_.pushed_at_work);
      EXPECT_FALSE(machine_.power_changed_at_work);
      EXPECT_FALSE(store::power_is_held(*store_, "n1", now()));
    }
}

/// A retry begins without a handle, and with what the node's earlier steps found.
TEST_F(WritesBack, ARetryInTheSameRunDoesNotSendThePreviousImageAgain) {
  ASSERT_TRUE(control());
  ASSERT_EQ(machine_.pushed.size(), 2u);
  ASSERT_EQ(machine_.runs["BIOS"], "2.0");
  NodeSteps steps{environment()};
  const auto stop = engine::Stop::no;
  const auto keep = [](const std::string&) -> Task<Result<void>> { co_return ok(); };
  asio::io_context io;

  const auto again = run_to_end(io, steps.perform({1,
                                                   node_,
                                                   {},
                                                   plan_.nodes[0].steps->front(),
                                                   2,
                                                   {},
                                                   Deadline::in(20s),
                                                   stop,
                                                   keep,
                                                   [](auto) {},
                                                   &state_}));

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->outcome, Outcome::reject);
  EXPECT_THAT(again->detail, HasSubstr("it was sent in this run before"));
  EXPECT_EQ(machine_.pushed.size(), 3u) << "the new version alone";
  EXPECT_EQ(machine_.runs["BIOS"], "2.4");
}

/// Of a component that runs its version already.
class WritesAgain : public FirmwareStep {
 protected:
  WritesAgain() {
    machine_.runs["BIOS"] = "2.4";
    auto step = plan_.nodes[0].steps->front();
    step.with["rewrite"] = "bios";
    plan_.nodes[0].steps = std::make_shared<std::vector<playbooks::PlannedStep>>(1, step);
  }
};

TEST_F(WritesAgain, SaysWhatItWroteAndARetryInTheSameRunDoesNotWriteItOnceMore) {
  ASSERT_TRUE(control());
  EXPECT_EQ(end_.phase, Phase::done);
  EXPECT_EQ(end_.detail, "written again: bios");
  ASSERT_EQ(machine_.pushed.size(), 1u);
  NodeSteps steps{environment()};
  const auto stop = engine::Stop::no;
  const auto keep = [](const std::string&) -> Task<Result<void>> { co_return ok(); };
  asio::io_context io;

  const auto again = run_to_end(io, steps.perform({1,
                                                   node_,
                                                   {},
                                                   plan_.nodes[0].steps->front(),
                                                   2,
                                                   {},
                                                   Deadline::in(20s),
                                                   stop,
                                                   keep,
                                                   [](auto) {},
                                                   &state_}));

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->outcome, Outcome::done) << again->detail;
  EXPECT_EQ(machine_.pushed.size(), 1u);
}

TEST_F(WritesAgain, PushesAtMostOnceHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "died at write " << room << (after ? ", written" : ""));
      const auto says = machine_.says;
      machine_ = {};
      machine_.says = says;
      machine_.activated_by = "restart";
      machine_.runs["BIOS"] = "2.4";
      journal_ = {};
      journal_.room = room;
      journal_.dies_after_writing = after;
      EXPECT_FALSE(control());
      journal_.room = 1'000;
      ASSERT_TRUE(control());

      EXPECT_LE(machine_.pushed.size(), 1u);
      EXPECT_FALSE(machine_.power_changed_at_work);
      if (end_.phase == Phase::done) continue;
      EXPECT_THAT(end_.detail, HasSubstr("whether it was written again was not seen"));
      EXPECT_TRUE(machine_.pushed.empty());
    }
}

/// What a person reads of a step that failed, in each way that it has.
TEST_F(FirmwareStep, EachFailureNamesTheNextCommand) {
  using inventory::FirmwareReset;
  auto& bios = inventory_.profiles["a1"].firmware[0];
  const std::vector<std::pair<const char*, std::function<void()>>> ways{
      {"not drained", [&] { scheduler_->state.drained = false; }},
      {"not reported", [&] { machine_.runs.erase("BIOS"); }},
      {"newer runs", [&] { machine_.runs["BIOS"] = "9.9"; }},
      {"the old version runs", [&] { machine_.lies = true; }},
      {"the task failed", [&] { machine_.says = {{.state = State::failed}}; }},
      {"refused", [&] { machine_.push_fails = Error{Code::kFailed, "HTTP 400: x"}; }},
      {"no end", [&] { bios.takes = 1s, machine_.says = {{.state = State::running}}; }},
      {"by hand", [&] { bios.follow = {FirmwareReset::ac_cycle}, machine_.has_ac = false; }},
      {"must precede", [&] { bios.before = {FirmwareReset::ac_cycle}, machine_.has_ac = false; }}};
  const auto expected = bios;
  const auto machine = machine_;
  for (const auto& [name, fails] : ways) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(store_->repin("firmware-state:firmware:n1", ""));
    bios = expected;
    machine_ = machine;
    scheduler_->state.drained = true;
    journal_ = {};
    fails();

    ASSERT_TRUE(control());

    std::string journal;
    for (const auto& event : journal_.events) journal += json::serialize(event.data);
    EXPECT_NE(end_.outcome, Outcome::done) << end_.detail;
    EXPECT_THAT(journal, HasSubstr("\"hands\"")) << "cupel actions lists nothing: " << end_.detail;
    EXPECT_THAT(journal, AnyOf(HasSubstr("cupel "), HasSubstr("then retry")));
  }
}

/// Its version runs once an operator has pulled the cord.
class StagedFirmware : public FirmwareStep {
 protected:
  StagedFirmware() {
    inventory_.profiles["a1"].firmware[0].follow = {inventory::FirmwareReset::ac_cycle};
    machine_.activated_by = "the cord";
    machine_.has_ac = false;
  }
};

TEST_F(StagedFirmware, IsNotWrittenAgainByALaterRunWhichIsDoneOnceTheVersionRuns) {
  ASSERT_TRUE(control());
  EXPECT_EQ(end_.outcome, Outcome::needs_operator) << end_.detail;
  EXPECT_EQ(remembered().end, End::staged);
  journal_ = {};
  ASSERT_TRUE(control());
  EXPECT_EQ(end_.outcome, Outcome::needs_operator) << end_.detail;
  EXPECT_EQ(remembered().end, End::staged);
  machine_.reset("the cord");
  journal_ = {};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(remembered().end, End::done);
  EXPECT_EQ(machine_.pushed.size(), 1u);
}

TEST_F(StagedFirmware, IsWrittenOnceHoweverOftenTheControllerOfTheLaterRunDies) {
  ASSERT_TRUE(control());
  machine_.reset("the cord");
  journal_ = {};
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (std::size_t room = 0; room < writes; ++room) {
    SCOPED_TRACE(room);
    auto state = remembered();
    state.end = End::staged;
    ASSERT_TRUE(store::keep_firmware_state(*store_, "firmware", "n1", state));
    journal_ = {};
    journal_.room = room;
    EXPECT_FALSE(control());
    journal_.room = 1'000;

    ASSERT_TRUE(control());

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.pushed.size(), 1u);
  }
}

TEST_F(StagedFirmware, IsLeftAsideWhereTheProfileWantsAnotherVersion) {
  ASSERT_TRUE(control());
  inventory_.profiles["a1"].firmware[0].version = "2.5";
  journal_ = {};

  ASSERT_TRUE(control());

  ASSERT_EQ(machine_.pushed.size(), 2u) << end_.detail;
  EXPECT_EQ(machine_.pushed.back().name, "BIOS=2.5");
}

TEST_F(StagedFirmware, IsWrittenAgainOnceAnOperatorHasForgottenIt) {
  ASSERT_TRUE(control());
  auto state = remembered();
  state.end = End::forgotten;
  ASSERT_TRUE(store::keep_firmware_state(*store_, "firmware", "n1", state));
  journal_ = {};

  ASSERT_TRUE(control());

  EXPECT_EQ(machine_.pushed.size(), 2u) << end_.detail;
}

TEST_F(FirmwareStep, GoesOnWithAnUpdateInDoubtWhereAnOperatorAskedForIt) {
  inventory_.profiles["a1"].firmware[0].takes = 1s;
  machine_.says = {{.state = State::running}};
  ASSERT_TRUE(control());
  ASSERT_EQ(remembered().end, End::in_doubt) << end_.detail;
  ask_to_go_on();
  inventory_.profiles["a1"].firmware[0].takes = 1h;
  machine_.says = {{.state = State::done}};
  journal_ = {};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(remembered().end, End::done);
  EXPECT_EQ(machine_.pushed.size(), 1u);
}

/// A run that is left behind the push: cancelled, or without a controller.
class LeftOpen : public FirmwareStep {
 protected:
  LeftOpen() { inventory_.profiles["a1"].firmware[0].takes = 1h; }

  /// Whether the image was sent.
  bool left_at(std::size_t room, bool after_writing) {
    EXPECT_TRUE(store_->repin("firmware-state:firmware:n1", ""));
    const auto says = machine_.says;
    machine_ = {};
    machine_.says = says;
    machine_.activated_by = "restart";
    journal_ = {};
    journal_.room = room;
    journal_.dies_after_writing = after_writing;
    EXPECT_FALSE(control());
    journal_ = {};
    return !machine_.pushed.empty();
  }
};

TEST_F(LeftOpen, IsGoneOnWithByALaterRunWhichDoesNotSendTheImageAgain) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  int sent = 0;
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "left at write " << room << (after ? ", written" : ""));
      if (!left_at(room, after)) continue;
      ++sent;

      ASSERT_TRUE(control());

      EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
      EXPECT_EQ(machine_.pushed.size(), 1u);
      EXPECT_FALSE(machine_.power_changed_at_work);
      EXPECT_EQ(remembered().end, End::done);
    }
  EXPECT_GT(sent, 3);
}

TEST_F(LeftOpen, IsAwaitedWhileItMayBeAtWorkAlsoWhereTheProfileWantsAnotherVersion) {
  for (std::size_t room = 0; !left_at(room, false); ++room) ASSERT_LT(room, 100u);
  ASSERT_EQ(remembered().end, End::open);
  inventory_.profiles["a1"].firmware[0].version = "2.5";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "brought to the baseline: bios 2.4, bios 2.5");
  EXPECT_FALSE(machine_.pushed_at_work);
  EXPECT_EQ(machine_.pushed.size(), 2u);
}

TEST_F(FirmwareStep, AnUpdateThatFailedIsNotWaitedForByALaterRun) {
  machine_.lies = true;
  ASSERT_TRUE(control());
  EXPECT_EQ(remembered().end, End::failed);
  EXPECT_THAT(remembered().words, HasSubstr("the inventory shows BIOS 2.0"));
  machine_.lies = false;
  journal_ = {};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.pushed.size(), 2u);
}

TEST_F(FirmwareStep, NeedsAnOperatorWhereItsWindowIsClosed) {
  auto step = plan_.nodes[0].steps->front();
  step.with["window"] = test::closed_window();
  plan_.nodes[0].steps = std::make_shared<std::vector<playbooks::PlannedStep>>(1, step);

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.outcome, Outcome::needs_operator);
  EXPECT_THAT(end_.detail, HasSubstr(" 00:00 +6h (UTC) is closed; it opens again "));
  EXPECT_TRUE(machine_.pushed.empty());
  EXPECT_FALSE(store::power_is_held(*store_, "n1", now()));
}

TEST_F(FirmwareStep, TheWindowOfItsRunIsRemembered) {
  auto step = plan_.nodes[0].steps->front();
  step.with["window"] = "Mon 00:00 +7d";
  plan_.nodes[0].steps = std::make_shared<std::vector<playbooks::PlannedStep>>(1, step);

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(remembered().window, "Mon 00:00 +7d");
}

TEST_F(FirmwareStep, DoesNothingWhereTheProfileNamesNoImage) {
  inventory_.profiles["a1"].firmware[0].image.reset();

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done);
  EXPECT_TRUE(machine_.asked.empty());
}

TEST_F(FirmwareStep, APowerStepWaitsWhileFirmwareIsWritten) {
  ASSERT_TRUE(store::hold_power(*store_, "n1", {"bios 2.4", now() + 1h}));
  playbooks::PlannedStep off;
  off.kind = StepKind::power_off;
  off.name = "power-off";
  const auto stop = engine::Stop::no;
  NodeSteps steps{environment()};
  const auto ask = [&] {
    asio::io_context io;
    return run_to_end(
        io, steps.perform({1, node_, {}, off, 1, {}, Deadline::in(60s), stop, {}, [](auto) {}}));
  };

  const auto held = ask();
  ASSERT_TRUE(store::release_power(*store_, "n1"));
  const auto free = ask();

  ASSERT_TRUE(held && free);
  EXPECT_EQ(held->outcome, Outcome::wait);
  EXPECT_THAT(held->detail, HasSubstr("bios 2.4 is being written on n1"));
  EXPECT_EQ(free->outcome, Outcome::done) << free->detail;
}

TEST_F(FirmwareStep, WhatWouldDisturbAnUpdateWaitsForItOfWhateverNodeOfTheBmc) {
  node_.bmc.shared_as = "n0";
  NodeSteps steps{environment()};
  for (const auto kind :
       {StepKind::power_cycle, StepKind::os, StepKind::boot_ram, StepKind::node_firmware,
        StepKind::bmc_password, StepKind::machine_settings, StepKind::bios_reset})
    for (const auto* held : {"n0", "n1"}) {
      ASSERT_TRUE(store::hold_power(*store_, held, {"bmc 1.2", now() + 1h}));
      playbooks::PlannedStep step;
      step.kind = kind;
      step.name = "step";
      asio::io_context io;

      const auto ended = run_to_end(
          io,
          steps.perform(
              {1, node_, {}, step, 1, {}, Deadline::in(60s), engine::Stop::no, {}, [](auto) {}}));
      ASSERT_TRUE(store::release_power(*store_, held));

      ASSERT_TRUE(ended);
      EXPECT_EQ(ended->outcome, Outcome::wait) << static_cast<int>(kind) << held;
      EXPECT_THAT(ended->detail, HasSubstr("bmc 1.2 is being written"));
    }
}

TEST_F(FirmwareStep, AHoldEndsByItself) {
  ASSERT_TRUE(store::hold_power(*store_, "n1", {"bios 2.4", now() - 1s}));

  EXPECT_FALSE(store::power_is_held(*store_, "n1", now()));
}

}  // namespace
}  // namespace cupel::steps
