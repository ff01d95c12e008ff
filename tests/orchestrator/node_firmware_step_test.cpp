// The step that has a node's own tools write firmware: the controller dies at every write of the
// journal, and the tool runs once.
#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "base/digest.h"
#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/firmware/image_check.h"
#include "orchestrator/steps/step_type.h"
#include "orchestrator/store/power_hold.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/closed_window.h"
#include "tests/orchestrator/one_controller.h"
#include "tests/support/captures.h"
#include "tests/support/firmware_machine.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Phase = engine::StepState::Phase;

struct Silent : engine::Observer {
  void on_event(const engine::Event&, const engine::RunState&) override {}
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

/// What a node is to the step: one drive, one job, and what comes over SSH.
struct DriveNode {
  std::string runs = "G1";
  std::string boot_id = "b1";
  bool started = false, keeps_version = false;
  int status = 0;
  int writes = 0;
  std::string written{};     // the script that wrote
  bool restarts = false;     // in the middle of the write, and forgets the job
  bool hangs = false;        // the tool, until it is ended
  std::string started_by{};  // the command line

  void start(const std::string& script) {
    if (std::exchange(started, true)) return;
    written = script;
    status = script.starts_with("exit 75") ? 75 : hangs ? 124 : 0;
    if (status != 0) return;
    ++writes;
    if (std::exchange(restarts, false)) {
      boot_id = "b2";
      started = false;
    } else if (!keeps_version) {
      runs = "G2";
    }
  }
};

class DriveSession final : public ssh::Session {
 public:
  explicit DriveSession(DriveNode& node) : node_{node} {}

  Task<Result<ssh::CommandOutcome>> run(std::string command, std::string input, ssh::Sink sink,
                                        Deadline) override {
    const auto line = input.find('\n');
    const auto script = input.substr(0, line);
    const auto say = [&](const std::string& text) { sink(ssh::Stream::out, text); };
    if (command.starts_with("'stat'")) {
      say("0 drwxr-xr-x /\n");
    } else if (command.starts_with("'cupel-node' 'start'")) {
      node_.started_by = command;
      node_.start(input.substr(line + 1));  // behind the line that closes its input
    } else if (command.starts_with("'cupel-node' 'tail'")) {
      say(R"({"kind":"job","state":")" + std::string{node_.started ? "ended" : "lost"} +
          R"(","exit":)" + std::to_string(node_.started ? node_.status : 0) +
          R"(,"out_size":0,"err_size":0,"out_bytes":0,"err_bytes":0})" + "\n");
    } else if (command.starts_with("'cupel-node' 'forget'")) {
      node_.started = false;
    } else if (script.contains("cupel-boot")) {
      say("cupel-boot: " + node_.boot_id + "\n/sys/class/nvme/nvme0/firmware_rev:" + node_.runs +
          "\ncupel-end\n");
    }
    co_return ssh::CommandOutcome{};
  }

 private:
  DriveNode& node_;
};

class NodeFirmwareStep : public ::testing::Test {
 protected:
  NodeFirmwareStep() {
    const std::string image = "an image";
    {
      std::ofstream{folder_.path() / "drive.bin"} << image;
    }
    inventory::ExpectedFirmware drive{.component = "drive", .version = "G2", .ids = {"nvme*"}};
    drive.image = inventory::FirmwareImage{.file = (folder_.path() / "drive.bin").string(),
                                           .sha256 = sha256_hex(image)};
    drive.way = inventory::UpdateWay::nvme;
    drive.takes = 5s;
    drive.settles = 0s;
    inventory_.profiles["a1"] = {.name = "a1", .firmware = {drive}};
    node_.name = "n1";
    node_.profile = "a1";
    auto& step = steps_->front();
    step.kind = playbooks::StepKind::node_firmware;
    step.name = "node-firmware";
    step.deadline = 60s;
    step.once = true;
    plan_.nodes.push_back({&node_, steps_});
  }

  Result<void> control() {
    StepEnvironment world{
        inventory_, *store_,
        [this](const inventory::Node&) { return std::make_unique<test::FirmwareBmc>(machine_); },
        [this](const inventory::Node&, Deadline) -> Task<Result<std::unique_ptr<ssh::Session>>> {
          co_return std::make_unique<DriveSession>(drive_);
        },
        nullptr};
    world.ask_update_every = 0ms;
    world.firmware_image = [](firmware::FirmwareUpdate update, bmc::Identity,
                              Deadline) -> Task<Result<bmc::UpdateOrder>> {
      co_return bmc::UpdateOrder{.file = update.image.file, .sha256 = update.image.sha256};
    };
    const auto checker = std::make_shared<firmware::ImageChecker>(std::nullopt);
    world.image_bytes = [this, checker](std::string file, std::string sha256, Deadline deadline) {
      if (while_fetched) while_fetched();
      return checker->whole(std::move(file), std::move(sha256), deadline);
    };
    NodeSteps steps{std::move(world)};
    Silent observer;
    auto controlled = test::control_run(plan_, journal_, steps, observer);
    end_ = controlled.state.nodes.at("n1").steps[0];
    return controlled.ended;
  }

