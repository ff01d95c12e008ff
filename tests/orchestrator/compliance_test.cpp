// Lists of demands as data, and the answers that runs give.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/compliance/page.h"
#include "tests/support/captures.h"

namespace cupel::compliance {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

DemandList list_of(const std::string& rows) {
  std::vector<inventory::Problem> problems;
  auto list = parse_list("list: l\ntitle: T\nsource: s\ndate: \"2026-01-01\"\nrows:\n" + rows,
                         "l.yaml", problems);
  EXPECT_EQ(to_string(problems), "");
  return std::move(list).value_or(DemandList{});
}

std::string problems_of(const std::string& text) {
  std::vector<inventory::Problem> problems;
  EXPECT_FALSE(parse_list(text, "l.yaml", problems));
  return to_string(problems);
}

burnin::Checked checked(const std::string& measure, double value, burnin::Met met,
                        const std::string& part = "gpu0") {
  return {.stage = "gemm",
          .part = part,
          .measure = measure,
          .quantity = {.value = value, .unit = "errors"},
          .met = met};
}

record::NodeRecord record_with(std::vector<burnin::Checked> all) {
  record::NodeRecord record;
  record.verdict.emplace();
  record.verdict->checked = std::move(all);
  return record;
}

constexpr const char* kGemm = "  - {id: A, asks: a, measures: [gemm.errors], playbook: new-rack}\n";

TEST(ComplianceLists, ThoseThatShipAreRead) {
  for (const auto& name : shipped_lists()) {
    std::vector<inventory::Problem> problems;
    const auto list = load_list(name, problems);
    EXPECT_EQ(to_string(problems), "");
    ASSERT_TRUE(list) << name;
    EXPECT_EQ(list->name, name);
    EXPECT_GT(list->demands.size(), 20u);
  }
  EXPECT_THAT(shipped_lists(), ElementsAre("clustermax", "nvidia-ai-clouds-2.4"));
}

TEST(ComplianceLists, ThatOthersMayChangeAreNotRead) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "ours.yaml").string();
  std::ofstream{file} << "list: l\n";
  std::filesystem::permissions(file, std::filesystem::perms{0666});
  std::vector<inventory::Problem> problems;

  EXPECT_FALSE(load_list(file, problems));
  EXPECT_THAT(to_string(problems), HasSubstr("ours.yaml can be changed by other users"));
}

TEST(ComplianceLists, NameAllThatIsWrongWithItsPlace) {
  const auto all = problems_of(R"(list: l
title: T
source: s
rows:
  - {id: A, asks: a, measures: [gemm.erors], playbook: new-rack}
  - {id: A, asks: a, stages: [burnn], playbook: new-rack}
  - {id: B, asks: a}
  - {id: C, asks: a, command: x, not_here: y}
  - {id: D, asks: a, measures: [gemm.errors]}
  - {id: E, asks: a, measures: [gemm.errors], playbook: new-rak}
)");

  EXPECT_THAT(all, AllOf(HasSubstr("date"), HasSubstr("l.yaml:5:32: there is no measure"),
                         HasSubstr("l.yaml:6:10: A is there twice"),
                         HasSubstr("there is no stage or step 'burnn'"), HasSubstr("l.yaml:7:"),
                         HasSubstr("l.yaml:8:"), HasSubstr("l.yaml:9:"), HasSubstr("need playbook"),
                         HasSubstr("there is no playbook 'new-rak'")));
}

TEST(ComplianceAnswers, ARowIsProvenWhereEachNodeHasShownIt) {
  Evidence evidence;
  take(record_with({checked("gemm.errors", 0, burnin::Met::met),
                    checked("gemm.errors", 0, burnin::Met::met, "gpu1")}),
       12, evidence["n1"]);
  take(record_with({checked("gemm.errors", 0, burnin::Met::met)}), 13, evidence["n2"]);

  const auto row = answer(list_of(kGemm), evidence).rows.front();

  EXPECT_EQ(row.status, Status::proven);
  EXPECT_EQ(row.says, "2 of 2 nodes, runs 12, 13: gemm.errors 0 errors");
  EXPECT_EQ(row.command, "");
}

