// The report as a document of acceptance: what it says of the run itself, for people and programs.
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/engine/clock.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/untested.h"
#include "orchestrator/report/verdict_json.h"
#include "orchestrator/store/clocked_journal.h"
#include "tests/orchestrator/report_fixture.h"

namespace cupel::report {
namespace {
using burnin::Met;

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two clocks, each set by hand.
class TwoClocks final : public engine::Clock {
 public:
  Time now() const override { return passed; }
  engine::WallTime wall() const override { return day; }
  Task<Result<void>> pause_until(Time) override { co_return ok(); }
  void pass(std::chrono::milliseconds span) {
    passed += span;
    day += span;
  }

  Time passed{};
  engine::WallTime day{1'700'000'000s};
};

class Acceptance : public Report {
 protected:
  static burnin::Verdict measured() {
    auto verdict = good();
    verdict.checked = {
        {"hbm", "gpu0", "hbm.copy", {2004.5, 1905, {}, "GB/s"}, Met::met, "data sheet", "hbm/copy"},
        {"hbm",
         "gpu1",
         "hbm.below_best",
         {{}, {}, 10, "%"},
         Met::missing,
         "=HYPERLINK(\"x\",\"y\")"},
        {"psu", "", "volts", {12, 11.4, 12.6, "V"}, Met::met, "ATX, 4.2"}};
    return verdict;
  }
  void begin_with(boost::json::object data) {
    data["site"] = "oslo";
    data["nodes"] = boost::json::array{{{"name", "a01-n01"}, {"rack", "a01"}, {"unit", 1}},
                                       {{"name", "a01-n02"}, {"rack", "a01"}, {"unit", 9}}};
    data["steps"] = boost::json::array{"gpu-facts", "verdict", "hand-off"};
    auto run = store::Run{};
    run.playbook = "new-rack";
    run.nodes = {"b01-n01"};
    id = store->begin_run(run).value();
    add({EventKind::run_started, "", "", std::move(data)});
  }
};

TEST_F(Acceptance, SaysByWhomAndWithWhatTheRunWasMadeAndWhereItsJournalEnds) {
  begin_with({{"by", "kim"},
              {"host", "admin1"},
              {"versions", {{"cupel", "0.1.0"}, {"cupel-node", std::string(64, 'e')}}},
              {"parameters", {{"soak", "24h"}}},
              {"profiles_sha256", {{"dgx-h100", std::string(64, 'd')}}},
              {"inventory_sha256", std::string(64, 'f')}});

  const auto reported = summary();
  const auto page = to_html(reported);
  const auto events = store->events(id).value();

  for (const auto& word : {std::string{"kim on admin1"}, std::string{"0.1.0"}, std::string{"24h"},
                           std::string(64, 'd'), std::string(64, 'e'), std::string(64, 'f'),
                           events.back().hash, std::string{"For the customer"}})
    EXPECT_THAT(page, HasSubstr(word));
  EXPECT_EQ(reported.provenance.head, events.back().hash);
  EXPECT_EQ(reported.provenance.events, 1);
}

TEST_F(Acceptance, ListsWhatPeopleDecidedWithTheirReasonsAndNothingThatWasRefused) {
  add({EventKind::step_skipped,
       "a01-n01",
       "gpu-facts",
       {{"by", "kim"}, {"why", "on <order>"}, {"because", "person"}}});
  add({EventKind::step_skipped,
       "a01-n02",
       "nothing",
       {{"by", "kim"}, {"refused", "no such step"}}});
  add({EventKind::node_retried, "a01-n02", "", {{"by", "cupel"}, {"from", "gpu-facts"}}});
  add({EventKind::run_released, "", "", {{"by", "lee"}, {"step", "gpu-facts"}}});

  const auto reported = summary();

  ASSERT_EQ(reported.provenance.deeds.size(), 2u);
  EXPECT_EQ(reported.provenance.deeds[0].why, "on <order>");
  EXPECT_EQ(reported.provenance.deeds[1].what, "released the halt");
  EXPECT_THAT(to_html(reported), AllOf(HasSubstr("on &lt;order&gt;"), HasSubstr("lee")));
}

TEST_F(Acceptance, SaysWhatWasNotTested) {
  end("a01-n01", "gpu-facts", {{"measurements", boost::json::array{}}});
  add({EventKind::step_skipped, "a01-n02", "gpu-facts", {{"why", "no GPU"}}});
  end("a01-n01", "verdict", record::to_json(measured()));

  const auto untested = untested_of(summary());

  const auto has = [&](const Untested& expected) {
    return std::ranges::find(untested, expected) != untested.end();
  };
  EXPECT_TRUE(has({"gpu-facts", "skipped: no GPU", {"a01-n02"}}));
  EXPECT_TRUE(has({"hand-off", "not begun", {"a01-n01"}}));
  EXPECT_TRUE(has({"verdict, hand-off", "not begun", {"a01-n02"}}));
  EXPECT_TRUE(has({"hbm of gpu1: hbm.below_best", "no measurement came", {"a01-n01"}}));
  EXPECT_TRUE(has({"gemm", "not in the playbook", {}}));
  EXPECT_FALSE(has({"gpu-facts", "not in the playbook", {}}));
}

TEST_F(Acceptance, ListsSerialNumbersWithTheNodesPlace) {
  boost::json::array gpus;
  for (int i = 0; i < 8; ++i)
    gpus.push_back({{"kind", "gpu"},
                    {"name", "gpu" + std::to_string(i)},
                    {"serial", i == 7 ? "" : "S" + std::to_string(i)}});
  end("a01-n01", "bmc-facts", {{"bmc_parts", gpus}, {"system_serial", "CHASSIS-1"}});

  const auto reported = to_document(summary());
  const auto& node = reported.at("summary").at("nodes").as_array()[0];

  EXPECT_EQ(reported.at("schema"), 2);
  EXPECT_EQ(node.at("chassis_serial"), "CHASSIS-1");
  EXPECT_EQ(node.at("gpus_with_serial"), 7);
  EXPECT_EQ(node.at("serials").as_array().size(), 7u);
  EXPECT_EQ(node.at("unit"), 1);
  EXPECT_THAT(to_html(summary()), HasSubstr("<td>CHASSIS-1<td>7<td"));
}

TEST_F(Acceptance, GivesProgramsNumbersAsNumbers) {
  const auto copy = to_json(measured().checked[0]), lag = to_json(measured().checked[1]),
             volts = to_json(measured().checked[2]);

  EXPECT_EQ(copy.at("value"), 2004.5);
  EXPECT_EQ(copy.at("at_least"), 1905.0);
  EXPECT_EQ(copy.at("unit"), "GB/s");
  EXPECT_EQ(copy.at("margin"), 99.5);
  EXPECT_EQ(copy.at("criterion_id"), "hbm/copy");
  EXPECT_EQ(copy.at("measured"), "2004.5 GB/s");
  EXPECT_EQ(copy.at("met"), true);
  EXPECT_FALSE(lag.contains("value")) << "nothing came";
  EXPECT_EQ(lag.at("met"), false);
  EXPECT_EQ(lag.at("at_most"), 10.0);
  EXPECT_EQ(volts.at("at_least"), 11.4);
  EXPECT_EQ(volts.at("at_most"), 12.6);
}

TEST_F(Acceptance, WritesALineOfCsvForEachCriterionAndNoFormula) {
  end("a01-n01", "verdict", record::to_json(measured()));

  const auto text = to_csv(summary());
  const auto all = lines(text);

  ASSERT_EQ(all.size(), 1u + 3u + 1u) << "header, three criteria, a node without any";
  EXPECT_THAT(std::string{all[1]},
              HasSubstr("a01-n01,a01,1,,pass,hbm,gpu0,hbm.copy,2004.5 GB/s,2004.5,GB/s,"
                        "at least 1905 GB/s,1905,,yes,data sheet,"));
  EXPECT_THAT(std::string{all[2]}, HasSubstr("\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""));
  EXPECT_THAT(std::string{all[3]}, HasSubstr("\"ATX, 4.2\""));
}

TEST_F(Acceptance, OfARehearsalIsMarkedAndCannotBeSigned) {
  EXPECT_THAT(to_html(summary()), Not(HasSubstr("REHEARSAL")));

  begin_with({{"rehearsal", true}});
  const auto page = to_html(summary());

  EXPECT_THAT(page,
              AllOf(HasSubstr("<title>REHEARSAL: Cupel run"), HasSubstr("class=watermark"),
                    HasSubstr("A rehearsal is not signed"), Not(HasSubstr("For the customer"))));
  EXPECT_THAT(to_text(summary()), ::testing::StartsWith("REHEARSAL: "));
  EXPECT_THAT(to_csv(summary()), HasSubstr(",REHEARSAL,"));
  EXPECT_EQ(to_document(summary()).at("summary").at("rehearsal"), true);
}

/// Ten minutes of work, in which somebody sets the clock two years ahead and three years back.
TEST_F(Acceptance, CountsTheTimeThatPassedWhenTheClockWasSetAndSaysThatItWas) {
  TwoClocks clock;
  store->tell_time_by(clock);
  begin_with({});
  store::RunJournal written{*store, id};
  store::ClockedJournal journal{written, clock};
  asio::io_context io;
  const auto write = [&](Event event) {
    ASSERT_TRUE(run_to_end(io, journal.append(std::span{&event, 1})));
  };
  clock.pass(2min);
  clock.day += 24h * 730;
  write({EventKind::step_began, "a01-n01", "gpu-facts"});
  clock.pass(3min);
  clock.day -= 24h * 1095;
  write({EventKind::step_ended, "a01-n01", "gpu-facts", {{"outcome", "done"}}});
  clock.pass(5min);
  write({EventKind::run_ended});

  const auto reported = summary();
  const auto& step = reported.nodes[0].record.steps[0];

  EXPECT_EQ(reported.took, 10min);
  EXPECT_EQ(step.ended - step.began, 3min);
  ASSERT_EQ(reported.provenance.clock_sets.size(), 2u);
  EXPECT_EQ(reported.provenance.clock_sets[1].by, -24h * 1095);
  EXPECT_THAT(to_text(reported), HasSubstr("after 10 min 00 s"));
  EXPECT_THAT(to_html(reported), HasSubstr("The clock of the admin node was set during the run"));
}

TEST_F(Acceptance, KeepsTheTimeOfAnOlderJournalWhoseClockWentBack) {
  TwoClocks clock;
  store->tell_time_by(clock);
  begin_with({});
  clock.pass(4min);
  add({EventKind::step_began, "a01-n01", "gpu-facts"});
  clock.day -= 24h;
  add({EventKind::run_ended});

  EXPECT_EQ(summary().took, 4min);
  EXPECT_EQ(summary().provenance.clock_sets[0].by, -24h);
}

}  // namespace
}  // namespace cupel::report
