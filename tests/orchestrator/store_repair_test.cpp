// A run whose journal cannot be read must not hold its nodes for ever.
#include <fmt/format.h>

#include "base/digest.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/repair.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

class RepairTest : public StoreTest {
 protected:
  /// Run 1 on n1 and n2, whose second event holds bytes that are no UTF-8; on PostgreSQL, which
  /// keeps no such bytes, a text that is no JSON. Its chain is whole: so wrote a Cupel that did not
  /// look at what a server called itself.
  void write_unreadable() {
    std::string first;
    {
      const auto store = open();
      ASSERT_TRUE(store->begin_run(run_on({"n1", "n2"})));
      auto began = event(EventKind::run_started);
      ASSERT_TRUE(store->append(1, began));
      first = began.hash;
    }
    const std::string data =
        on_postgresql() ? "{\"detail\":evil-kex}" : "{\"detail\":\"evil-kex-\xff\xfe\"}";
    const auto hash = sha256_hex(first + "\n1\n2\n5\nstep-ended\nn1\nssh-wait\n" + data);
    const auto text = on_postgresql() ? "'" + data + "'" : "CAST(x'" + hex_of(data) + "' AS TEXT)";
    sql("INSERT INTO event VALUES (1, 2, 5, 'step-ended', 'n1', 'ssh-wait', " + text + ", '" +
        hash + "')");
  }

  Result<Repair> repair(RunId run, bool dry_run = false) {
    return repair_run(folder_,
                      {.run = run, .by = "ada", .reason = "bad bytes", .dry_run = dry_run});
  }

  std::vector<Fault> faults() { return check_store(folder_).value().faults; }
};

TEST_F(RepairTest, TheCheckFindsAnEventThatCannotBeReadThoughItsChainIsWhole) {
  write_unreadable();

  const auto found = faults();

  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].where, "run 1, event 2");
  EXPECT_THAT(found[0].what, HasSubstr("cannot be read: not JSON"));
  EXPECT_THAT(found[0].advice, HasSubstr("cupel store repair 1"));
  EXPECT_EQ(open()->broken_at(1).value(), std::optional<std::int64_t>{2});
}

TEST_F(RepairTest, WhoeverMeetsTheDamageIsToldTheCommandThatHelps) {
  write_unreadable();
  const auto store = open();

  const auto resumed = store->events_after(1, 0);
  const auto again = store->begin_run(run_on({"n2"}));

  EXPECT_THAT(resumed.error().what, AllOf(HasSubstr("the journal of run 1 is damaged at event 2"),
                                          HasSubstr("cupel store repair 1")));
  EXPECT_EQ(again.error().what,
            "run 1, whose journal is damaged at event 2, holds n2: free them with: cupel store "
            "repair 1");
}

TEST_F(RepairTest, EndsTheRunFreesItsNodesAndLeavesItsJournalAsItIs) {
  write_unreadable();

  const auto done = repair(1).value();

  EXPECT_EQ(done.damaged_at, 2);
  EXPECT_EQ(done.phase, "running");
  EXPECT_THAT(done.freed, ElementsAre("n1", "n2"));
  const auto store = open();
  EXPECT_EQ(store->run(1).value().phase, RunPhase::cancelled);
  EXPECT_EQ(store->broken_at(1).value(), std::optional<std::int64_t>{2});
  EXPECT_EQ(store->begin_run(run_on({"n1", "n2"})).value(), 2);
  EXPECT_EQ(repairs(folder_).value().at(1), done);
}

TEST_F(RepairTest, DamageThatWasRepairedIsKnownAndNothingIsLeftToDo) {
  write_unreadable();
  ASSERT_TRUE(repair(1));

  const auto checked = check_store(folder_).value();

  EXPECT_THAT(checked.faults, IsEmpty());
  ASSERT_EQ(checked.repaired.size(), 1);
  EXPECT_EQ(checked.repaired[0].where, "run 1, event 2");
  EXPECT_THAT(checked.repaired[0].advice, HasSubstr("by ada (bad bytes): was running; n[1-2]"));
  EXPECT_EQ(repair(1).error().code, Code::kInvalid);
  EXPECT_THAT(open()->events_after(1, 0).error().what, Not(HasSubstr("repair")));
}

TEST_F(RepairTest, DamageThatCameAfterTheRepairIsAFaultAgain) {
  write_unreadable();
  ASSERT_TRUE(repair(1));

  sql("UPDATE event SET step = 'another' WHERE sequence = 1");

  EXPECT_THAT(faults(), ElementsAre(Field(&Fault::where, "run 1, event 1")));
}