  bool power_is_held() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return store::power_is_held(*store_, "n1", now).has_value();
  }

  std::function<void()> while_fetched{};
  std::shared_ptr<std::vector<playbooks::PlannedStep>> steps_ =
      std::make_shared<std::vector<playbooks::PlannedStep>>(1);
  inventory::Node node_{};
  inventory::Inventory inventory_{};
  playbooks::Plan plan_{};
  test::TemporaryFolder folder_{};
  std::unique_ptr<store::Store> store_ = store::Store::open(folder_.path()).value();
  test::FirmwareMachine machine_{};
  DriveNode drive_{};
  test::MortalJournal journal_{};
  engine::StepState end_{};
};

TEST_F(NodeFirmwareStep, SaysWhatItWrote) {
  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "brought to the baseline: drive G2");
  EXPECT_THAT(drive_.written, HasSubstr("nvme fw-download '/dev/nvme0'"));
  EXPECT_FALSE(power_is_held());
}

TEST_F(NodeFirmwareStep, WritesOnceHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "died at write " << room << (after ? ", written" : ""));
      drive_ = {};
      journal_ = {};
      journal_.room = room;
      journal_.dies_after_writing = after;
      EXPECT_FALSE(control());
      journal_.room = 1'000;
      ASSERT_TRUE(control());

      EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
      EXPECT_EQ(drive_.runs, "G2");
      EXPECT_EQ(drive_.writes, 1);
    }
}

TEST_F(NodeFirmwareStep, AJobWhoseEndWasNotSeenIsFollowedByALaterRunAndNotBegunAgain) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "left at write " << room << (after ? ", written" : ""));
      drive_ = {};
      journal_ = {};
      journal_.room = room;
      journal_.dies_after_writing = after;
      EXPECT_FALSE(control());
      journal_ = {};

      ASSERT_TRUE(control());

      EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
      EXPECT_EQ(drive_.runs, "G2");
      EXPECT_EQ(drive_.writes, 1);
    }
}

TEST_F(NodeFirmwareStep, FailsWhereTheNodeStillShowsTheOldVersion) {
  drive_.keeps_version = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("drive G2: the node shows nvme0 G1"));
  EXPECT_EQ(drive_.writes, 1);
  EXPECT_FALSE(power_is_held());
}

TEST_F(NodeFirmwareStep, TheVersionDecidesWhereTheNodeRestartedInTheMiddleOfAWrite) {
  drive_.restarts = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("the node shows nvme0 G1"));
  EXPECT_EQ(drive_.writes, 1);
}

TEST_F(NodeFirmwareStep, AToolThatDoesNotEndIsAPersonsAndThePowerIsLeftAlone) {
  drive_.hangs = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_EQ(end_.outcome, engine::Outcome::needs_operator) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("drive G2: not written after 6 h"));
  EXPECT_THAT(drive_.started_by, HasSubstr("'--limit' '21600'")) << "not ended before";
  EXPECT_TRUE(power_is_held());
}

TEST_F(NodeFirmwareStep, WhatWaitsForThePowerCycleIsStagedAndNotWrittenAgain) {
  inventory_.profiles["a1"].firmware[0].follow = {inventory::FirmwareReset::ac_cycle};
  machine_.has_ac = false;
  drive_.keeps_version = true;
  ASSERT_TRUE(control());
  EXPECT_EQ(end_.outcome, engine::Outcome::needs_operator) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("drive G2 is written, and must have: AC cycle, which cannot "
                                     "be done from here: "));
  EXPECT_FALSE(power_is_held());
  journal_ = {};
  ASSERT_TRUE(control());
  EXPECT_EQ(end_.outcome, engine::Outcome::needs_operator) << end_.detail;
  drive_.runs = "G2";
  journal_ = {};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(drive_.writes, 1);
}

TEST_F(NodeFirmwareStep, NeedsAnOperatorWhereItsWindowIsClosed) {
  steps_->front().with["window"] = test::closed_window();

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.outcome, engine::Outcome::needs_operator);
  EXPECT_THAT(end_.detail, HasSubstr(" (UTC) is closed; it opens again "));
  EXPECT_THAT(end_.detail, ::testing::EndsWith("; left: drive G2"));
  EXPECT_EQ(drive_.writes, 0);
}

TEST_F(NodeFirmwareStep, WritesNothingWhereItsWindowIsOverOnceTheImageIsThere) {
  while_fetched = [this] { steps_->front().with["window"] = test::closed_window(); };

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.outcome, engine::Outcome::needs_operator);
  EXPECT_THAT(end_.detail, HasSubstr(" (UTC) is closed; it opens again "));
  EXPECT_EQ(drive_.writes, 0);
  EXPECT_FALSE(power_is_held());
}

TEST_F(NodeFirmwareStep, WritesNothingWhereTheImageIsNotWhatTheManifestLists) {
  std::ofstream{folder_.path() / "drive.bin"} << "another image";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("was changed after it was checked"));
  EXPECT_EQ(drive_.writes, 0);
}

}  // namespace
}  // namespace cupel::steps
