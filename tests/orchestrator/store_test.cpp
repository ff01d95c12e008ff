#include "orchestrator/store/store.h"

#include <random>

#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST_F(StoreTest, KeepsARunAndItsEventsOverARestart) {
  RunId id = 0;
  {
    const auto store = open();
    id = store->begin_run(run_on({"n1", "n2"})).value();
    for (const auto kind : {EventKind::run_started, EventKind::step_began}) {
      auto each = event(kind, kind == EventKind::step_began ? "n2" : "", "power-on");
      ASSERT_TRUE(store->append(id, each));
    }
  }

  const auto store = open();
  const auto run = store->run(id).value();
  const auto events = store->events(id).value();

  EXPECT_EQ(run.playbook, "new-rack");
  EXPECT_THAT(run.nodes, ElementsAre("n1", "n2"));
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[1].sequence, 2);
  EXPECT_EQ(events[1].data, event(EventKind::step_began).data);
  EXPECT_EQ(store->events(id, "n2").value().size(), 2) << "its own, and the run's";
  EXPECT_EQ(store->broken_at(id).value(), std::nullopt);
}

TEST_F(StoreTest, RefusesASecondRunOnTheSameNodesUntilTheFirstIsOver) {
  const auto store = open();
  const auto first = store->begin_run(run_on({"n1", "n2", "n3"})).value();

  const auto second = store->begin_run(run_on({"n2", "n3", "n4"}));

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_EQ(second.error().what,
            "run 1 holds n[2-3]: wait for it, or cupel resume 1, or cupel cancel 1");
  ASSERT_TRUE(store->begin_run(run_on({"n4"})));
  auto end = event(EventKind::run_ended);
  ASSERT_TRUE(store->append(first, end));
  EXPECT_TRUE(store->begin_run(run_on({"n2", "n3"})));
}

TEST_F(StoreTest, SaysWhereItsChainWasBroken) {
  const auto store = open();
  const auto id = store->begin_run(run_on({"n1"})).value();
  for (int i = 0; i < 4; ++i) {
    auto each = event(EventKind::step_began, "n1", "step " + std::to_string(i));
    ASSERT_TRUE(store->append(id, each));
  }

  sql("UPDATE event SET data = '{}' WHERE sequence = 3");

  EXPECT_EQ(store->broken_at(id).value(), std::optional<std::int64_t>{3});
}

TEST_F(StoreTest, KeepsEvidenceByItsHashAndNoticesWhenItChanges) {
  const auto store = open();
  const std::string bytes{"raw\0output", 10};

  const auto hash = store->keep_evidence(bytes).value();

  EXPECT_EQ(store->evidence(hash).value(), bytes);
  EXPECT_EQ(store->keep_evidence(bytes).value(), hash);
  change_evidence(hash);
  EXPECT_EQ(store->evidence(hash).error().code, Code::kMalformed);
  EXPECT_EQ(store->evidence("../../etc/passwd").error().code, Code::kInvalid);
}

TEST_F(StoreTest, PinsAKeyAndReplacesItOnlyOnAPersonsWord) {
  const auto store = open();
  EXPECT_EQ(store->pinned("ssh:n1"), std::nullopt);

  store->pin("ssh:n1", "SHA256:one");
  ASSERT_TRUE(store->repin("ssh:n1", "SHA256:two"));

  EXPECT_EQ(store->pinned("ssh:n1"), "SHA256:two");
}

TEST_F(StoreTest, AFullDiskIsAnErrorAndLosesNothingThatWasWritten) {
  CUPEL_OF_SQLITE_ALONE();
  const auto store = open();
  const auto id = store->begin_run(run_on({"n1"})).value();
  auto kept = event(EventKind::run_started);
  ASSERT_TRUE(store->append(id, kept));
  // SQLite itself refuses to grow: the same error (SQLITE_FULL) as on a full disk.
  store->limit_pages(1);

  auto lost = event(EventKind::step_began, "n1", "power-on");
  std::mt19937 noise{1};
  std::string big(100'000, ' ');  // that nothing packs to a page
  for (char& c : big) c = static_cast<char>('!' + noise() % 90);
  lost.data["big"] = big;
  const auto written = store->append(id, lost);

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kStorage);
  EXPECT_THAT(written.error().what, HasSubstr("full"));
  EXPECT_EQ(store->events(id).value().size(), 1);
}

