// What is behind a cause is the same wherever it is asked for: in the run's own report, in the
// API's list of verdicts, in the verdict that is made again of the record.
#include <boost/json.hpp>

#include "inventory/model.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/report/node_json.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/report/verdict_json.h"
#include "orchestrator/steps/recompute.h"
#include "orchestrator/steps/verdict.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using engine::EventKind;
using ::testing::ElementsAre;

/// Xid 79 of gpu3, which is the fault of its slot where PCIe errors came first.
class Diagnosis : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    inventory::Criterion criterion{.stage = "kernel-log", .measure = "kernel.xid"};
    criterion.parts = {"gpu3"};
    criterion.at_most = 0;
    inventory_.profiles["p"] = {.name = "p", .criteria = {criterion}};
    const auto steps = std::make_shared<std::vector<playbooks::PlannedStep>>(3);
    (*steps)[0] = {.kind = playbooks::StepKind::stage, .name = "kernel-log"};
    (*steps)[1] = {.kind = playbooks::StepKind::verdict, .name = "verdict"};
    (*steps)[2] = {.kind = playbooks::StepKind::stage, .name = "kernel-log@after"};
    (*steps)[1].with = {{"fleet", "no"}, {"history", "no"}};
    store::Run run;
    run.playbook = "small";
    for (const auto* name : {"a01-n01", "a01-n02", "a01-n03"}) {
      auto& node = inventory_.nodes.emplace_back();
      node.name = name;
      node.profile = "p";
      run.nodes.push_back(name);
    }
    for (const auto& node : inventory_.nodes) plan_.nodes.push_back({&node, steps});
    run_ = store().begin_run(run).value();
    json::array nodes;
    for (const auto& name : run.nodes)
      nodes.push_back({{"name", name}, {"profile", "p"}, {"rack", "a01"}, {"unit", 1}});
    end({}, {}, {{"site", "here"}, {"nodes", std::move(nodes)}}, EventKind::run_started);
  }

  void end(const std::string& node, const std::string& step, json::object data,
           EventKind kind = EventKind::step_ended) {
    if (kind == EventKind::step_ended) {
      append(run_, EventKind::step_began, node, step, R"({"attempt":1})");
      data["outcome"] = "done";
    }
    append(run_, kind, node, step, json::serialize(data));
  }

  /// What the kernel reported: PCIe errors of gpu3 at `errors` seconds, its Xid 79 at 12.
  void read_log(const std::string& node, const std::string& step, double errors) {
    burnin::Findings findings;
    findings.measurements = {{"kernel.xid", "gpu3", 79, ""},
                             {"first.kernel.aer.corrected", "gpu3", errors, "s"},
                             {"first.kernel.xid.79", "gpu3", 12, "s"}};
    end(node, step, record::to_json(findings));
  }

  void judge(const std::string& node) {
    const auto record = record::node_record(store(), run_, node);
    ASSERT_TRUE(record) << record.error().what;
    end(node, "verdict", record::to_json(steps::decide(inventory_.profiles.at("p"), *record)));
  }

  /// The causes of each node, in the order of nodes.
  std::vector<json::array> of_report() {
    std::vector<json::array> all;
    const auto summary = report::summarize(store(), run_);
    EXPECT_TRUE(summary) << summary.error().what;
    for (const auto& node : summary->nodes)
      all.push_back(report::node_json(node, run_).at("causes").as_array());
    return all;
  }
  std::vector<json::array> of_api() {
    std::vector<json::array> all;
    const auto heard = get("/api/v1/runs/" + std::to_string(run_) + "/verdicts");
    EXPECT_EQ(heard.status, 200) << heard.body;
    for (const auto& each : heard.json().at("items").as_array())
      all.push_back(each.at("causes").as_array());
    return all;
  }
  std::vector<json::array> of_recompute() {
    std::vector<json::array> all;
    const auto made = steps::recompute(store(), inventory_, plan_, {.run = run_});
    EXPECT_TRUE(made) << made.error().what;
    for (const auto& each : *made) {
      EXPECT_TRUE(each.is_same()) << each.node;
      // As it is printed and read: a number may change its kind on the way.
      const auto causes = report::to_json(each.now.causes, each.findings);
      all.push_back(parse_json(json::serialize(causes)).value().as_array());
    }
    return all;
  }

  static std::vector<std::string> names(const std::vector<json::array>& nodes) {
    std::vector<std::string> found;
    for (const auto& causes : nodes)
      found.push_back(*text_at(causes.at(0).at("diagnosis"), "name"));
    return found;
  }

  inventory::Inventory inventory_{};
  playbooks::Plan plan_{};
  engine::RunId run_ = 0;
};

std::vector<json::array> as_read(const std::vector<json::array>& nodes) {
  std::vector<json::array> all;
  for (const auto& each : nodes)
    all.push_back(parse_json(json::serialize(each)).value().as_array());
  return all;
}

TEST_F(Diagnosis, IsTheSameInTheReportTheApiAndTheVerdictMadeAgain) {
  read_log("a01-n01", "kernel-log", 10);
  read_log("a01-n02", "kernel-log", 14);
  burnin::Findings without_times;
  without_times.measurements = {{"kernel.xid", "gpu3", 79, ""}};
  end("a01-n03", "kernel-log", record::to_json(without_times));
  for (const auto& node : inventory_.nodes) judge(node.name);
  read_log("a01-n03", "kernel-log@after", 10);
  serve();

  const auto report = as_read(of_report());

  EXPECT_THAT(names(report), ElementsAre("gpu-off-bus-after-link-errors", "gpu-off-bus",
                                         "gpu-off-bus-after-link-errors"));
  EXPECT_EQ(of_api(), report);
  EXPECT_EQ(of_recompute(), report);
}

}  // namespace
}  // namespace cupel::test