TEST_F(RepairTest, ADryRunChangesNothing) {
  write_unreadable();

  const auto would = repair(1, true).value();

  EXPECT_THAT(would.freed, ElementsAre("n1", "n2"));
  EXPECT_EQ(open()->run(1).value().phase, RunPhase::running);
  EXPECT_EQ(open()->begin_run(run_on({"n1"})).error().code, Code::kConflict);
  EXPECT_THAT(repairs(folder_).value(), IsEmpty());
}

TEST_F(RepairTest, ARunWithABrokenChainIsRepairedToo) {
  const auto run = open()->begin_run(run_on({"n1"})).value();
  for (const auto kind : {EventKind::run_started, EventKind::step_began, EventKind::step_ended}) {
    auto each = event(kind, "n1", "disk");
    ASSERT_TRUE(open()->append(run, each));
  }
  sql("DELETE FROM event WHERE sequence = 2");

  EXPECT_EQ(repair(run).value().damaged_at, 2);

  EXPECT_TRUE(open()->begin_run(run_on({"n1"})));
}

TEST_F(RepairTest, ARunThatSomebodyCanGoOnWithIsLeftAlone) {
  ASSERT_TRUE(open()->begin_run(run_on({"n1"})));

  const auto refused = repair(1);

  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_THAT(refused.error().what, HasSubstr("cupel cancel 1"));
  EXPECT_EQ(open()->begin_run(run_on({"n1"})).error().code, Code::kConflict);
}

TEST_F(RepairTest, IsRefusedWhileAControllerLives) {
  write_unreadable();
  const auto controller = ControllerLock::take(folder_).value();

  EXPECT_EQ(repair(1).error().code, Code::kConflict);

  EXPECT_EQ(open()->run(1).value().phase, RunPhase::running);
}

TEST_F(RepairTest, NodesOfARunThatIsOverOrGoneAreFreed) {
  auto end = event(EventKind::run_ended);
  ASSERT_EQ(open()->begin_run(run_on({"n1"})).value(), 1);
  ASSERT_TRUE(open()->append(1, end));
  sql("INSERT INTO node_lock VALUES ('n1', 1), ('n2', 7)");
  EXPECT_THAT(open()->begin_run(run_on({"n1"})).error().what,
              HasSubstr("run 1, which is over, holds n1: free them with: cupel store repair 1"));

  EXPECT_THAT(repair(1).value().freed, ElementsAre("n1"));
  EXPECT_THAT(repair(7).value().freed, ElementsAre("n2"));

  EXPECT_EQ(open()->run(1).value().phase, RunPhase::ended);
  EXPECT_TRUE(open()->begin_run(run_on({"n1", "n2"})));
  EXPECT_EQ(repair(7).error().code, Code::kNotFound);
}

class ReadableTest : public StoreTest {};

TEST_F(ReadableTest, WhatCouldNotBeReadBackIsNotWrittenAndTheRestOfTheRunIs) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  auto good = event(EventKind::run_started);
  ASSERT_TRUE(store->append(run, good));

  std::vector<std::vector<Event>> refused(
      4, {event(EventKind::step_began, "n1", "disk"), event(EventKind::step_ended, "n1", "disk")});
  refused[0][1].data["detail"] = "\xff\xfe";
  refused[1][1].data["a\xff"] = 1;
  refused[2][1].node = "n\x80";
  refused[3][1].step = std::string{"di\0sk", 5};
  for (auto& events : refused) {
    const auto written = store->append(run, events);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::kStorage);
    EXPECT_THAT(written.error().what, HasSubstr("was not written"));
  }

  auto next = event(EventKind::step_began, "n1", "disk");
  EXPECT_TRUE(store->append(run, next));
  EXPECT_EQ(store->events_after(run, 0).value().size(), 2);
  EXPECT_EQ(store->broken_at(run).value(), std::nullopt);
}

TEST_F(ReadableTest, AReasonTypedInAnotherEncodingIsKeptAsUtf8) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();

  ASSERT_TRUE(store->ask(
      {.run = run, .kind = engine::Command::Kind::pause, .text = "caf\xe9", .by = "andr\xe9"}));

  const auto asked = store->commands(run, 0).value();
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked[0].text, "caf\uFFFD");
  EXPECT_EQ(asked[0].by, "andr\uFFFD");
}

}  // namespace
}  // namespace cupel::store
