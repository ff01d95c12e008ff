// What a journal folds to without the plan of its run, and what the views of it say.
#include "orchestrator/engine/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/node.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/leftovers.h"
#include "orchestrator/report/run_progress.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

using enum EventKind;
using Phase = StepState::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Event event(EventKind kind, std::string node = {}, std::string step = {},
            boost::json::object data = {}) {
  Event one;
  one.kind = kind;
  one.node = std::move(node);
  one.step = std::move(step);
  one.data = std::move(data);
  one.time = WallTime{std::chrono::seconds{1}};
  return one;
}

Event at(int seconds, Event one) {
  one.time = WallTime{std::chrono::seconds{seconds}};
  return one;
}

Event ended(const std::string& step, const std::string& outcome = "done",
            boost::json::object data = {}) {
  data["outcome"] = outcome;
  return event(step_ended, "n1", step, std::move(data));
}

record::NodeRecord record(const std::vector<Event>& events, const std::string& node = "n1") {
  return record::record_of(node, fold(events));
}

std::vector<std::string> outcomes(const record::NodeRecord& record) {
  std::vector<std::string> all;
  for (const auto& step : record.steps) all.push_back(step.name + " " + step.outcome);
  return all;
}

TEST(Fold, WithoutAPlanMakesOfTheSameEventsTheSameStatesAsWithOne) {
  inventory::Node node;
  node.name = "n1";
  std::vector<playbooks::PlannedStep> steps(3);
  steps[0].name = "power-on";
  steps[1].name = "gpu-burn";
  steps[2].name = "verdict";
  playbooks::Plan plan;
  plan.nodes.push_back(
      {&node, std::make_shared<const std::vector<playbooks::PlannedStep>>(std::move(steps))});
  const std::vector<Event> events{
      event(run_started),
      event(step_began, "n1", "power-on"),
      event(step_retried, "n1", "power-on", {{"why", "no answer"}, {"until", 9000}}),
      event(step_began, "n1", "power-on"),
      ended("power-on"),
      event(step_began, "n1", "gpu-burn"),
      event(step_started, "n1", "gpu-burn", {{"handle", "burn.1"}}),
      event(step_overdue, "n1", "gpu-burn"),
      event(step_shed, "n1", "gpu-burn", {{"why", "watts"}}),
      event(step_began, "n1", "gpu-burn"),
      ended("gpu-burn", "failed"),
      event(step_skipped, "n1", "verdict", {{"why", "'gpu-burn' failed"}}),
      event(node_retried, "n1", "", {{"from", "gpu-burn"}, {"command", 7}}),
      event(step_began, "n1", "gpu-burn")};

  auto planned = initial_state(plan);
  for (const auto& each : events) apply(planned, each);
  const auto folded = fold(events).state;

  EXPECT_EQ(folded, planned);
}

TEST(Fold, ApprovesTheApprovalsOfEachNodeThatTheRunNames) {
  const std::vector<Event> events{event(run_started, "", "",
                                        {{"nodes", {{{"name", "n1"}}, {{"name", "n2"}}}},
                                         {"steps", {"power-on", "approval", "approval-2"}}}),
                                  event(step_began, "n1", "power-on"),
                                  event(step_approved, "", "", {{"by", "ada"}})};

  EXPECT_THAT(outcomes(record(events)),
              ElementsAre("power-on ", "approval done", "approval-2 done"));
  EXPECT_THAT(outcomes(record(events, "n2")), ElementsAre("approval done", "approval-2 done"));
}

TEST(Fold, ChangesNothingByACommandThatWasRefused) {
  const std::vector<Event> events{
      ended("power-on", "failed"),
      event(node_retried, "n1", "", {{"from", "power-on"}, {"refused", "the run is over"}}),
      event(step_skipped, "n1", "nothing", {{"refused", "no step"}})};

  EXPECT_THAT(outcomes(record(events)), ElementsAre("power-on failed"));
}

TEST(Fold, AcceptsAJournalThatBeginsAStepAgainWhichWasOver) {
  const std::vector<Event> events{ended("verdict"), event(step_began, "n1", "verdict"),
                                  ended("verdict", "failed")};

  EXPECT_THAT(outcomes(record(events)), ElementsAre("verdict failed"));
}

