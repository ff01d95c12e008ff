// What a boot survives: controllers that die, BMCs that do not answer, machines that lose power.
#include "orchestrator/console/bounded_log.h"
#include "tests/orchestrator/os_step.h"

namespace cupel::steps {
namespace {

using ::testing::HasSubstr;

class OsRecovery : public OsStep {
 protected:
  /// One controller that dies at this write of its journal, and the one that follows.
  void die_at(std::size_t room, bool after_writing, bool says_hello_again) {
    machine_ = {};
    machine_.says_hello_again = says_hello_again;
    journal_ = {};
    journal_.room = room;
    journal_.dies_after_writing = after_writing;
    ASSERT_TRUE(store_->repin("ssh:n1", ""));
    EXPECT_FALSE(control());
    journal_.room = 1'000;
    ASSERT_TRUE(control());
  }

  /// Which write of the journal has the address that said hello, after a whole run.
  std::size_t write_of_hello() const {
    std::size_t at = 0;
    const auto& all = journal_.events;
    while (at < all.size() && !json::serialize(all[at].data).contains(machine_.address)) ++at;
    EXPECT_LT(at, all.size()) << "the journal has the address of the hello";
    return at;
  }
};

TEST_F(OsRecovery, WritesOnceHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "died at write " << room << (after ? ", written" : ""));
      die_at(room, after, true);

      EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
      EXPECT_LE(machine_.images_written, 1);
      EXPECT_EQ(machine_.boots, 1) << "it goes on with what it has begun";
      EXPECT_EQ(machine_.installed, digest_);
    }
}

TEST_F(OsRecovery, WhatHasNoSeedIsWrittenOnceTooAndItsKeyIsPinned) {
  inventory_.profiles.at("p").os.seed = false;
  host_keys_ = {"SHA256:new"};
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (std::size_t room = 0; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died after write " << room);
    die_at(room, true, true);

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.images_written, 1);
    EXPECT_EQ(machine_.boots, 1);
    EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:new");
  }
}

TEST_F(OsRecovery, TheNextControllerKnowsWhichMachineSaidHello) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  const auto hello = write_of_hello();
  for (auto room = hello; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died after write " << room);
    die_at(room, true, false);

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.boots, 1);
  }
}

TEST_F(OsRecovery, WhatTheConsoleShowedBeforeTheControllerCameEndsNothing) {
  ASSERT_TRUE(control());
  const auto room = write_of_hello();
  machine_ = {};
  journal_ = {};
  journal_.room = room;
  journal_.dies_after_writing = true;
  EXPECT_FALSE(control());
  console::BoundedLog log{console::console_folder(store_->folder(), 1), "n1"};
  ASSERT_TRUE(log.append("Kernel panic - not syncing: of a boot that is long over\r\n"));
  journal_.room = 1'000;
  machine_.looks_in_vain = 1;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.boots, 1);
}

TEST_F(OsRecovery, LeavesNoDiscHoweverTheControllerDies) {
  set_step(StepKind::os, "os", {{"ways", "media"}});
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (std::size_t room = 0; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died at write " << room);
    die_at(room, false, true);

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.disc, "");
  }
}

TEST_F(OsRecovery, ABmcThatDoesNotAnswerAfterTheHelloStopsNothing) {
  machine_.boot_reads_that_fail = 1;
  machine_.says_hello_again = false;
  tries_ = 3;
  set_step(StepKind::os, "os");

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.boots, 1);
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsRecovery, AMachineThatIsPowerCycledWhileItWritesIsBootedAgain) {
  machine_.power_cut_while_writing = 2;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("it was restarted, and began again"));
  EXPECT_EQ(machine_.boots, 3);
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsRecovery, DhcpSendsAMachineThatIsBootedAgainToItsTicket) {
  machine_.power_cut_while_writing = 1;
  set_step(StepKind::os, "os", {{"ways", "dhcp-http"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.boots, 2);
}

TEST_F(OsRecovery, AMachineThatBootsTheNetworkFirstBeginsAgainByItself) {
  machine_.power_cut_while_writing = 2;
  machine_.comes_back_by_itself = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("restarted while the image was written"));
  EXPECT_EQ(machine_.boots, 1);
}

TEST_F(OsRecovery, AMachineThatGoesSilentAgainAndAgainIsGivenUp) {
  machine_.power_cut_while_writing = 100;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("was not heard of any more while it wrote the image"));
  EXPECT_EQ(machine_.boots, 4);
  EXPECT_EQ(machine_.images_written, 0);
}

}  // namespace
}  // namespace cupel::steps
