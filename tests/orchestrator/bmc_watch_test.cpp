// What is read of the BMC around a stage and while it runs, with stages on a real sshd, and what
// the verdict makes of it.
#include "orchestrator/steps/bmc_watch.h"

#include <gmock/gmock.h>

#include "burnin/verdict_text.h"
#include "inventory/model.h"
#include "orchestrator/steps/verdict.h"
#include "playbooks/step_kind.h"
#include "tests/burnin/host_texts.h"
#include "tests/orchestrator/watch_fixture.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using engine::Event;
using engine::EventKind;
using engine::StepEnd;
using ::testing::HasSubstr;

class BmcWatch : public StagesOnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    begin(dgx());
    machine.log = bmc::EventLog{.entries = {{.id = "1", .severity = "Critical", .message = "old"}}};
  }

  void log(bmc::LogEntry entry) { machine.log->entries.push_back(std::move(entry)); }
  std::optional<double> critical(const std::string& step, const std::string& part) const {
    const auto reported = record();
    const auto found = reported.findings.find(step);
    if (found == reported.findings.end()) return std::nullopt;
    for (const auto& each : found->second.measurements)
      if (each.name == "sel.new.critical" && each.part == part) return each.value;
    return std::nullopt;
  }
};

TEST_F(BmcWatch, TellsWhatTheLogSaidDuringAStageAndNamesItsPart) {
  const auto end = stage("disk", "echo x", [this] {
    log({.id = "2", .severity = "Critical", .message = "psu4: input power is lost."});
  });

  EXPECT_THAT(end.detail, HasSubstr("new in the BMC's log: Critical: psu4: input power is lost."));
  EXPECT_EQ(critical("sel@disk", "psu4"), 1);
  EXPECT_EQ(critical("sel@disk", ""), 0) << "what was there before is not new";
  const auto verdict = decide(dgx(), record());
  EXPECT_EQ(verdict.decision, burnin::Decision::fail);
  const auto named = std::ranges::find(verdict.causes, "psu4", &burnin::Cause::part);
  ASSERT_NE(named, verdict.causes.end());
  EXPECT_EQ(named->criterion, "sel.new.critical");
  EXPECT_FALSE(named->evidence.empty());
}

TEST_F(BmcWatch, CountsFromTheStageBeforeSoThatNothingFallsBetweenTwo) {
  stage("sel@first", "sleep 0");
  log({.id = "2", .severity = "Critical", .message = "Fan 3 does not turn"});

  stage("sel@second", "sleep 0");
  stage("sel@third", "sleep 0");

  EXPECT_EQ(critical("sel@first", "fan3"), std::nullopt);
  EXPECT_EQ(critical("sel@second", "fan3"), 1);
  EXPECT_EQ(critical("sel@third", "fan3"), std::nullopt);
  EXPECT_EQ(critical("sel@third", ""), 0);
  EXPECT_EQ(std::ranges::count(machine.asked, "log"), 4)
      << "once before the first, once after each";
}

TEST_F(BmcWatch, ASecondLookAtThePartsLeavesWhatTheLogSaysToTheStages) {
  machine.identity = bmc::Identity{};
  planned.kind = playbooks::StepKind::bmc_facts;
  stage("bmc-facts", "");
  log({.id = "2", .severity = "Critical", .message = "Fan 3 does not turn"});

  stage("bmc-facts@after", "");
  planned.kind = playbooks::StepKind::stage;
  stage("sel@late", "sleep 0");

  EXPECT_EQ(critical("sel@late", "fan3"), 1);
}

/// A run that the journal knows nothing of: only the board can tell what was read before.
TEST_F(BmcWatch, NeedNotLookIntoTheJournalForAMarkThatStandsThere) {
  const auto first = stage("sel@first", "sleep 0");
  const auto early = board->logs.at(node.name).mark;
  const auto tell = [](std::function<Task<void>()> act) -> Task<bool> {
    co_await act();
    co_return true;
  };
  EXPECT_TRUE(run_to_end(io, tell(first.when_written)));
  log({.id = "2", .severity = "Critical", .message = "Fan 3 does not turn"});
  run = store->begin_run({.playbook = "p", .nodes = {"another"}}).value();

  stage("sel@second", "sleep 0");

  EXPECT_EQ(early, std::nullopt) << "it may still be lost";
  EXPECT_EQ(critical("sel@second", "fan3"), 1);
  EXPECT_EQ(std::ranges::count(machine.asked, "log"), 3);
}

