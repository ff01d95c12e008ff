// The numbers of the journal as a table beside it.
#include "base/json.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/earlier.h"
#include "orchestrator/store/measured.h"
#include "orchestrator/store/prune.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {

using engine::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MeasurementsTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store_ = open();
    run_ = begin();
  }

  RunId begin() {
    const auto run = store_->begin_run(run_on({"n1", "n2"})).value();
    append(run, EventKind::run_started, "", "",
           R"({"nodes":[{"name":"n1","profile":"h100"},{"name":"n2","profile":"gb200"}]})");
    return run;
  }

  void append(RunId run, EventKind kind, std::string node, std::string step,
              const std::string& data) {
    Event event{kind, std::move(node), std::move(step)};
    event.data = parse_json(data).value().as_object();
    ASSERT_TRUE(store_->append(run, event));
  }

  void end(const std::string& node, const std::string& step, const std::string& data) {
    append(run_, EventKind::step_ended, node, step, data);
  }

  /// "n1/gpu0 gemm 700 TFLOP/s of h100, gemm/rate".
  std::vector<std::string> all(const MeasuredQuery& query) {
    std::vector<std::string> texts;
    const auto found = measured(folder_, query);
    EXPECT_TRUE(found) << (found ? "" : found.error().what);
    for (const auto& each : found.value())
      texts.push_back(each.subject + " " + each.stage + " " +
                      std::to_string(static_cast<int>(each.value)) + " " + each.unit + " of " +
                      each.profile + (each.criterion.empty() ? "" : ", " + each.criterion));
    return texts;
  }

  std::vector<std::string> faults() {
    std::vector<std::string> texts;
    for (const auto& each : check_store(folder_).value().faults)
      texts.push_back(each.where + ": " + each.what);
    return texts;
  }

  static constexpr const char* kRates = R"({"outcome":"done","measurements":[
      {"name":"rate","part":"gpu0","value":700,"unit":"TFLOP/s"},
      {"name":"rate","part":"gpu1","value":690.5,"unit":"TFLOP/s"},
      {"name":"count","value":2}]})";

  std::unique_ptr<Store> store_{};
  RunId run_ = 0;
};

TEST_F(MeasurementsTest, GivesEveryNumberOfAMeasureWithItsProfile) {
  end("n1", "gemm", kRates);
  end("n2", "gemm", R"({"measurements":[{"name":"rate","part":"gpu0","value":900}]})");

  EXPECT_THAT(all({.measure = "rate"}),
              ElementsAre("n1/gpu0 gemm 700 TFLOP/s of h100", "n1/gpu1 gemm 690 TFLOP/s of h100",
                          "n2/gpu0 gemm 900  of gb200"));
  EXPECT_THAT(all({.measure = "rate", .profile = "gb200"}),
              ElementsAre("n2/gpu0 gemm 900  of gb200"));
  EXPECT_THAT(all({.measure = "count"}), ElementsAre("n1 gemm 2  of h100"));
  EXPECT_THAT(all({.measure = "nothing"}), IsEmpty());
  EXPECT_EQ(measured(folder_, {.measure = "rate"}).value()[1].value, 690.5);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MeasurementsTest, NamesTheCriterionThatAVerdictHeldANumberAgainst) {
  end("n1", "gemm", kRates);
  end("n1", "gemm", kRates);
  end("n1", "gemm@again", kRates);
  end("n1", "verdict", R"({"verdict":"pass","format":2,"checked":[
      {"stage":"gemm","part":"gpu0","measure":"rate","value":700,"criterion_id":"gemm/rate#2"},
      {"stage":"gemm","part":"gpu1","measure":"rate","at_least":600,"criterion_id":"gemm/rate"},
      {"stage":"gemm@again","part":"gpu1","measure":"rate","measured":"690.5 TFLOP/s"}]})");

  EXPECT_THAT(all({.measure = "rate"}),
              ElementsAre("n1/gpu0 gemm 700 TFLOP/s of h100", "n1/gpu1 gemm 690 TFLOP/s of h100",
                          "n1/gpu0 gemm 700 TFLOP/s of h100, gemm/rate#2",
                          "n1/gpu1 gemm 690 TFLOP/s of h100, gemm/rate",
                          "n1/gpu0 gemm@again 700 TFLOP/s of h100",
                          "n1/gpu1 gemm@again 690 TFLOP/s of h100, gemm/rate"));
}

