// The run on which a requalification builds, and what the node failed since.
#include "orchestrator/requalify/base_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/orchestrator/report_fixture.h"

namespace cupel::requalify {
namespace {

using burnin::Decision;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class BaseRun : public report::Report {
 protected:
  BaseRun() { add({engine::EventKind::run_ended}); }

  /// A run that is over. `parts`: it has read a part.
  engine::RunId run_of(const std::vector<std::string>& stages, std::vector<burnin::Cause> causes,
                       bool parts = true) {
    store::Run run;
    run.playbook = "burn-in-72h";
    run.nodes = {"a01-n01"};
    id = *store->begin_run(run);
    add({engine::EventKind::run_started,
         "",
         "",
         {{"site", "lab"},
          {"nodes", {{{"name", "a01-n01"}, {"profile", "p"}}}},
          {"steps", {"verdict"}}}});
    burnin::Findings findings;
    if (parts) findings.parts.push_back({.kind = inventory::PartKind::gpu, .name = "gpu3"});
    for (const auto& stage : stages) end("a01-n01", stage, record::to_json(findings));
    const auto decision = causes.empty() ? Decision::pass : causes.front().decision;
    end("a01-n01", "verdict", record::to_json(burnin::Verdict{decision, std::move(causes), {}}));
    add({engine::EventKind::run_ended});
    return id;
  }
  engine::RunId audit() { return run_of({"node-facts"}, {}); }

  static burnin::Cause failure(const std::string& part, const std::string& criterion,
                               std::vector<std::string> stages) {
    burnin::Cause cause;
    cause.part = part;
    cause.criterion = criterion;
    cause.stages = std::move(stages);
    return cause;
  }
};

TEST_F(BaseRun, IsFoundBehindAnyNumberOfAudits) {
  const auto passed = run_of({"cpu", "gemm"}, {});
  for (int i = 0; i < 120; ++i) audit();

  const auto base = passed_run(*store, "a01-n01");

  ASSERT_TRUE(base) << base.error().what;
  EXPECT_EQ(base->run.id, passed);
}

TEST_F(BaseRun, IsTheOlderOneThatTestedMore) {
  const auto whole = run_of({"cpu", "gemm", "hbm"}, {});
  const auto quick = run_of({"gemm"}, {});

  EXPECT_EQ(passed_run(*store, "a01-n01")->run.id, whole);
  EXPECT_EQ(passed_run(*store, "a01-n01", quick)->run.id, quick);
}

TEST_F(BaseRun, NamesWhatFailedSinceByStageAndWhatNoStageMeasured) {
  const auto passed = run_of({"cpu", "gemm"}, {});
  const auto first = run_of({"gemm"}, {failure("gpu3", "gemm.bf16.rate", {"gemm@waves"}),
                                       failure("", "collective.all_reduce.busbw", {"collective"})});
  const auto second =
      run_of({"hbm"}, {failure("gpu1", "sel.new.critical", {"sel@hbm"}),
                       failure("", "stage train", {}), failure("dimm A7", "audit: missing", {})});
  audit();

  const auto failed = failed_since(*store, "a01-n01", passed);

  ASSERT_TRUE(failed) << failed.error().what;
  ASSERT_EQ(failed->size(), 2);
  EXPECT_EQ((*failed)[0].run.id, second);
  EXPECT_THAT(failed_stages(*failed),
              ElementsAre(Pair("collective", fmt::format("a01-n01 failed there in run {}", first)),
                          Pair("gemm", fmt::format("gpu3 failed there in run {}", first)),
                          Pair("hbm", fmt::format("gpu1 failed there in run {}", second)),
                          Pair("train", fmt::format("a01-n01 failed there in run {}", second))));
  EXPECT_THAT(other_failures((*failed)[0]), ElementsAre("dimm A7: audit: missing"));
  EXPECT_THAT(other_failures((*failed)[1]), IsEmpty());
  EXPECT_THAT(*failed_since(*store, "a01-n01", second), IsEmpty());
}

TEST_F(BaseRun, TakesNoEarlierRunForALookThatReadNothing) {
  const auto passed = run_of({"gemm"}, {});
  const auto nightly = audit();
  const auto look = run_of({}, {}, false);

  const auto seen = seen_in(*store, "a01-n01", look);

  EXPECT_EQ((*seen_since(*store, "a01-n01", passed))->run.id, nightly);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Code::kInvalid);
  EXPECT_THAT(seen.error().what, HasSubstr("neither a01-n01 nor its BMC reported a part"));
  EXPECT_EQ(seen_in(*store, "a01-n01", nightly)->run.id, nightly);
}

}  // namespace
}  // namespace cupel::requalify