bmc::Sensors air(double celsius) {
  bmc::Sensors reported;
  reported.sensors.push_back(
      {.kind = bmc::SensorKind::temperature, .name = "TEMP_AMBIENT", .value = celsius});
  reported.sensors.push_back(
      {.kind = bmc::SensorKind::temperature, .name = "PSU0 inlet", .value = 12});
  return reported;
}

TEST_F(BmcWatch, HoldsTheAirOfASoakAgainstItsNearestNeighbours) {
  const auto place = [this](inventory::Node& each, std::string name, std::string rack, int unit) {
    each.name = std::move(name), each.rack = std::move(rack), each.unit = unit;
    inventory.nodes.push_back(each);
  };
  inventory::Node other;
  for (const int unit : {20, 9, 17, 13, 5}) place(other, "n" + std::to_string(unit), "a01", unit);
  place(other, "b", "b01", 1);
  place(node, "a01-n01", "a01", 1);
  for (const auto& each : inventory.nodes) others[each.name].sensors = air(23);
  others["a01-n01"].sensors = air(34.5);
  others["a01-n01"].log = machine.log;
  others["n9"].fails.emplace("sensors", Error{Code::kTimeout, "no answer in 60 s"});

  stage("thermal", "cat <<'EOT'\n" + burnin::thermal_text() + "EOT\n");
  stage("thermal@again", "cat <<'EOT'\n" + burnin::thermal_text() + "EOT\n");

  const auto verdict = decide(dgx(), record());
  const auto named = std::ranges::find(verdict.causes, "inlet air", &burnin::Cause::part);
  ASSERT_NE(named, verdict.causes.end());
  EXPECT_EQ(named->criterion, "thermal.inlet.above_neighbours");
  EXPECT_EQ(named->quantity.value, 11.5);
  EXPECT_EQ(named->quantity.unit, "C");
  EXPECT_EQ(record().facts.at("thermal.inlet.neighbours"), "n5 23.0 C, n13 23.0 C, n17 23.0 C");
  const auto asked = [&](const char* which) {
    return std::ranges::count(others.at(which).asked, "sensors");
  };
  EXPECT_EQ(asked("a01-n01"), 2);
  EXPECT_EQ(asked("n5"), 1) << "what it said a moment ago still holds";
  EXPECT_EQ(asked("n9"), 2);
  EXPECT_EQ(asked("n20"), 0) << "four are enough";
  EXPECT_EQ(asked("b"), 0);
}

TEST_F(BmcWatch, OfABmcThatIsSilentForAWhileFindsOutLater) {
  stage("sel@first", "sleep 0");
  machine.fails.emplace("log", Error{Code::kTimeout, "no answer in 90 s"});
  log({.id = "2", .severity = "Critical", .message = "Fan 3 does not turn"});
  stage("sel@silent", "sleep 0");
  const auto silent = decide(dgx(), record());
  machine.fails.clear();

  stage("sel@later", "sleep 0");

  EXPECT_EQ(silent.decision, burnin::Decision::inconclusive);
  EXPECT_THAT(burnin::to_string(silent.causes.front()), HasSubstr("no answer in 90 s"));
  EXPECT_EQ(critical("sel@silent", ""), std::nullopt);
  EXPECT_EQ(critical("sel@later", "fan3"), 1);
}

TEST_F(BmcWatch, OfALogThatWasNotReadToItsEndProvesNothing) {
  stage("sel@first", "sleep 0");
  machine.log->newest_missing = true;
  machine.log->unknown = {{"the newest entries of log SEL", "/SEL/Entries", "400 pages"}};

  stage("sel@cut", "sleep 0");

  const auto verdict = decide(dgx(), record());
  EXPECT_EQ(verdict.decision, burnin::Decision::inconclusive);
  EXPECT_THAT(burnin::to_string(verdict.causes.front()), HasSubstr("400 pages"));
  EXPECT_EQ(critical("sel@cut", ""), std::nullopt);
}