TEST_F(MeasurementsTest, TakesEachNodesOwnNumbersOfAStepThatSeveralDidTogether) {
  const auto hash = store_->keep_evidence(
      R"({"n1":{"measurements":[{"name":"busbw","value":370}]},
          "n2":{"measurements":[{"name":"busbw","value":90}]}})");
  const auto data = R"({"together":true,"evidence":")" + hash.value() + "\"}";

  end("n1", "nccl", data);
  end("n2", "nccl", data);

  EXPECT_THAT(all({.measure = "busbw"}),
              ElementsAre("n1 nccl 370  of h100", "n2 nccl 90  of gb200"));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MeasurementsTest, HasANumberOfALinkOnceWithItsCriterion) {
  const auto hash = store_->keep_evidence(
      R"({"n1":{"measurements":[{"name":"links","value":1}]},"n2":{},
          "group:pair.n1":{"links":[
            {"name":"rate","part":"link:n1/eth0<->n2/eth1","value":94,"unit":"Gb/s"},
            {"name":"rate","part":"link:n1/eth0<->n9","value":9},
            {"name":"rate","part":"link:n8/a<->n9/b","value":9}]}})");
  const auto data = R"({"together":true,"evidence":")" + hash.value() + "\"}";
  end("n1", "pair", data);
  end("n2", "pair", data);

  end("n1", "verdict", R"({"verdict":"pass","format":2,"checked":[{"stage":"pair",
      "part":"link:n1/eth0<->n2/eth1","measure":"rate","value":94,"criterion_id":"pair/rate"}]})");

  EXPECT_THAT(all({.measure = "rate"}),
              ElementsAre("link:n1/eth0<->n2/eth1 pair 94 Gb/s of h100, pair/rate"));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MeasurementsTest, LeavesOutWhatIsNoNumberOrNamesNoSubject) {
  end("n1", "gemm", R"({"measurements":[{"name":"rate","value":null},{"name":"rate"},
      {"name":"rate","part":"gpu\n0","value":1},{"name":"","value":1},{"value":1},7,
      {"name":"rate","value":"5"},{"name":"rate","part":"gpu1","value":5}]})");

  EXPECT_THAT(all({.measure = "rate"}), ElementsAre("n1/gpu1 gemm 5  of h100"));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MeasurementsTest, AreNotWrittenWhereTheEventIsNot) {
  end("n1", "gemm", kRates);
  Event unreadable{EventKind::step_ended, "n1", "\xff"};
  unreadable.data = parse_json(kRates).value().as_object();

  EXPECT_FALSE(store_->append(run_, unreadable));

  EXPECT_EQ(all({.measure = "rate"}).size(), 2);
  end("n1", "gemm@again", kRates);
  EXPECT_EQ(all({.measure = "rate"}).size(), 4);
}

TEST_F(MeasurementsTest, AreMadeOfTheJournalsOfAFormerVersion) {
  end("n1", "gemm", kRates);
  end("n1", "verdict", R"({"verdict":"pass","format":2,"checked":[{"stage":"gemm","part":"gpu0",
      "measure":"rate","value":700,"unit":"TFLOP/s","at_least":600,"met":"met",
      "criterion_id":"gemm/rate"}]})");
  const auto before = all({.measure = "rate"});
  store_.reset();
  sql("DROP VIEW measurements; DROP TABLE measurement; DROP TABLE series; DROP TABLE name; "
      "DROP INDEX run_submitted; DROP TABLE access_token; DROP TABLE audit; DROP TABLE kept_reply; "
      "DROP TABLE pending_approval; DROP TABLE step_secret; "
      "ALTER TABLE known_key DROP COLUMN by_person; UPDATE schema_version SET version = 5");

  store_ = open();

  EXPECT_EQ(all({.measure = "rate"}), before);
  EXPECT_EQ(before[0], "n1/gpu0 gemm 700 TFLOP/s of h100, gemm/rate");
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MeasurementsTest, GoWithTheRunThatIsPruned) {
  end("n1", "gemm", kRates);
  append(run_, EventKind::run_ended, "", "", "{}");
  const auto first = std::exchange(run_, begin());
  end("n1", "disk", R"({"measurements":[{"name":"rate","value":3}]})");
  append(run_, EventKind::run_ended, "", "", "{}");
  store_.reset();

  ASSERT_TRUE(prune(folder_, {.runs = {first}}));

  store_ = open();
  EXPECT_THAT(all({.measure = "rate"}), ElementsAre("n1 disk 3  of h100"));
  EXPECT_THAT(all({.measure = "count"}), IsEmpty());
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MeasurementsTest, AreCheckedAgainstTheJournal) {
  end("n1", "gemm", kRates);
  store_.reset();

  sql("UPDATE measurement SET value = 701 WHERE value = 700");
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("run 1, event 2: the table of measurements")));
  sql("DELETE FROM measurement");
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("run 1, event 2: the table of measurements")));
}

TEST_F(MeasurementsTest, AreWhatTheJournalSaysThoughItsTextIsReadBackByAUnitOff) {
  constexpr double kRate = 419.24986082959805;
  Event event{EventKind::step_ended, "n1", "gemm"};
  event.data = {
      {"measurements",
       json::array{{{"name", "rate"}, {"part", "gpu0"}, {"value", kRate}, {"unit", ""}}}}};
  ASSERT_TRUE(store_->append(run_, event));
  store_.reset();

  EXPECT_THAT(faults(), IsEmpty());
  sql("UPDATE measurement SET value = 419.2498608296");
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("run 1, event 2: the table of measurements")));
}

TEST_F(MeasurementsTest, CountsAsEarlierOnlyRunsThatHaveSuchANumber) {
  const std::vector<std::string> units{"TFLOP/s"};
  const auto runs = [&](std::size_t most) {
    std::vector<RunId> found;
    const auto values = earlier_values(
        folder_,
        {.profile = "h100", .node = "n1", .before = run_ + 1, .most_runs = most, .units = units});
    EXPECT_TRUE(values) << (values ? "" : values.error().what);
    for (const auto& each : values.value())
      if (found.empty() || found.back() != each.run) found.push_back(each.run);
    return found;
  };
  const auto oldest = run_;
  end("n1", "gemm", kRates);
  append(run_, EventKind::run_ended, "", "", "{}");
  run_ = begin();
  const auto second = run_;
  end("n1", "gemm", kRates);
  append(run_, EventKind::run_ended, "", "", "{}");
  for (int audit = 0; audit < 130; ++audit) {
    run_ = begin();
    end("n2", "gemm", kRates);
    append(run_, EventKind::run_ended, "", "", "{}");
  }

  EXPECT_THAT(runs(1), ElementsAre(second));
  EXPECT_THAT(runs(12), ElementsAre(second, oldest));
}

}  // namespace
}  // namespace cupel::store
