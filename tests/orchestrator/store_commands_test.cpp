// What the store keeps beside the events: commands, snapshots, submitted runs, who the controller
// is.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "orchestrator/store/controller_lock.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::Command;
using engine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;

Command command(RunId run, Command::Kind kind) {
  return {.run = run,
          .kind = kind,
          .node = "a01-n07",
          .step = "burn",
          .text = "the \"riser\" was swapped",
          .by = "mara"};
}

TEST_F(StoreTest, HandsOutWhatWasAskedInItsOrderAndOnlyWhatIsNew) {
  const auto store = open();
  const auto id = store->begin_run(run_on({"a01-n07"})).value();
  const auto other = store->begin_run(run_on({"a01-n08"})).value();

  const auto first = store->ask(command(id, Command::Kind::pause)).value();
  ASSERT_TRUE(store->ask(command(other, Command::Kind::cancel)));
  const auto second = store->ask(command(id, Command::Kind::skip)).value();

  const auto all = store->commands(id, 0).value();
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].id, first);
  EXPECT_EQ(all[0].kind, Command::Kind::pause);
  EXPECT_EQ(all[1].id, second);
  EXPECT_EQ(all[1].kind, Command::Kind::skip);
  EXPECT_EQ(all[1].node, "a01-n07");
  EXPECT_EQ(all[1].step, "burn");
  EXPECT_EQ(all[1].text, "the \"riser\" was swapped");
  EXPECT_EQ(all[1].by, "mara");
  EXPECT_GT(all[1].at, WallTime{});
  EXPECT_EQ(store->commands(id, first).value().size(), 1);
  EXPECT_EQ(store->commands(id, second).value().size(), 0);
}

TEST_F(StoreTest, AsksNothingOfARunThatThereIsNotAndNothingEndless) {
  const auto store = open();
  const auto id = store->begin_run(run_on({"n1"})).value();
  auto endless = command(id, Command::Kind::skip);
  endless.text = std::string(1 << 20, 'x');

  EXPECT_EQ(store->ask(command(id + 1, Command::Kind::pause)).error().code, Code::kNotFound);
  EXPECT_EQ(store->ask(endless).error().code, Code::kInvalid);
  EXPECT_EQ(store->commands(id, 0).value().size(), 0);
}

class SnapshotTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store_ = open();
    run_ = store_->begin_run(run_on({"n1"})).value();
    std::vector<Event> events(6, event(EventKind::step_began, "n1", "power-on"));
    ASSERT_TRUE(store_->append(run_, events));
  }

  std::unique_ptr<Store> store_;
  RunId run_ = 0;
};

TEST_F(SnapshotTest, BoundsWhatAResumeReplays) {
  const std::string state{"what \0 is\n", 10};
  ASSERT_EQ(store_->snapshot(run_).value(), std::nullopt);

  ASSERT_TRUE(store_->keep_snapshot(run_, 2, "older"));
  ASSERT_TRUE(store_->keep_snapshot(run_, 4, state));
  const auto later = open();

  const auto found = later->snapshot(run_).value().value();
  EXPECT_EQ(found.sequence, 4);
  EXPECT_EQ(found.state, state);
  const auto behind = later->events_after(run_, found.sequence).value();
  ASSERT_EQ(behind.size(), 2);
  EXPECT_EQ(behind[0].sequence, 5);
  EXPECT_EQ(later->events_after(run_, 6).value().size(), 0);
  EXPECT_EQ(later->events_after(run_, 0).value().size(), 6);
}

TEST_F(SnapshotTest, KeepsTheNewestTwo) {
  for (const int sequence : {1, 2, 3, 5}) {
    ASSERT_TRUE(store_->keep_snapshot(run_, sequence, "state " + std::to_string(sequence)));
  }

  sql("UPDATE snapshot SET state = 'x' WHERE sequence = 5");
  EXPECT_EQ(store_->snapshot(run_).value()->state, "state 3");
  sql("UPDATE snapshot SET state = 'x' WHERE sequence = 3");
  EXPECT_EQ(store_->snapshot(run_).value(), std::nullopt);
}

TEST_F(SnapshotTest, IsPassedOverWhereTheEventThatItStandsOnIsNotTheSame) {
  ASSERT_TRUE(store_->keep_snapshot(run_, 2, "older"));
  ASSERT_TRUE(store_->keep_snapshot(run_, 4, "newer"));

  sql("UPDATE event SET hash = 'abc' WHERE sequence = 4");

  EXPECT_EQ(store_->snapshot(run_).value()->state, "older");
}

TEST_F(SnapshotTest, StandsOnAnEventThatThereIs) {
  EXPECT_EQ(store_->keep_snapshot(run_, 7, "of the future").error().code, Code::kStorage);
  EXPECT_EQ(store_->snapshot(run_).value(), std::nullopt);
}

TEST_F(StoreTest, ASubmittedRunHoldsItsNodesAndRunsWithItsFirstEvent) {
  const auto store = open();
  auto submitted = run_on({"n1"});
  submitted.phase = RunPhase::submitted;

  const auto id = store->begin_run(submitted).value();

  EXPECT_EQ(store->run(id).value().phase, RunPhase::submitted);
  EXPECT_EQ(store->begin_run(run_on({"n1"})).error().code, Code::kConflict);
  auto started = event(EventKind::run_started);
  ASSERT_TRUE(store->append(id, started));
  EXPECT_EQ(store->run(id).value().phase, RunPhase::running);
}

TEST_F(StoreTest, ASecondControllerIsRefusedAndToldWhoTheFirstIs) {
  auto first = ControllerLock::take(folder_);
  ASSERT_TRUE(first);

  const auto second = ControllerLock::take(folder_);

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(
      second.error().what,
      AllOf(HasSubstr("process " + std::to_string(::getpid()) + " on "),
            HasSubstr(" UTC, the controller of " + folder_.string()), HasSubstr("cupel status")));
  EXPECT_EQ(ControllerLock::holder(folder_)->pid, ::getpid());
  EXPECT_FALSE(ControllerLock::holder(folder_)->host.empty());
  EXPECT_GT(ControllerLock::holder(folder_)->since, WallTime{});
  {
    const auto gone = *std::move(first);
  }
  EXPECT_FALSE(ControllerLock::holder(folder_));
  EXPECT_TRUE(ControllerLock::take(folder_));
}

TEST_F(StoreTest, ADeadControllersLockFileHoldsNobodyUp) {
  int reported[2];
  ASSERT_EQ(::pipe2(reported, O_CLOEXEC), 0);
  const auto child = ::fork();
  if (child == 0) {
    const auto lock = ControllerLock::take(folder_);
    const char answer = lock ? 'y' : 'n';
    [[maybe_unused]] const auto written = ::write(reported[1], &answer, 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(reported[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  ASSERT_EQ(ControllerLock::take(folder_).error().code, Code::kConflict);

  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  EXPECT_TRUE(std::filesystem::exists(folder_ / "controller.lock"));
  EXPECT_FALSE(ControllerLock::holder(folder_));
  EXPECT_TRUE(ControllerLock::take(folder_));
  ::close(reported[0]);
  ::close(reported[1]);
}

TEST_F(StoreTest, ALockFileFullOfNonsenseNamesNobodyAndHoldsNobodyUp) {
  std::ofstream{folder_ / "controller.lock"} << "\x1b[2J no number\n\n";

  EXPECT_FALSE(ControllerLock::holder(folder_));
  EXPECT_TRUE(ControllerLock::take(folder_));
}

}  // namespace
}  // namespace cupel::store