TEST(NodeRecordView, HasStepsThatAreDoneAgainAsNotOverUntilTheyAre) {
  const std::vector events{ended("burn"), ended("audit"),
                           ended("verdict", "done", {{"again", boost::json::array{"burn"}}})};

  EXPECT_THAT(outcomes(record(events)), ElementsAre("burn ", "audit done", "verdict "));
}

TEST(NodeRecordView, KeepsWhatWasFoundAndWhenTheStepWasFirstMetOverARetry) {
  const std::vector<Event> events{
      at(5, event(step_began, "n1", "gpu-facts")),
      at(7, ended("gpu-facts", "failed", {{"slurm", "drained"}, {"error", "timeout"}})),
      at(8, event(node_retried, "n1", "", {{"from", "gpu-facts"}, {"by", kByItself}})),
      at(9, event(step_began, "n1", "gpu-facts"))};

  const auto reported = record(events);

  ASSERT_EQ(reported.steps.size(), 1u);
  EXPECT_EQ(reported.steps[0].outcome, "");
  EXPECT_EQ(reported.steps[0].error, "");
  EXPECT_EQ(reported.steps[0].attempts, 2);
  EXPECT_EQ(reported.steps[0].revivals, 1);
  EXPECT_EQ(reported.steps[0].began, WallTime{std::chrono::seconds{5}});
  EXPECT_EQ(reported.hand_off, "drained");
}

TEST(NodeRecordView, TakesTheReasonOfAFailureFromTheEventThatEndedTheStep) {
  const std::vector<Event> events{
      ended("stage", "needs operator",
            {{"error", "timeout"},
             {"hung", true},
             {"hands", {{{"action", "reseat the GPU"}, {"part", "gpu3"}, {"goes_on", true}}}}})};

  const auto reported = record(events);

  ASSERT_EQ(reported.steps.size(), 1u);
  EXPECT_EQ(reported.steps[0].error, "timeout");
  EXPECT_TRUE(reported.steps[0].hung);
  EXPECT_THAT(reported.steps[0].needs, ElementsAre(record::Needed{"reseat the GPU", "gpu3", true}));
}

boost::json::object log_of(const std::string& name, int value, const std::string& evidence) {
  boost::json::object found{
      {"measurements", {{{"name", name}, {"value", value}, {"unit", "count"}, {"part", "CPU12"}}}},
      {"evidence", evidence}};
  return {{"kernel_log", std::move(found)}};
}

Event tried_again(std::string_view by) {
  return event(node_retried, "n1", "", {{"from", "psu"}, {"by", by}});
}

double number_in(const record::NodeRecord& record, const std::string& stage) {
  const auto found = record.findings.find(stage);
  return found == record.findings.end() ? -1 : found->second.measurements.at(0).value;
}

TEST(NodeRecordView, KeepsWhatALogGainedBeforeTheControllerTriedAgain) {
  const auto node =
      record({ended("psu", "needs operator"), ended("watch", "done", log_of("kernel.mce", 1, "e1")),
              tried_again(kByItself), ended("psu"),
              ended("watch", "done", log_of("kernel.mce", 0, "e2"))});

  EXPECT_EQ(number_in(node, "kernel-log@watch"), 0);
  EXPECT_EQ(number_in(node, "kernel-log@watch@before-retry"), 1);
  EXPECT_EQ(node.evidence.at("kernel-log@watch@before-retry"), "e1");
  EXPECT_EQ(node.evidence.at("kernel-log@watch"), "e2");
}

TEST(NodeRecordView, KeepsEachReadingOfALogThatGainedSomethingAndNoOther) {
  const auto node = record(
      {ended("watch", "done", log_of("kernel.mce", 1, "e1")), tried_again(kByItself),
       ended("watch", "done", log_of("kernel.mce", 0, "e2")), tried_again(kByItself),
       ended("watch", "done", log_of("kernel.aer.corrected", 3, "e3")), tried_again(kByItself),
       ended("watch", "done", log_of("kernel_log.complete", 1, "e4")), tried_again(kByItself),
       ended("watch", "done", log_of("kernel_log.complete", 1, "e5"))});

  EXPECT_EQ(number_in(node, "kernel-log@watch@before-retry"), 1);
  EXPECT_EQ(number_in(node, "kernel-log@watch@before-retry-2"), 3);
  EXPECT_EQ(node.findings.size(), 3u);
}

