// The previous image as the last way to recover: when it is written back, when it is not, and that
// the node fails all the same.
#include <gmock/gmock.h>

#include "tests/orchestrator/updater_fixture.h"

namespace cupel::firmware {
namespace {

using State = bmc::UpdateProgress::State;
using Phase = UpdateHandle::Phase;
using inventory::FirmwareRecovery;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class WritingBack : public Updating {
 protected:
  WritingBack() {
    profile.firmware[0].recovery = {FirmwareRecovery::previous_image};
    // The new version runs, and its part is sick.
    machine.before_versions = [this] {
      if (machine.runs["BIOS"] == "2.4") machine.health["BIOS"] = "Critical";
      if (machine.runs["BIOS"] == "2.0") machine.health["BIOS"] = "OK";
    };
  }
  std::vector<std::string> pushes() const {
    std::vector<std::string> names;
    for (const auto& order : machine.pushed) names.push_back(order.name);
    return names;
  }
  /// A try that ends before the previous image is sent.
  void expect_left_alone(const Result<UpdateEnd>& ended, const std::string& why) {
    ASSERT_TRUE(ended) << ended.error().what;
    EXPECT_EQ(ended->how, How::failed);
    EXPECT_THAT(ended->detail, HasSubstr(why));
    EXPECT_THAT(pushes(), ElementsAre("BIOS=2.4"));
    EXPECT_TRUE(machine.on);
  }
};

TEST_F(WritingBack, ASickPartGetsItsPreviousImageAndTheNodeFails) {
  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_EQ(ended->detail,
            "bios 2.4 runs, and BIOS is Critical; recovered to the old version: bios runs 2.0 "
            "again");
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("find out why bios 2.4 did not run")));
  EXPECT_THAT(machine.asked, ElementsAre("observe", "kept pushing", "push BIOS=2.4", "kept writing",
                                         "kept resetting", "observe", "kept pushing",
                                         "push BIOS=2.0", "kept writing", "kept resetting"));
  EXPECT_EQ(machine.runs["BIOS"], "2.0");
  EXPECT_FALSE(machine.pushed_at_work);
  EXPECT_FALSE(held);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].version, "2.0");
}

TEST_F(WritingBack, WithoutTheProfilesWordNothingIsWrittenBack) {
  profile.firmware[0].recovery = {};

  expect_left_alone(run(), "bios 2.4 runs, and BIOS is Critical");
}

TEST_F(WritingBack, TheOldVersionIsNotWrittenOverItself) {
  machine.before_versions = {};
  machine.lies = true;

  expect_left_alone(run(), "the previous image was not written back: no part of it runs 2.4");
}

TEST_F(WritingBack, OnlyWhatTheManifestAllowsIsSent) {
  auto mine = doors();
  mine.image = [image = mine.image](FirmwareUpdate update, bmc::Identity who,
                                    Deadline until) -> Task<Result<bmc::UpdateOrder>> {
    if (update.version == "2.0") {
      EXPECT_FALSE(update.image.is_named()) << "its image is the manifest's";
      co_return Error{Code::kUntrusted, "bios 2.0: the manifest allows no version before 2.2"};
    }
    auto order = co_await image(std::move(update), std::move(who), until);
    co_return order;
  };
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  expect_left_alone(ended, "; the previous image: bios 2.0: bios 2.0: the manifest allows no");
  EXPECT_THAT(updater.written_back(), ElementsAre());
  EXPECT_FALSE(held);
}

TEST_F(WritingBack, NothingIsWrittenBackWhereThePartsRanSeveralVersions) {
  machine.runs = {{"GPU_1", "8.0"}, {"GPU_2", "9.0"}};
  auto gpu = component("gpu", "GPU_*", "9.1");
  gpu.recovery = {FirmwareRecovery::previous_image};
  profile.firmware = {gpu};
  machine.before_versions = [this] {
    if (machine.runs["GPU_1"] == "9.1") machine.health["GPU_1"] = "Critical";
  };

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_THAT(ended->detail, HasSubstr("not all entries of the component ran one version before"));
  EXPECT_EQ(machine.pushed.size(), 1u);
}

/// Its task stands at 50 % and nothing else says that it has ended.
TEST_F(WritingBack, NothingIsWrittenBackOverAWriteThatDidNotEndByItself) {
  machine.says = {{.state = State::running, .percent = 50, .reported = "Running"}};
  machine.before_versions = [this] {
    if (machine.pushed.empty()) return;
    machine.runs["BIOS"] = "2.4";
    machine.health["BIOS"] = "Critical";
    machine.busy.clear();
  };

  expect_left_alone(run(), "the update did not end by itself");
}

TEST_F(WritingBack, NothingIsWrittenBackWhileTheBmcIsAtWork) {
  machine.before_versions = [this] {
    if (machine.runs["BIOS"] != "2.4") return;
    machine.health["BIOS"] = "Critical";
    machine.busy = {"/redfish/v1/TaskService/Tasks/9"};
  };

  expect_left_alone(run(), "the BMC is at work with /redfish/v1/TaskService/Tasks/9");
}

TEST_F(WritingBack, TheSafetyChecksAreMadeAnew) {
  machine.before_versions = [this] {
    if (machine.runs["BIOS"] != "2.4") return;
    machine.health["BIOS"] = "Critical";
    machine.clock_ahead = 301s;
  };

  expect_left_alone(run(), "; the previous image: bios 2.0: the BMC's clock is 301 s off");
  EXPECT_FALSE(held);
}