TEST_F(BmcWatch, AsksNothingWhereTheProfileWouldJudgeNothing) {
  auto& criteria = inventory.profiles.at("dgx-h100").criteria;
  std::erase_if(criteria, [](const auto& each) { return each.stage == "sel"; });

  stage("disk", "echo x");

  EXPECT_TRUE(machine.asked.empty());
}

/// A node that goes on to the next phase when it is asked, as the stage psu's own script does.
std::string paced(std::initializer_list<const char*> phases) {
  std::string script =
      "paced() { for i in $(seq 150); do echo \"cupel-phase: $1 $i\"; sleep 0.2; "
      "if [ \"$(cat \"$CUPEL_JOB/word\" 2>/dev/null)\" = $1 ]; then return; fi; done; exit 9; }\n";
  for (const auto* phase : phases) script += std::string{"paced "} + phase + "\n";
  return script + "echo 'cupel-phase: over 0'\n";
}

/// What a supply gives follows the phase that the node said last.
TEST_F(BmcWatch, ReadsTheSuppliesInThePhasesOfWhichTheNodeSpeaksAndLetsEachEnd) {
  bmc::Sensors sensors;
  for (int i = 0; i < 2; ++i)
    sensors.sensors.push_back({.kind = bmc::SensorKind::power,
                               .name = "PSU" + std::to_string(i) + " output",
                               .value = 400,
                               .unit = "W",
                               .health = "OK"});
  machine.sensors = sensors;

  const auto end = stage("psu", paced({"idle", "full"}));

  ASSERT_EQ(end.outcome, engine::Outcome::done) << end.detail;
  const auto reported = record();
  std::map<std::string, double> values;
  for (const auto& each : reported.findings.at("psu").measurements)
    values[each.name + " " + each.part] = each.value;
  EXPECT_EQ(values.at("psu.power.step "), 0);
  EXPECT_EQ(values.at("psu.share.spread "), 0);
  EXPECT_GE(values.at("psu.readings "), 4);
  EXPECT_EQ(values.at("psu.lost psu1"), 0);
}

TEST_F(BmcWatch, OfSuppliesThatTheBmcDoesNotTellProvesNothing) {
  machine.fails.emplace("sensors", Error{Code::kUnsupported, "no sensors"});

  const auto end = stage("psu", paced({"idle"}));

  EXPECT_EQ(end.outcome, engine::Outcome::reject);
  EXPECT_THAT(end.detail, HasSubstr("no sensors"));
}

TEST_F(BmcWatch, AsksTheNodeForSettingsWhereTheRunItselfSetsNone) {
  const auto end = stage("settings-restore", "echo 'cupel-record: none'");

  EXPECT_EQ(end.detail, "3 measurements");
  ASSERT_EQ(decide(dgx(), record()).decision, burnin::Decision::pass);
}

TEST_F(BmcWatch, ProvesNothingWhereTheNodeHasLostTheRecordOfWhatWasSet) {
  stage("settings",
        "echo 'cupel-setting|governor|governor|powersave|performance|performance|'; "
        "echo 'cupel-setting|gpu.ecc|gpu0|Enabled|Disabled|Disabled|'");

  const auto end = stage("settings-restore", "echo 'cupel-record: none'");

  EXPECT_EQ(end.outcome, engine::Outcome::reject);
  EXPECT_THAT(end.detail, HasSubstr("2 settings were made, and the node's record"));
  EXPECT_EQ(decide(dgx(), record()).decision, burnin::Decision::inconclusive);
}

TEST_F(BmcWatch, PutsNothingBackWhereNothingWasSet) {
  Event skipped{.kind = EventKind::step_skipped, .node = node.name, .step = "settings"};
  skipped.data = {{"why", "gpu.count is 0"}, {"because", "condition"}};
  ASSERT_TRUE(store->append(run, skipped));

  const auto end = stage("settings-restore", "echo 'cupel-record: none'");

  EXPECT_EQ(end.detail, "nothing was set in this run");
  ASSERT_EQ(decide(dgx(), record()).decision, burnin::Decision::pass);
}

}  // namespace
}  // namespace cupel::steps
