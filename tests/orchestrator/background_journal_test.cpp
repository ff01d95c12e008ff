#include "orchestrator/store/background_journal.h"

#include <thread>

#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {

class BackgroundJournalTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store_ = open();
    run_ = store_->begin_run(run_on({"n1"})).value();
  }
  Result<void> append(engine::Journal& journal, std::vector<Event>& events) {
    return run_to_end(io_, journal.append(events));
  }

  asio::io_context io_{};
  std::unique_ptr<Store> store_{};
  RunId run_ = 0;
};

TEST_F(BackgroundJournalTest, HasWrittenTheEventsWhenItReturns) {
  JournalThread thread{folder_};
  BackgroundJournal journal{thread, run_};
  std::vector events{event(engine::EventKind::run_started),
                     event(engine::EventKind::step_began, "n1", "cpu")};

  const auto written = append(journal, events);

  ASSERT_TRUE(written) << written.error().what;
  EXPECT_EQ(events[1].sequence, 2);
  const auto read = store_->events_after(run_, 0).value();
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read[1].hash, events[1].hash);
}

TEST_F(BackgroundJournalTest, ContinuesTheChainThatAnotherConnectionWroteMeanwhile) {
  JournalThread thread{folder_};
  BackgroundJournal journal{thread, run_};
  std::vector first{event(engine::EventKind::run_started)};
  ASSERT_TRUE(append(journal, first));
  auto between = event(engine::EventKind::run_resumed);
  ASSERT_TRUE(store_->append(run_, between));
  std::vector last{event(engine::EventKind::run_ended)};

  ASSERT_TRUE(append(journal, last));

  EXPECT_EQ(last[0].sequence, 3);
  EXPECT_EQ(store_->broken_at(run_).value(), std::nullopt);
}

TEST_F(BackgroundJournalTest, LeavesTheLoopToOthersWhileItWaitsForTheDatabase) {
  JournalThread thread{folder_};
  BackgroundJournal journal{thread, run_};
  std::vector events{event(engine::EventKind::run_started)};
  ASSERT_TRUE(append(journal, events));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "cupel.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::optional<Result<void>> written;
  bool bug = false;
  std::vector more{event(engine::EventKind::run_ended)};
  asio::co_spawn(io_, detail::run_into(written, journal.append(more)),
                 [&](std::exception_ptr thrown) { bug = thrown != nullptr; });

  io_.restart();
  io_.poll();
  const bool was_written = written.has_value();
  sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
  io_.run();
  sqlite3_close(other);

  EXPECT_FALSE(was_written);
  ASSERT_TRUE(written && !bug);
  EXPECT_TRUE(*written);
}

TEST_F(BackgroundJournalTest, SaysThatItCannotBeWrittenWhateverKeepsTheDatabaseShut) {
  store_.reset();
  sql("UPDATE schema_version SET version = 1000");
  JournalThread thread{folder_};
  BackgroundJournal journal{thread, run_};
  std::vector events{event(engine::EventKind::run_started)};

  const auto written = append(journal, events);

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kStorage);
}

}  // namespace
}  // namespace cupel::store