TEST_F(WritingBack, AnEarlierTryOfTheRunHasUsedItsOneChance) {
  auto mine = doors();
  mine.written_back = {"bios"};
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(60s)));

  expect_left_alone(ended, "it was sent in this run before");
}

TEST_F(WritingBack, APreviousImageThatDoesNotHelpEndsIt) {
  profile.firmware[0].recovery = {FirmwareRecovery::previous_image, FirmwareRecovery::bmc_restart};
  machine.before_versions = [this] {
    if (!machine.pushed.empty()) machine.health["BIOS"] = "Critical";
  };

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, AllOf(HasSubstr("bios 2.4 runs, and BIOS is Critical; the previous "
                                             "image: bios 2.0 runs, and BIOS is Critical"),
                                   Not(HasSubstr("recovered"))));
  EXPECT_THAT(pushes(), ElementsAre("BIOS=2.4", "BIOS=2.0"));
  EXPECT_THAT(machine.asked, Not(Contains("reset bmc")));
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("leave the machine powered")));
}

TEST_F(WritingBack, ComesAfterWhatTheProfileNamesBeforeIt) {
  profile.firmware[0].recovery = {FirmwareRecovery::bmc_restart, FirmwareRecovery::previous_image};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_THAT(ended->detail, AllOf(HasSubstr("after a BMC restart"), HasSubstr("recovered to")));
  EXPECT_THAT(machine.asked, Contains("reset bmc"));
  EXPECT_THAT(pushes(), ElementsAre("BIOS=2.4", "BIOS=2.0"));
}

TEST_F(WritingBack, DoesTheResetsOfTheProfileAroundIt) {
  profile.firmware[0].before = {inventory::FirmwareReset::host_off};
  profile.firmware[0].follow = {inventory::FirmwareReset::host_restart};
  machine.activated_by = "On";  // the restart of a machine that is off

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_THAT(ended->detail, HasSubstr("recovered to the old version"));
  EXPECT_THAT(machine.on_when_pushed, ElementsAre(false, false));
  EXPECT_FALSE(machine.power_changed_at_work);
  EXPECT_TRUE(machine.on);
}

/// A BMC that refuses older images.
TEST_F(WritingBack, ARefusedPreviousImageIsAFailureWithBothCauses) {
  machine.before_versions = [this] {
    if (machine.runs["BIOS"] != "2.4") return;
    machine.health["BIOS"] = "Critical";
    machine.push_fails = Error{Code::kFailed, "HTTP 400: downgrade"};
  };

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_EQ(ended->detail,
            "bios 2.4 runs, and BIOS is Critical; the previous image: HTTP 400: downgrade");
  EXPECT_FALSE(held);
}

TEST_F(WritingBack, ALostPreviousImageIsNotSentASecondTime) {
  machine.before_versions = [this] {
    if (machine.runs["BIOS"] != "2.4") return;
    machine.health["BIOS"] = "Critical";
    machine.push_fails = Error{Code::kUnreachable, "the connection broke"};
  };

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("it was sent, and the BMC has none of it"));
  EXPECT_EQ(std::ranges::count(machine.asked, "push BIOS=2.0"), 1);
  EXPECT_FALSE(held);
}

/// A controller died at each write of the journal; the next one goes on from what is there.
TEST_F(WritingBack, GoesOnFromEachWriteOfTheJournalAndSendsEachImageOnce) {
  ASSERT_TRUE(run());
  const auto writes = kept.size();
  ASSERT_EQ(writes, 6u);
  const auto fresh = test::FirmwareMachine{};
  for (std::size_t dies = 0; dies < writes; ++dies) {
    SCOPED_TRACE(::testing::Message() << "died at write " << dies);
    const auto sickens = machine.before_versions;
    machine = fresh;
    machine.before_versions = sickens;
    kept.clear();
    auto mortal = doors();
    mortal.keep = [this, dies, keep = mortal.keep](UpdateHandle handle) -> Task<Result<void>> {
      const bool now = kept.size() == dies;
      CO_TRY(co_await keep(std::move(handle)));
      if (now) co_return Error{Code::kStorage, "the controller dies"};
      co_return ok();
    };
    asio::io_context io;
    Updater first{std::move(mortal)};
    ASSERT_FALSE(run_to_end(io, first.run(Deadline::in(60s))));

    const auto text = to_text(kept.back());
    const auto ended = resume(*update_handle_of(text));

    ASSERT_TRUE(ended) << ended.error().what;
    EXPECT_EQ(ended->how, How::failed);
    EXPECT_LE(std::ranges::count(pushes(), "BIOS=2.4"), 1);
    EXPECT_LE(std::ranges::count(pushes(), "BIOS=2.0"), 1);
    EXPECT_FALSE(machine.pushed_at_work);
    EXPECT_FALSE(machine.power_changed_at_work);
    EXPECT_THAT(ended->detail, HasSubstr("bios 2.4 runs, and BIOS is Critical"));
    EXPECT_FALSE(held);
  }
}

TEST_F(WritingBack, ItsHandleIsReadAsItWasWritten) {
  auto handle = this->handle(Phase::writing);
  handle.version = "2.0";
  handle.previous = "1.9";
  handle.instead_of = "2.4";
  handle.why = "bios 2.4 runs, and BIOS is Critical";
  handle.refused_way = "store";

  const auto read = update_handle_of(to_text(handle));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(read->writes_back());
  EXPECT_EQ(read->refused_way, "store");
  EXPECT_EQ(to_text(*read), to_text(handle));
}

}  // namespace
}  // namespace cupel::firmware