TEST_F(StoreTest, HandsARunThatStoppedToWhoeverLivesAndLeavesOneThatIsOver) {
  const auto store = open();
  auto run = run_on({"n1"});
  run.options = R"({"notify":"/bin/tell"})";
  const auto stopped = store->begin_run(run).value();
  const auto over = store->begin_run(run_on({"n2"})).value();
  auto interrupted = event(EventKind::run_interrupted);
  auto ended = event(EventKind::run_ended);
  ASSERT_TRUE(store->append(stopped, interrupted));
  ASSERT_TRUE(store->append(over, ended));

  ASSERT_TRUE(store->submit_again(stopped));
  ASSERT_TRUE(store->submit_again(over));

  EXPECT_THAT(store->submitted(10).value(), ElementsAre(stopped));
  EXPECT_EQ(store->run(stopped).value().options, run.options);
  EXPECT_EQ(store->run(over).value().phase, RunPhase::ended);
}

TEST_F(StoreTest, KeepsWhatABmcRefusedOverProcesses) {
  const bmc::Refusal refusal{.mark = "abcdef",
                             .salt = "00112233",
                             .times = 2,
                             .wrong = true,
                             .last = std::chrono::sys_seconds{std::chrono::seconds{1'800'000'000}}};
  open()->keep_refusal("a01-n01", "admin", refusal);

  const auto later = open();

  EXPECT_EQ(later->refusal("a01-n01", "admin"), refusal);
  EXPECT_EQ(later->refusal("a01-n01", "root"), std::nullopt);
  later->keep_refusal("a01-n01", "admin", std::nullopt);
  EXPECT_EQ(later->refusal("a01-n01", "admin"), std::nullopt);
}

TEST_F(StoreTest, KeepsWhoABmcIsAndWhereItWent) {
  const bmc::KnownBmc known{.serial = "437XR1138R2",
                            .uuid = "38947555",
                            .service_uuid = "92384634",
                            .macs = {"aa:bb:cc:00:11:22", "aa:bb:cc:00:11:23"},
                            .moved_to = inventory::Endpoint{"10.0.1.9", 443}};
  open()->keep_known_bmc("a01-n01", known);

  const auto later = open();

  EXPECT_EQ(later->known_bmc("a01-n01"), known);
  EXPECT_EQ(later->known_bmc("a01-n02"), std::nullopt);
}

TEST_F(StoreTest, KeepsHowBmcsFared) {
  bmc::Budget budget;
  bmc::note(budget, bmc::Outcome::timeout, 0, std::chrono::milliseconds{0});
  open()->keep_budgets({{"a01-n01", budget}, {"a01-n02", {}}});

  const auto later = open();

  EXPECT_EQ(later->budget("a01-n01"), budget);
  EXPECT_EQ(later->budget("a01-n02"), bmc::Budget{});
  EXPECT_EQ(later->budget("a01-n03"), std::nullopt);
}

TEST_F(StoreTest, ForgetsABmcOnAPersonsWord) {
  const auto store = open();
  store->keep_refusal("a01-n01", "admin", bmc::Refusal{.mark = "abcdef", .salt = "00"});
  store->keep_known_bmc("a01-n01", {.serial = "S1"});
  store->keep_known_bmc("a01-n02", {.serial = "S2"});

  ASSERT_TRUE(store->forget_bmc("a01-n01"));

  EXPECT_EQ(store->refusal("a01-n01", "admin"), std::nullopt);
  EXPECT_EQ(store->known_bmc("a01-n01"), std::nullopt);
  EXPECT_EQ(store->known_bmc("a01-n02")->serial, "S2");
}

}  // namespace
}  // namespace cupel::store
