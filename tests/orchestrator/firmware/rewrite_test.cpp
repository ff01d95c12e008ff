// Components that are written again although they run their version: what the machine shows says
// nothing of such a write.
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
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Rewriting : public Updating {
 protected:
  Rewriting() { machine.runs["BIOS"] = "2.4"; }

  Result<UpdateEnd> write_again(std::set<std::string> components) {
    auto mine = doors();
    mine.rewrite = {components, components};
    asio::io_context io;
    Updater updater{std::move(mine)};
    auto ended = run_to_end(io, updater.run(Deadline::in(60s)));
    rewritten = updater.rewritten();
    return ended;
  }

  std::set<std::string> rewritten{};
};

TEST_F(Rewriting, WritesAComponentThatRunsItsVersionOnceAndNoOther) {
  profile.firmware.push_back(component("bmc", "BMC", "1.1"));
  profile.firmware.back().image->file = "/srv/images/bmc.bin";

  const auto ended = write_again({"bios"});

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  ASSERT_THAT(machine.pushed, SizeIs(1));
  EXPECT_EQ(machine.pushed[0].name, "BIOS=2.4");
  EXPECT_EQ(machine.runs["BMC"], "1.0");
  EXPECT_THAT(rewritten, ElementsAre("bios"));
  ASSERT_FALSE(kept.empty());
  EXPECT_TRUE(kept.back().again);
  EXPECT_THAT(kept.back().only, ElementsAre("bios"));
}

TEST_F(Rewriting, AnImageOfSeveralComponentsIsWrittenOnceForAllOfThem) {
  profile.firmware.push_back(component("bmc", "BMC", "1.0"));

  const auto ended = write_again({"bios", "bmc"});

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.pushed, SizeIs(1));
  EXPECT_THAT(rewritten, ElementsAre("bios", "bmc"));
}

TEST_F(Rewriting, WritesNothingWhileWhatMustPrecedeItIsOffTheBaseline) {
  profile.firmware[0].after = {"bmc"};
  profile.firmware.push_back(component("bmc", "BMC", "1.1"));

  const auto ended = write_again({"bios"});

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_EQ(ended->detail, "bios: bmc must be at its version before it is written again");
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("cupel run firmware --nodes NODE")));
  EXPECT_THAT(machine.pushed, IsEmpty());
}

TEST_F(Rewriting, ATaskThatFailedIsAFailureAlthoughTheVersionRuns) {
  profile.firmware[0].recovery = {FirmwareRecovery::bmc_restart, FirmwareRecovery::previous_image};
  machine.says = {{.state = State::failed, .reported = "Exception"}};

  const auto ended = write_again({"bios"});

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4: the BMC: Exception"));
  EXPECT_THAT(machine.asked, Not(Contains("reset bmc")));
  EXPECT_THAT(machine.pushed, SizeIs(1));
  EXPECT_THAT(rewritten, IsEmpty());
}

TEST_F(Rewriting, APushOfWhichNothingWasSeenIsNotSentASecondTime) {
  machine.push_fails = Error{Code::kUnreachable, "Connection reset"};

  const auto ended = write_again({"bios"});

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail,
              HasSubstr("bios 2.4: whether it was written again was not seen: Connection reset"));
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("cupel firmware rewrite NODE --only bios")));
  EXPECT_THAT(machine.asked, Contains("push BIOS=2.4").Times(1));
  EXPECT_FALSE(held);
}

TEST_F(Rewriting, AResetThatCannotBeDoneIsAwaitedAlthoughTheVersionRuns) {
  profile.firmware[0].follow = {FirmwareReset::ac_cycle};
  machine.has_ac = false;

  const auto ended = write_again({"bios"});

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::needs_person);
  EXPECT_THAT(ended->detail, HasSubstr("bios 2.4 is written, and must have: AC cycle"));
  EXPECT_THAT(rewritten, IsEmpty());
}

TEST_F(Rewriting, WhatAnEarlierTryHasWrittenAgainIsNotWrittenOnceMore) {
  profile.firmware.push_back(component("bmc", "BMC", "1.0"));
  profile.firmware.back().image->file = "/srv/images/bmc.bin";
  auto from = handle(UpdateHandle::Phase::resetting);
  from.only = {"bios", "bmc"};
  from.rewritten = {"bmc"};
  from.again = true;
  auto mine = doors();
  mine.rewrite = {{"bios", "bmc"}, {"bios", "bmc"}};
  asio::io_context io;
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.resume(from, Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.pushed, IsEmpty());
  EXPECT_THAT(updater.rewritten(), ElementsAre("bios", "bmc"));
}

TEST_F(Rewriting, TheHandleKeepsWhatItIsPartOf) {
  auto from = handle(UpdateHandle::Phase::writing);
  from.only = {"bios", "bmc"};
  from.rewritten = {"bmc"};
  from.again = true;

  const auto read = update_handle_of(to_text(from));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_THAT(read->only, ElementsAre("bios", "bmc"));
  EXPECT_THAT(read->rewritten, ElementsAre("bmc"));
  EXPECT_TRUE(read->again);
}

}  // namespace
}  // namespace cupel::firmware