TEST(ComplianceAnswers, OnePartThatFailedIsNotMetAndTheNodeIsNamed) {
  Evidence evidence;
  take(record_with({checked("gemm.errors", 0, burnin::Met::met),
                    checked("gemm.errors", 4, burnin::Met::failed, "gpu1")}),
       12, evidence["n1"]);
  take(record_with({checked("gemm.errors", 0, burnin::Met::met)}), 12, evidence["n2"]);

  const auto row = answer(list_of(kGemm), evidence).rows.front();

  EXPECT_EQ(row.status, Status::not_met);
  EXPECT_THAT(row.failed, ElementsAre("n1"));
  EXPECT_EQ(row.says, "1 of 2 nodes, run 12: gemm.errors 0 to 4 errors; not met: n1");
  EXPECT_EQ(row.command, "cupel run new-rack --nodes n1");
}

constexpr const char* kDriver = "  - {id: A, asks: a, floor: [driver], playbook: audit}\n";

record::NodeRecord audited(std::vector<std::string> read, std::vector<std::string> below) {
  record::NodeRecord record;
  record.floor.emplace();
  record.floor->read = std::move(read);
  for (auto& each : below) record.floor->below.push_back({.component = std::move(each)});
  return record;
}

TEST(ComplianceAnswers, AFloorIsProvenWhereEachNodesVersionWasReadAndIsNotBelowIt) {
  Evidence evidence;
  take(audited({"driver"}, {}), 12, evidence["n1"]);
  const auto proven = answer(list_of(kDriver), evidence).rows.front();
  take(audited({"connectx"}, {}), 12, evidence["n2"]);
  const auto unread = answer(list_of(kDriver), evidence).rows.front();
  take(audited({"driver"}, {"driver", "driver"}), 13, evidence["n3"]);
  const auto below = answer(list_of(kDriver), evidence).rows.front();

  EXPECT_EQ(proven.status, Status::proven);
  EXPECT_EQ(proven.says, "1 of 1 nodes, run 12");
  EXPECT_EQ(unread.status, Status::not_run);
  EXPECT_EQ(unread.command, "cupel run audit --nodes n2");
  EXPECT_EQ(below.status, Status::not_met);
  EXPECT_THAT(below.failed, ElementsAre("n3"));
}

TEST(ComplianceAnswers, TheNewestAuditsFloorCounts) {
  Evidence evidence;
  take(audited({"driver"}, {}), 13, evidence["n1"]);
  take(audited({"driver"}, {"driver"}), 12, evidence["n1"]);

  EXPECT_EQ(answer(list_of(kDriver), evidence).rows.front().status, Status::proven);
}

TEST(ComplianceAnswers, AnOlderAuditProvesNothingOfWhatTheNewestDidNotRead) {
  Evidence evidence;
  take(audited({"connectx"}, {}), 13, evidence["n1"]);
  take(audited({"driver"}, {}), 12, evidence["n1"]);

  EXPECT_EQ(answer(list_of(kDriver), evidence).rows.front().status, Status::not_run);
}

TEST(ComplianceLists, RefuseAFloorOfWhatNoRunReads) {
  const auto all = problems_of(R"(list: l
title: T
source: s
date: "2026-01-01"
rows:
  - {id: A, asks: a, floor: [docker], playbook: audit}
  - {id: B, asks: a, floor: [driver]}
)");

  EXPECT_THAT(all, AllOf(HasSubstr("l.yaml:6:29: runs read no version of 'docker' to hold against "
                                   "the security floor"),
                         HasSubstr("l.yaml:7:5: measures, stages and floor need playbook")));
}

TEST(ComplianceAnswers, WhatNoRunMeasuredIsNotRunAndNeverProven) {
  Evidence evidence;
  evidence["n1"];
  auto missing = checked("gemm.errors", 0, burnin::Met::missing);
  missing.quantity.value.reset();
  take(record_with({missing}), 12, evidence["n2"]);
  take(record_with({checked("gemm.errors", 0, burnin::Met::met)}), 12, evidence["n3"]);

  const auto row = answer(list_of(kGemm), evidence).rows.front();
  const auto none = answer(list_of(kGemm), {}).rows.front();

  EXPECT_EQ(row.status, Status::not_run);
  EXPECT_THAT(row.unmeasured, ElementsAre("n1", "n2"));
  EXPECT_EQ(row.command, "cupel run new-rack --nodes n[1-2]");
  EXPECT_EQ(none.status, Status::not_run) << "no node at all proves nothing";
}

