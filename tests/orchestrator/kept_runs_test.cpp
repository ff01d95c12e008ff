// What a certificate of a requalification keeps of the runs before it.
#include <gmock/gmock.h>

#include "base/json.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/controller/run_options.h"
#include "tests/orchestrator/report_fixture.h"

namespace cupel::certificate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Run 1 has tested cpu, gemm and hbm; each requalification renews some of it.
class KeptRuns : public report::Report {
 protected:
  KeptRuns() {
    run_of(id, "S1", {"node-facts", "cpu", "gemm", "hbm"});
    base_ = id;
    end_run();
  }

  void run_of(engine::RunId, const std::string& serial, const std::vector<std::string>& stages,
              burnin::Decision decision = burnin::Decision::pass) {
    burnin::Verdict verdict{decision, {}, {}};
    for (const auto& stage : stages) {
      end("a01-n01", stage, {{"facts", {{"system.serial", serial}}}});
      burnin::Checked checked{.stage = stage, .measure = "m", .met = burnin::Met::met};
      checked.quantity = {.value = 1, .at_least = 1};
      verdict.checked.push_back(checked);
    }
    end("a01-n01", "verdict", record::to_json(verdict));
  }
  void end_run() { add({engine::EventKind::run_ended}); }

  /// Begins the next run, which all that is added goes into.
  void requalify(engine::RunId of, std::vector<std::string> voided) {
    store::Run run;
    run.playbook = "requalify";
    run.nodes = {"a01-n01"};
    id = *store->begin_run(run);
    json::object data{{"site", "lab"},
                      {"nodes", {{{"name", "a01-n01"}, {"profile", "p"}}}},
                      {"steps", {"verdict"}}};
    data["requalifies"] = report::to_json(report::Requalified{of, {"x"}, std::move(voided), {}});
    add({engine::EventKind::run_started, "", "", std::move(data)});
  }

  Result<std::vector<KeptRun>> kept() { return kept_runs(*store, summary()); }
  Result<Certified> certified() {
    Issue issue{.by = "kim"};
    TRY(issue.kept, kept());
    TRY(const auto statement, statement_of(summary(), issue));
    return read_statement(payload_of(statement));
  }

  engine::RunId base_ = 0;
};

TEST_F(KeptRuns, AreNoneOfARunThatRenewsNothing) { EXPECT_THAT(*kept(), IsEmpty()); }

TEST_F(KeptRuns, HaveWhatIsNeitherRenewedNorVoid) {
  requalify(base_, {"gemm"});
  run_of(id, "S1", {"node-facts", "gemm"});
  end_run();

  const auto runs = kept();
  ASSERT_TRUE(runs) << runs.error().what;
  ASSERT_EQ(runs->size(), 1);
  EXPECT_THAT((*runs)[0].stages, ElementsAre("cpu", "hbm"));
  const auto says = certified();
  ASSERT_TRUE(says) << says.error().what;
  EXPECT_EQ(says->nodes[0].criteria, 4);  // two of its own, two that are kept
  EXPECT_THAT(says->nodes[0].kept, ElementsAre(base_));
}

TEST_F(KeptRuns, LeaveOutWhatIsVoidAndCouldNotBeRenewed) {
  requalify(base_, {"gemm", "hbm"});
  run_of(id, "S1", {"gemm"});
  end_run();

  EXPECT_THAT((*kept())[0].stages, ElementsAre("node-facts", "cpu"));
}

TEST_F(KeptRuns, FollowOneRequalificationToTheNext) {
  requalify(base_, {"gemm"});
  run_of(id, "S1", {"node-facts", "gemm"});
  end_run();
  const auto second = id;
  requalify(second, {"hbm"});
  run_of(id, "S1", {"node-facts", "hbm"});
  end_run();

  const auto runs = kept();
  ASSERT_TRUE(runs) << runs.error().what;
  ASSERT_EQ(runs->size(), 2);
  EXPECT_THAT((*runs)[0].stages, ElementsAre("gemm"));
  EXPECT_THAT((*runs)[1].stages, ElementsAre("cpu"));
  EXPECT_THAT(certified()->nodes[0].kept, ElementsAre(second, base_));
}

TEST_F(KeptRuns, AreRefusedOfAnotherMachineOrOfARunThatWasNotPassed) {
  requalify(base_, {"gemm"});
  run_of(id, "S2", {"gemm"});
  end_run();
  EXPECT_THAT(kept().error().what, HasSubstr("was of another machine: chassis serial S1, not S2"));

  const auto other = id;
  requalify(other, {"gemm"});
  run_of(id, "S2", {"gemm"}, burnin::Decision::fail);
  end_run();
  const auto failed = id;
  requalify(failed, {"gemm"});
  run_of(id, "S2", {"gemm"});
  end_run();
  EXPECT_THAT(kept().error().what, HasSubstr("did not pass run"));
}

TEST_F(KeptRuns, ThatContradictTheCertificateAreRefusedByItsReader) {
  requalify(base_, {"gemm"});
  run_of(id, "S1", {"gemm"});
  end_run();
  Issue issue{.by = "kim"};
  issue.kept = *kept();
  const auto statement = *statement_of(summary(), issue);
  json::error_code failure;
  const auto refused = [&](const char* pointer, const json::value& instead) {
    json::value changed = statement;
    *changed.find_pointer(pointer, failure) = instead;
    const auto says = read_statement(payload_of(changed.as_object()));
    return says ? std::string{"taken"} : says.error().what;
  };

  EXPECT_THAT(refused("/predicate/nodes/0/kept/0/chassis_serial", "S9"),
              HasSubstr("is of another machine"));
  EXPECT_THAT(refused("/predicate/nodes/0/kept/0/verdict", "fail"),
              HasSubstr("which it did not pass"));
  EXPECT_THAT(refused("/predicate/nodes/0/kept/0/criteria/0/met", false),
              HasSubstr("it says that a01-n01 passed, and 1 of its"));
  EXPECT_THAT(refused("/predicate/nodes/0/kept", 7), HasSubstr("is no list"));
  EXPECT_THAT(refused("/predicate/nodes/0/kept/0/run", 0), HasSubstr("without number"));
}

TEST(RunOptions, KeepWhatARunRenewsAlsoWhenItGoesOn) {
  controller::RunFlags flags;
  flags.requalifies = report::Requalified{12, {"gpu3 replaced"}, {"gemm", "hbm"}, {"fabric-pairs"}};

  const auto text = to_text(with({}, flags));
  const auto again =
      controller::run_options_of(to_text(with(controller::run_options_of(text), {})));

  EXPECT_EQ(again.requalifies, flags.requalifies);
  EXPECT_FALSE(controller::run_options_of("{\"requalifies\":{\"of_run\":-1}}").requalifies);
}

}  // namespace
}  // namespace cupel::certificate
