#include "orchestrator/store/check.h"
#include "orchestrator/store/packed_text.h"
#include "orchestrator/store/prune.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string telling(std::size_t bytes) {
  std::string text{"{"};
  while (text.size() < bytes) text += "\"measure\":" + std::to_string(text.size()) + ",";
  return text;
}

TEST(PackedText, ComesBackAsItWasWhateverItsLength) {
  for (std::size_t more = 0; more < 9; ++more) {
    const auto text = telling(20'000 + more);

    const auto packed = packed_text(text);

    EXPECT_THAT(packed, StartsWith("gz:"));
    EXPECT_LT(packed.size(), text.size() / 2);
    EXPECT_EQ(unpacked_text(packed), text);
  }
}

TEST(PackedText, LeavesWhatIsSmallAsItIs) {
  EXPECT_EQ(packed_text("{}"), "{}");
  EXPECT_EQ(unpacked_text("{}"), "{}");
}

TEST(PackedText, LeavesWhatIsDamagedAsItIs) {
  auto packed = packed_text(telling(20'000));
  packed[packed.size() / 2] = '!';

  EXPECT_EQ(unpacked_text(packed), packed);
  EXPECT_EQ(unpacked_text("gz:"), "gz:");
}

class PackedEventsTest : public StoreTest {
 protected:
  /// Without measurements, which have a table of their own.
  static Event large() {
    auto made = event(EventKind::step_ended, "n1", "p2p");
    boost::json::array all;
    for (int i = 0; i < 3000; ++i) all.push_back({{"name", "p2p.busbw"}, {"value", i}});
    made.data["texts"] = std::move(all);
    return made;
  }
};

TEST_F(PackedEventsTest, LargeEventsTakeLittleRoomAndReadAsTheyWereWritten) {
  const auto run = open()->begin_run(run_on({"n1"})).value();
  std::vector<Event> batch(20, large());

  ASSERT_TRUE(open()->append(run, batch));

  const auto events = open()->events_after(run, 0).value();
  ASSERT_EQ(events.size(), 20);
  for (const auto& each : events) EXPECT_EQ(each.data, batch[0].data);
  EXPECT_EQ(open()->events(run, "n1").value().size(), 20);
  EXPECT_EQ(open()->broken_at(run).value(), std::nullopt);
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
  const auto whole = 20 * boost::json::serialize(batch[0].data).size();
  EXPECT_GT(whole, 2'000'000);
  if (!on_postgresql()) {
    EXPECT_LT(std::filesystem::file_size(folder_ / "cupel.db"), whole / 3);
  }
}

TEST_F(PackedEventsTest, ALargeEventThatAnOlderCupelWroteReadsAndTheChainGoesOn) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  auto first = large();
  ASSERT_TRUE(store->append(run, first));
  const auto text = boost::json::serialize(first.data);
  sql("UPDATE event SET data = '" +
      [&] {
        std::string quoted;
        for (const char c : text) quoted += c == '\'' ? std::string{"''"} : std::string{c};
        return quoted;
      }() +
      "'");

  auto second = large();
  ASSERT_TRUE(store->append(run, second));

  EXPECT_EQ(store->events_after(run, 0).value()[0].data, first.data);
  EXPECT_EQ(store->broken_at(run).value(), std::nullopt);
}

TEST_F(PackedEventsTest, ADamagedPackedEventIsDamageLikeAnyOther) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  auto first = large();
  ASSERT_TRUE(store->append(run, first));

  sql("UPDATE event SET data = substr(data, 1, 400)");

  EXPECT_EQ(store->broken_at(run).value(), std::optional<std::int64_t>{1});
}

TEST_F(PackedEventsTest, EvidenceThatAPackedEventNamesIsNotPruned) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  auto first = large();
  first.data["evidence"] = store->keep_evidence("raw output").value();
  const auto hash = std::string{first.data["evidence"].as_string()};
  ASSERT_TRUE(store->append(run, first));

  ASSERT_TRUE(prune(folder_, {.keep = 0}));

  EXPECT_TRUE(store->evidence(hash));
}

TEST_F(PackedEventsTest, SnapshotsArePackedTooAndGoneWhenTheRunIsOver) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  auto first = event(EventKind::run_started);
  ASSERT_TRUE(store->append(run, first));
  const auto state = telling(50'000);

  ASSERT_TRUE(store->keep_snapshot(run, 1, state));
  EXPECT_EQ(store->snapshot(run).value()->state, state);
  auto end = event(EventKind::run_ended);
  ASSERT_TRUE(store->append(run, end));

  EXPECT_EQ(store->snapshot(run).value(), std::nullopt);
}

}  // namespace
}  // namespace cupel::store