TEST(ComplianceAnswers, TheNewestRunDecides) {
  NodeEvidence repaired;
  take(record_with({checked("gemm.errors", 0, burnin::Met::met)}), 14, repaired);
  take(record_with({checked("gemm.errors", 4, burnin::Met::failed)}), 12, repaired);

  const auto row = answer(list_of(kGemm), {{"n1", repaired}}).rows.front();

  EXPECT_EQ(row.status, Status::proven);
  EXPECT_THAT(row.runs, ElementsAre(14));
}

TEST(ComplianceAnswers, AStageIsShownWhereItWasDoneAndNoFailureIsItsOwn) {
  const auto list = list_of("  - {id: A, asks: a, stages: [fabric-pairs], playbook: fabric}\n");
  record::NodeRecord done, failed, skipped, to_blame;
  done.steps = {{.name = "fabric-pairs", .outcome = "done"}};
  done.verdict.emplace();
  failed.steps = {{.name = "fabric-pairs", .outcome = "failed"}};
  skipped.steps = {{.name = "fabric-pairs", .outcome = "skipped"}};
  to_blame = done;
  to_blame.verdict->causes = {{.decision = burnin::Decision::fail, .stages = {"fabric-pairs"}}};
  const auto status_of = [&](const record::NodeRecord& record) {
    Evidence evidence;
    take(record, 3, evidence["n1"]);
    return answer(list, evidence).rows.front().status;
  };

  EXPECT_EQ(status_of(done), Status::proven);
  EXPECT_EQ(status_of(failed), Status::not_met);
  EXPECT_EQ(status_of(skipped), Status::not_run);
  EXPECT_EQ(status_of(to_blame), Status::not_met);
  auto again = done, unjudged = done;
  again.steps.push_back({.name = "fabric-pairs@late", .outcome = "failed"});
  unjudged.verdict.reset();
  EXPECT_EQ(status_of(again), Status::not_met) << "a stage that was repeated passed each time";
  EXPECT_EQ(status_of(unjudged), Status::not_met) << "a run that ended before its verdict";
}

TEST(ComplianceAnswers, RowsWithoutAMeasureSayWhatToLookAtOrWhyNot) {
  const auto answers = answer(list_of("  - {id: A, asks: a, command: cupel status}\n"
                                      "  - {id: B, asks: b, not_here: nothing reads it}\n"),
                              {{"n1", {}}});

  EXPECT_EQ(answers.rows[0].status, Status::not_run);
  EXPECT_EQ(answers.rows[0].command, "cupel status");
  EXPECT_EQ(answers.rows[1].status, Status::not_here);
  EXPECT_EQ(answers.rows[1].says, "nothing reads it");
}

TEST(CompliancePages, HaveEveryRowAndNoMarkupOfMachines) {
  Answers answers{.list = "l", .title = "T", .site = "<b>", .nodes = 1};
  answers.rows = {{.id = "A",
                   .asks = "a|b",
                   .status = Status::not_met,
                   .says = "<script>alert(1)</script> [x](http://y)\x1b[2J",
                   .command = "cupel run x"}};

  const auto html = to_html(answers, "2026-11-30");
  const auto markdown = to_markdown(answers);
  const auto text = to_text(answers);

  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("<b>&")), HasSubstr("not met"),
                          HasSubstr("cupel run x")));
  EXPECT_THAT(markdown,
              AllOf(HasSubstr("a\\|b"), Not(HasSubstr("<script>")), Not(HasSubstr("[x](http"))));
  EXPECT_THAT(text, AllOf(HasSubstr("not met"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(to_json(answers).at("counts").at("not met"), 1);
}

}  // namespace
}  // namespace cupel::compliance