TEST(NodeRecordView, KeepsTheBmcsLogThatAStepOfItsOwnReads) {
  const boost::json::object gained{
      {"measurements", {{{"name", "sel.new.critical"}, {"value", 1}, {"unit", "count"}}}}};
  const boost::json::object quiet{
      {"measurements", {{{"name", "sel.new.critical"}, {"value", 0}, {"unit", "count"}}}}};

  const auto node =
      record({ended("sel", "done", gained), tried_again(kByItself), ended("sel", "done", quiet)});

  EXPECT_EQ(number_in(node, "sel"), 0);
  EXPECT_EQ(number_in(node, "sel@before-retry"), 1);
}

TEST(NodeRecordView, ForgetsWhatALogGainedWhenAPersonHasTheNodeTriedAgain) {
  const auto node =
      record({ended("watch", "done", log_of("kernel.mce", 1, "e1")), tried_again(kByItself),
              ended("watch", "done", log_of("kernel.mce", 2, "e2")), tried_again("alice"),
              ended("watch", "done", log_of("kernel.mce", 0, "e3"))});

  EXPECT_EQ(number_in(node, "kernel-log@watch"), 0);
  EXPECT_EQ(node.findings.size(), 1u);
  EXPECT_EQ(node.evidence.size(), 1u);
}

TEST(StandingView, CountsAStepThatWasShedAsBetweenTriesAndAStoppedOneNot) {
  const std::vector<Event> events{
      event(step_began, "n1", "gpu-burn"), event(step_shed, "n1", "gpu-burn"),
      event(step_began, "n2", "gpu-burn"), event(step_stopped, "n2", "gpu-burn")};

  const auto standing = report::progress_of(1, events, WallTime{});

  EXPECT_EQ(standing.between_tries, 1u);
  EXPECT_THAT(standing.running, IsEmpty());
}

TEST(StandingView, CountsAnOverdueStepFromItsLastTry) {
  const std::vector<Event> events{
      at(1, event(step_began, "n1", "power-on")), at(2, event(step_retried, "n1", "power-on")),
      at(10, event(step_began, "n1", "power-on")), at(20, event(step_overdue, "n1", "power-on"))};

  const auto standing = report::progress_of(1, events, WallTime{std::chrono::seconds{25}});

  ASSERT_EQ(standing.overdue.size(), 1u);
  EXPECT_EQ(standing.overdue[0].running, std::chrono::seconds{15});
}

TEST(LeftBehindView, NamesNodesWithAJobUntilTheStepIsOver) {
  std::vector<Event> events{event(step_began, "n1", "gpu-burn"),
                            event(step_started, "n1", "gpu-burn", {{"handle", "burn.1"}}),
                            event(step_retried, "n1", "gpu-burn")};

  EXPECT_THAT(report::leftovers(events).at_work, ElementsAre("n1"));

  events.push_back(event(step_stopped, "n1", "gpu-burn"));

  EXPECT_FALSE(report::leftovers(events).anything());
}

TEST(LeftBehindView, NamesNodesThatAreChangedUntilTheUndoingStageIsDone) {
  const auto change = [](std::vector<Event>& events) {
    events.push_back(event(step_began, "n1", "settings"));
    events.push_back(event(step_started, "n1", "settings", {{"handle", "settings.1"}}));
    events.push_back(ended("settings"));
  };
  std::vector<Event> events;
  change(events);
  events.push_back(ended("settings-restore", "failed"));

  EXPECT_THAT(report::leftovers(events).set, ElementsAre("n1"));

  events.push_back(event(node_retried, "n1", "", {{"from", "settings"}}));
  events.push_back(ended("settings-restore"));

  EXPECT_THAT(report::leftovers(events).set, IsEmpty());

  change(events);

  EXPECT_THAT(report::leftovers(events).set, ElementsAre("n1")) << "it was changed again";
}

}  // namespace
}  // namespace cupel::engine
