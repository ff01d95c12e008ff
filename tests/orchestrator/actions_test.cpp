// What needs a person, in the order in which one walks past it; and how a run stands.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <sstream>

#include "burnin/consequences.h"
#include "orchestrator/report/action_groups.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/step_counts.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NodeSummary node(std::string name, std::string rack, int unit) {
  NodeSummary one;
  one.record.node = std::move(name);
  one.position = {std::move(rack), unit, 8};
  return one;
}

record::StepRecord step(std::string name, std::string outcome, std::string error = {},
                        std::string detail = {}) {
  record::StepRecord one{std::move(name)};
  one.outcome = std::move(outcome);
  one.error = std::move(error);
  one.detail = std::move(detail);
  return one;
}

TEST(Actions, AreSortedSoThatAPersonWalksOnceFromTheBottomUp) {
  RunSummary run;
  run.run.id = 12;
  for (const auto& [name, rack, unit] :
       {std::tuple{"n1", "a02", 9}, {"n2", "a01", 17}, {"n3", "a02", 1}, {"n4", "a01", 1}}) {
    run.nodes.push_back(node(name, rack, unit));
    run.nodes.back().record.steps = {step("power-on", "needs operator", "", "plug in feed B")};
  }

  const auto actions = actions_of(run, {});

  std::vector<std::string> order;
  for (const auto& item : actions) order.push_back(item.node);
  EXPECT_THAT(order, ElementsAre("n4", "n2", "n3", "n1"));
  EXPECT_EQ(actions[0].action, "plug in feed B");
  EXPECT_TRUE(actions[0].goes_on);
}

TEST(Actions, FitTheTerminalAndCutNoCommandInTwo) {
  RunSummary run;
  run.run.id = 12;
  run.nodes.push_back(node("a01-n07", "a01", 49));
  auto audit =
      step("audit", "needs operator", "", std::string(30, 'x') + " " + std::string(60, 'y'));
  audit.needs = {
      {"reseat the DIMM; replace it if it stays away or is of the wrong kind", "dimm A7"}};
  run.nodes[0].record.steps = {audit};

  const auto text = to_text(actions_of(run, {}), {.width = 80});

  std::istringstream lines{text};
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "where    node     part     what to do");
  std::getline(lines, line);
  EXPECT_EQ(line,
            "a01 U49  a01-n07  dimm A7  reseat the DIMM; replace it if it stays away or is of");
  std::getline(lines, line);
  EXPECT_EQ(line, "                           the wrong kind");
  std::getline(lines, line);
  EXPECT_EQ(line, "                           audit: " + std::string(30, 'x'));
  std::getline(lines, line);
  EXPECT_EQ(line, "                           " + std::string(60, 'y'));
}

TEST(Actions, ShowThePlaybooksTextToTheApprover) {
  playbooks::PlannedStep approval;
  approval.kind = playbooks::StepKind::approval;
  approval.name = "approval";
  approval.with = {{"message", "look at the sensors first"}};
  engine::RunState state;
  state.nodes["n1"].planned = std::make_shared<const std::vector<playbooks::PlannedStep>>(
      std::vector<playbooks::PlannedStep>{approval});
  state.nodes["n1"].steps.resize(1);
  RunSummary run;
  run.run.id = 12;

  const auto actions = actions_of(run, state);

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].why, "1 nodes wait for approval: look at the sensors first");
}

TEST(Actions, NameThePartAndItsRemedy) {
  RunSummary run;
  run.nodes.push_back(node("n1", "a01", 1));
  run.nodes[0].record.verdict.emplace();
  run.nodes[0].causes = {
      {burnin::Decision::fail, "gpu5", "audit: missing", "7", "8 gpus", "", "reseat gpu5"},
      {burnin::Decision::inconclusive, "gpu6", "ecc", "nothing", "", "", "x"}};

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].part, "gpu5");
  EXPECT_EQ(actions[0].action, "reseat gpu5");
  EXPECT_THAT(to_text(actions), HasSubstr("a01 U1"));
}

/// A retry that was accepted leaves the steps that it repeats without an outcome.
TEST(Actions, AreNoneForWhatARetryMeasuresAgain) {
  using enum burnin::Decision;
  RunSummary run;
  run.nodes.push_back(node("n1", "a01", 1));
  auto& one = run.nodes[0];
  one.record.verdict.emplace();
  burnin::Cause dimm{fail, "dimm A7", "audit: missing", "31", "32 dimms", "", "reseat the DIMM"};
  burnin::Cause gpu{fail, "gpu3", "gemm.rate", "1", "2", "", "replace the GPU"};
  gpu.stages = {"gemm", "kernel-log@gemm"};
  burnin::Cause link{fail, "gpu3", "p2p.rate", "1", "2", "", "reseat the GPU"};
  link.stages = {"p2p"};
  link.consequence_of = burnin::cause_name(gpu);
  one.causes = {dimm, gpu, link};
  one.record.steps = {step("audit", "done"), step("p2p", "done"), step("gemm", "done"),
                      step("verdict", "done")};
  const auto to_do = [&] {
    std::vector<std::string> all;
    for (const auto& item : actions_of(run, {})) all.push_back(item.action);
    return all;
  };
  ASSERT_THAT(to_do(), ElementsAre("reseat the DIMM", "replace the GPU"));

  one.record.steps[2].outcome = one.record.steps[3].outcome = "";
  EXPECT_THAT(to_do(), ElementsAre("reseat the DIMM"));

  one.causes = {gpu};
  one.causes[0].decision = inconclusive;
  one.record.verdict->decision = inconclusive;
  EXPECT_THAT(to_do(), IsEmpty());

  run.run.phase = engine::RunPhase::ended;
  EXPECT_THAT(to_do(), ElementsAre("replace the GPU")) << "nothing repeats it any more";
}

TEST(Actions, NameTheReasonAndNoPartOfANodeAboutWhichNothingWasFoundOut) {
  RunSummary run;
  run.run.id = 12;
  run.nodes.push_back(node("n1", "a01", 1));
  run.nodes[0].record.verdict = burnin::Verdict{.decision = burnin::Decision::inconclusive};
  burnin::Cause unread;
  unread.decision = burnin::Decision::inconclusive;
  unread.criterion = "stage node-facts";
  unread.measured = "did not read edac.uncorrected; memory errors: no EDAC driver";
  unread.remedy = "load the driver; then: cupel retry RUN NODE --from node-facts";
  auto other = unread;
  other.criterion = "step sel";
  other.remedy.clear();
  run.nodes[0].causes = {other, unread};

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].part, "");
  EXPECT_EQ(actions[0].action, "load the driver; then: cupel retry 12 n1 --from node-facts");
  EXPECT_THAT(actions[0].why, HasSubstr("stage node-facts did not read edac.uncorrected"));
  EXPECT_FALSE(actions[0].at_the_rack);
}

TEST(Actions, AskForAPartOnceTheVerdictHasNamedIt) {
  RunSummary run;
  run.nodes.push_back(node("n1", "a01", 1));
  auto audit = step("audit", "needs operator", "", "1 finding; psu missing");
  audit.needs = {{"find out which one; then check the cord", "psu", true}};
  run.nodes[0].record.steps = {audit};
  EXPECT_EQ(actions_of(run, {}).at(0).part, "psu");

  run.nodes[0].record.verdict.emplace();
  run.nodes[0].causes = {
      {burnin::Decision::fail, "psu0", "audit: missing", "5", "6 psus", "", "check the cord"}};
  const auto actions = actions_of(run, {});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].part, "psu0");
}

TEST(Actions, AtADeskComeFirstAndNeedNoWay) {
  RunSummary run;
  run.run.id = 12;
  run.nodes = {node("n1", "a01", 1), node("n2", "a01", 3)};
  run.nodes[0].record.steps = {step("bmc-facts", "failed", "unreachable", "no route")};
  run.nodes[1].record.steps = {step("bmc-facts", "failed", "untrusted", "another certificate")};
  engine::RunState state;
  state.halts["boot-once"] = "3 of 4 failed";

  const auto actions = actions_of(run, state);

  ASSERT_EQ(actions.size(), 3u);
  EXPECT_THAT(actions[0].action, HasSubstr("cupel continue 12 boot-once"));
  EXPECT_THAT(actions[1].action, HasSubstr("cupel bmc n2 accept-certificate"));
  EXPECT_FALSE(actions[1].at_the_rack);
  EXPECT_TRUE(actions[2].at_the_rack);
  EXPECT_THAT(actions[2].action, HasSubstr("network cable"));
}

TEST(Actions, AtADeskComeFirstAsGroupsToo) {
  RunSummary run;
  run.run.id = 12;
  for (int i = 1; i <= 4; ++i) {
    run.nodes.push_back(node(fmt::format("n{}", i), "a01", i));
    run.nodes.back().record.steps = {step("bmc-facts", "failed", "unreachable", "no route")};
  }
  run.nodes.push_back(node("n5", "a01", 5));
  run.nodes.back().record.steps = {step("bmc-facts", "failed", "untrusted", "another certificate")};

  const auto groups = grouped(actions_of(run, {}));

  ASSERT_EQ(groups.size(), 2u);
  EXPECT_FALSE(groups[0].first.at_the_rack);
  EXPECT_EQ(groups[1].nodes.size(), 4u);
}

TEST(Actions, HaveNoPlaceWhereNoRackIsKnown) {
  RunSummary run;
  run.run.id = 12;
  for (int i = 1; i <= 5; ++i) {
    run.nodes.push_back(node(fmt::format("n{}", i), "", 0));
    run.nodes.back().record.steps = {step("bmc-facts", "failed", "unreachable", "no route")};
  }

  const auto text = to_text(actions_of(run, {}));

  EXPECT_THAT(text, ::testing::Not(HasSubstr("unknown rack")));
  EXPECT_THAT(text, HasSubstr("n[1-5]\n"));
  run.nodes.push_back(node("n6", "a01", 3));
  run.nodes.back().record.steps = {step("ssh-wait", "failed", "unreachable", "no route")};
  EXPECT_THAT(to_text(actions_of(run, {})), HasSubstr("unknown rack"));
}

TEST(Actions, OfAMachineThatRefusesSshAreAboutItsSshd) {
  RunSummary run;
  run.run.id = 12;
  run.nodes = {node("n1", "a01", 1)};
  run.nodes[0].record.steps = {
      step("ssh-wait", "failed", "unreachable", "connect to 10.0.0.2:22: Connection refused")};

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_THAT(actions[0].action, HasSubstr("cupel bmc n1 console): the machine answers"));
  EXPECT_TRUE(actions[0].at_the_rack);
}

TEST(Actions, AreNoneWhereAStepWillNeverWorkOrWorked) {
  RunSummary run;
  run.nodes.push_back(node("n1", "a01", 1));
  run.nodes[0].record.steps = {step("power-on", "done"),
                               step("boot-once", "failed", "unsupported", "no such target"),
                               step("ssh-wait", "skipped")};

  EXPECT_THAT(actions_of(run, {}), IsEmpty());
  EXPECT_FALSE(may_be_mended(step("boot-once", "failed", "unsupported")));
  EXPECT_TRUE(may_be_mended(step("ssh-wait", "failed", "timeout")));
  EXPECT_FALSE(may_be_mended(step("ssh-wait", "done")));
}

TEST(Actions, AreWhatTheStepItselfAskedForAndOncePerPart) {
  RunSummary run;
  run.run.id = 12;
  run.nodes.push_back(node("n1", "a01", 1));
  auto audit = step("audit", "needs operator", "", "2 findings; dimm A7 missing and 1 more");
  audit.needs = {{"reseat the DIMM", "dimm A7", true}, {"reseat the GPU", "gpu3", false}};
  run.nodes[0].record.steps = {audit};
  run.nodes[0].record.verdict.emplace();
  run.nodes[0].causes = {
      {burnin::Decision::fail, "dimm A7", "audit: missing", "", "", "", "reseat the DIMM"},
      {burnin::Decision::fail, "psu2", "audit: missing", "", "", "", "check the cord"}};

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[0].part + ": " + actions[0].action, "dimm A7: reseat the DIMM");
  EXPECT_TRUE(actions[0].goes_on);
  EXPECT_FALSE(actions[1].goes_on);
  EXPECT_EQ(actions[1].action, "reseat the GPU; then: cupel retry 12 n1 --from bmc-facts");
  EXPECT_EQ(actions[2].part, "psu2");
  EXPECT_FALSE(may_be_mended(audit)) << "nobody can see from afar whether the GPU is back";
}

/// As firmware that was not written: the step has failed for good, and says what to look at.
TEST(Actions, AreWhatAStepThatFailedAskedFor) {
  RunSummary run;
  run.run.id = 12;
  run.nodes.push_back(node("n1", "a01", 1));
  auto firmware = step("firmware", "failed", "", "bios 2.4: the inventory shows BIOS 2.0");
  firmware.needs = {{"leave the machine powered; look at the BMC's log", "", false}};
  auto earlier = step("power-on", "done");
  earlier.needs = {{"look at the machine", "", false}};
  run.nodes[0].record.steps = {earlier, firmware};

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].action,
            "leave the machine powered; look at the BMC's log; then: cupel retry 12 n1");
  EXPECT_EQ(actions[0].why, "bios 2.4: the inventory shows BIOS 2.0");
  EXPECT_FALSE(may_be_mended(firmware)) << "the run does not wait for it";
}

TEST(Actions, TakeTheNodeUpAtTheStepItselfWhereThatIsNotTheAudit) {
  RunSummary run;
  run.run.id = 12;
  run.nodes.push_back(node("n1", "a01", 1));
  auto os = step("os", "needs operator", "", "no disk");
  os.needs = {{"put a disk in", "", false}};
  run.nodes[0].record.steps = {os};

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].action, "put a disk in; then: cupel retry 12 n1");
}

TEST(Actions, AddNoRetryWhereTheActionNamesTheCommandThatGoesOn) {
  for (const auto& [asked, action] :
       {std::pair{"once the window is open: cupel retry RUN n1",
                  "once the window is open: cupel retry 12 n1"},
        std::pair{"begin it in a longer window: cupel run firmware --nodes n1",
                  "begin it in a longer window: cupel run firmware --nodes n1"},
        std::pair{"pull the cord; then: cupel firmware continue n1",
                  "pull the cord; then: cupel firmware continue n1"},
        std::pair{"to write it once more: cupel firmware rewrite n1 --only bios",
                  "to write it once more: cupel firmware rewrite n1 --only bios"},
        std::pair{"set the BMC's clock: cupel bmc n1 clock set",
                  "set the BMC's clock: cupel bmc n1 clock set; then: cupel retry 12 n1"}}) {
    RunSummary run;
    run.run.id = 12;
    run.nodes.push_back(node("n1", "a01", 1));
    auto firmware = step("firmware", "needs operator", "", "it waits");
    firmware.needs = {{asked, "", false}};
    run.nodes[0].record.steps = {firmware};

    const auto actions = actions_of(run, {});

    ASSERT_EQ(actions.size(), 1u) << asked;
    EXPECT_EQ(actions[0].action, action);
  }
}

TEST(Actions, NameTheCommandThatAcceptsWhatHasChanged) {
  RunSummary run;
  run.run.id = 12;
  const std::vector<std::tuple<const char*, const char*, const char*>> rows{
      {"untrusted", "the host key of n1 is SHA256:b, pinned is SHA256:a. If this was meant, ...",
       "cupel exec n1 --accept-host-key"},
      {"untrusted", "the host key of n1 is SHA256:b, the inventory says SHA256:a. ...",
       "write the new one into the inventory"},
      {"untrusted", "the certificate is not the one that was pinned: ...",
       "cupel bmc n1 accept-certificate"},
      {"untrusted", "the certificate is SHA256:b, the inventory says SHA256:a; ...",
       "write the new one into the inventory"},
      {"refused",
       "scontrol: Invalid user id: user cupel may not change nodes in Slurm: sacctmgr modify user "
       "where name=cupel set adminlevel=administrator, or run Cupel as SlurmUser",
       "let Cupel's user change nodes in Slurm"},
      {"unreachable", "slurmctld does not answer: refused", "look at slurmctld"},
      {"refused", "the node does not let root in with the key in /k. ...", "authorized_keys"},
      {"refused", "n1: the BMC refused user admin with this password before; ...",
       "correct the password in the inventory's secret; where the BMC's own was corrected instead: "
       "cupel bmc n1 retry-login"}};
  for (const auto& [error, detail, action] : rows) {
    run.nodes = {node("n1", "a01", 1)};
    run.nodes[0].record.steps = {step("bmc-facts", "failed", error, detail)};

    const auto actions = actions_of(run, {});

    ASSERT_EQ(actions.size(), 1u) << detail;
    EXPECT_THAT(actions[0].action, HasSubstr(action)) << detail;
    EXPECT_FALSE(actions[0].at_the_rack);
  }
}

TEST(Actions, AskForNothingThatFollowsFromSomethingElse) {
  RunSummary run;
  run.nodes.push_back(node("n1", "a01", 1));
  run.nodes[0].record.verdict.emplace();
  auto& causes = run.nodes[0].causes;
  causes = {{burnin::Decision::fail, "gpu5", "audit: missing", "7", "8 gpus", "", "reseat gpu5"}};
  for (const auto* part : {"gpu0", "gpu1", "gpu2"}) {
    causes.push_back({burnin::Decision::fail, part, "p2p.pairs", "12", "at least 14", "",
                      "find out why not all pairs were measured"});
    causes.back().consequence_of = "gpu5: audit: missing";
  }

  const auto actions = actions_of(run, {});

  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].consequences.size(), 3u);
  EXPECT_THAT(to_text(actions), HasSubstr("explains p2p.pairs of gpu[0-2]"));
  EXPECT_THAT(boost::json::serialize(to_json(actions)),
              HasSubstr(R"("explains":["gpu0: p2p.pairs")"));
}

/// 300 nodes that do not answer, as where a switch is down.
RunSummary switch_down() {
  RunSummary run;
  run.run.id = 12;
  for (int i = 0; i < 300; ++i) {
    const auto rack = fmt::format("v{:02}", i / 4 + 1);
    run.nodes.push_back(node(fmt::format("{}-n{}", rack, i % 4 + 1), rack, i % 4 * 8 + 1));
    run.nodes.back().record.steps = {
        step("bmc-facts", "needs operator", "unreachable",
             fmt::format("connect 10.0.{}.{}: No route to host", i / 4, i % 4)),
        step("ssh-wait", "needs operator", "unreachable", "no route to host")};
  }
  return run;
}

TEST(Actions, OfManyNodesWithTheSameToDoAreOneRow) {
  const auto actions = actions_of(switch_down(), {});

  const auto groups = grouped(actions);

  EXPECT_EQ(actions.size(), 600u);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].nodes.size(), 300u);
  EXPECT_THAT(to_text(actions), HasSubstr("75 racks  300 nodes"));
  EXPECT_THAT(to_text(actions), HasSubstr("v[01-75]-n[1-4]\n"));
  EXPECT_LT(std::ranges::count(to_text(actions), '\n'), 10);
  EXPECT_GT(std::ranges::count(to_text(actions, {.all = true}), '\n'), 1200);
}

TEST(Actions, OfManyNodesNameOneCommandForAllOfThem) {
  RunSummary run;
  for (int i = 1; i <= 4; ++i) {
    run.nodes.push_back(node(fmt::format("n{}", i), "a01", i));
    run.nodes.back().record.steps = {step("ssh-wait", "failed", "untrusted", "the host key of it")};
  }

  const auto groups = grouped(actions_of(run, {}));

  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].action, HasSubstr("cupel exec 'n[1-4]' --accept-host-key"));
}

TEST(Actions, OfSomeNodesTellThePlaceOfEach) {
  RunSummary run;
  for (int i = 1; i <= 4; ++i) {
    run.nodes.push_back(node(fmt::format("n{}", i), "a01", i * 8 - 7));
    run.nodes.back().record.steps = {step("ssh-wait", "needs operator", "unreachable", "no route")};
  }

  const auto text = to_text(actions_of(run, {}));

  EXPECT_THAT(text, HasSubstr("a01    4 nodes"));
  EXPECT_THAT(text, HasSubstr("n1 (a01 U1), n2 (a01 U9), n3 (a01 U17), n4 (a01 U25)\n"));
}

TEST(Actions, ShowAFewRowsAndHowManyMoreThereAre) {
  RunSummary run;
  for (int i = 1; i <= 30; ++i) {
    run.nodes.push_back(node(fmt::format("n{}", i), "a01", i));
    run.nodes.back().record.steps = {
        step("power-on", "needs operator", "", std::string(static_cast<std::size_t>(i), 'x'))};
  }
  const auto actions = actions_of(run, {});

  EXPECT_THAT(to_text(actions), HasSubstr("and 10 more on 10 nodes: --all shows each"));
  EXPECT_THAT(to_text(actions, {.all = true}), ::testing::Not(HasSubstr("more on")));
}

TEST(Actions, OfAFewNodesStayApartWithThePlaceOfEach) {
  RunSummary run;
  for (int i = 1; i <= 3; ++i) {
    run.nodes.push_back(node(fmt::format("n{}", i), "a01", i));
    run.nodes.back().record.steps = {step("ssh-wait", "needs operator", "unreachable", "no route")};
  }

  EXPECT_EQ(grouped(actions_of(run, {})).size(), 3u);
}

TEST(Actions, OfEqualPartsOfOneNodeAreOneRow) {
  RunSummary run;
  run.nodes.push_back(node("n1", "a01", 1));
  run.nodes[0].record.verdict.emplace();
  for (const auto* part : {"gpu0", "gpu1", "gpu2"})
    run.nodes[0].causes.push_back(
        {burnin::Decision::fail, part, "gpu.mig", "1", "at most 0", "", "nvidia-smi -mig 0"});

  const auto groups = grouped(actions_of(run, {}));

  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].parts, "gpu[0-2]");
}

TEST(Actions, OfAHaltBehindTheCanaryBeginWithNoColon) {
  RunSummary run;
  run.run.id = 12;
  engine::RunState state;
  state.halts[""] = "1 of 1 nodes of the canary failed";

  const auto text = to_text(actions_of(run, state));

  EXPECT_THAT(text, HasSubstr("cupel continue 12\n"));
  EXPECT_THAT(text, HasSubstr("  halted behind the canary: 1 of 1 nodes of the canary failed\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr(" : ")));
}

engine::Event event(engine::EventKind kind, std::string of = {}, std::string at = {},
                    boost::json::object data = {}) {
  engine::Event one;
  one.kind = kind;
  one.node = std::move(of);
  one.step = std::move(at);
  one.data = std::move(data);
  return one;
}

TEST(RunProgress, CountsWhatRunsWhatIsLateAndWhatIsHalted) {
  using enum engine::EventKind;
  const std::vector<engine::Event> events{
      event(run_started),
      event(step_began, "n1", "power-on"),
      event(step_began, "n2", "power-on"),
      event(step_overdue, "n2", "power-on"),
      event(step_began, "n3", "power-on"),
      event(step_retried, "n3", "power-on"),
      event(step_began, "n4", "power-on"),
      event(step_ended, "n4", "power-on", {{"outcome", "failed"}}),
      event(run_halted, "", "", {{"step", "boot-once"}, {"why", "3 of 4"}}),
      event(run_paused, "", "", {{"by", "ada"}})};

  const auto standing = progress_of(1, events, wall_now());

  EXPECT_EQ(standing.running.at("power-on"), 2u);
  EXPECT_EQ(standing.between_tries, 1u);
  EXPECT_EQ(standing.failed, 1u);
  ASSERT_EQ(standing.overdue.size(), 1u);
  EXPECT_EQ(standing.overdue[0].node, "n2");
  EXPECT_EQ(standing.halts.at("boot-once"), "3 of 4");
  EXPECT_TRUE(standing.paused);
  EXPECT_EQ(standing.paused_by, " by ada");
  EXPECT_EQ(to_text(standing), "2 at power-on; 1 between tries; 1 overdue; 1 node failed");
  EXPECT_EQ(progress_from(1, to_json(standing)), standing);
}

TEST(RunProgress, CountsNodesThatFailedAndNotTheirSteps) {
  using enum engine::EventKind;
  const std::vector<engine::Event> events{
      event(step_ended, "n1", "bmc-facts", {{"outcome", "needs operator"}}),
      event(step_ended, "n1", "ssh-wait", {{"outcome", "needs operator"}}),
      event(step_ended, "n2", "bmc-facts", {{"outcome", "needs operator"}})};

  const auto standing = progress_of(1, events, wall_now());

  EXPECT_EQ(standing.failed, 2u);
  EXPECT_EQ(standing.failed_steps, 3u);
  EXPECT_EQ(to_text(standing), "nothing runs; 2 nodes failed");
}

TEST(RunProgress, ForgetsWhatAPersonHasLookedAt) {
  using enum engine::EventKind;
  const std::vector<engine::Event> events{
      event(step_began, "n1", "power-on"),
      event(step_ended, "n1", "power-on", {{"outcome", "failed"}}),
      event(node_retried, "n1", "power-on"),
      event(run_halted, "", "", {{"step", "power-on"}, {"why", "1 of 1"}}),
      event(run_released, "", "", {{"step", "power-on"}}),
      event(run_paused),
      event(run_unpaused)};

  const auto standing = progress_of(1, events, wall_now());

  EXPECT_EQ(standing.failed, 0u);
  EXPECT_THAT(standing.halts, IsEmpty());
  EXPECT_FALSE(standing.paused);
  EXPECT_EQ(to_text(standing), "nothing runs");
}

TEST(StepCounts, CountNodesByHowFarEachStepIs) {
  using enum engine::EventKind;
  const std::vector<engine::Event> events{
      event(run_started, "", "",
            {{"nodes", {{{"name", "n1"}}, {{"name", "n2"}}, {{"name", "n3"}}, {{"name", "n4"}}}},
             {"steps", boost::json::array{"power-on", "gemm", "verdict"}}}),
      event(step_ended, "n1", "power-on", {{"outcome", "done"}}),
      event(step_ended, "n2", "power-on", {{"outcome", "failed"}}),
      event(step_skipped, "n2", "gemm", {{"because", "failure"}}),
      event(step_began, "n3", "power-on"),
      event(step_began, "n4", "power-on"),
      event(step_retried, "n4", "power-on", {{"outcome", "retry"}, {"why", "no answer"}}),
      event(step_began, "n1", "gemm")};

  const auto counts = step_counts(events);

  EXPECT_THAT(counts, ElementsAre(StepCount{.step = "power-on",
                                            .done = 1,
                                            .running = 1,
                                            .failed = 1,
                                            .open = 1,
                                            .failed_on = {"n2"}},
                                  StepCount{.step = "gemm", .running = 1, .skipped = 1, .open = 2},
                                  StepCount{.step = "verdict", .open = 4}));
  EXPECT_EQ(boost::json::serialize(to_json(counts).at(0)),
            R"({"step":"power-on","done":1,"running":1,"failed":1,"skipped":0,"open":1,)"
            R"("failed_on":["n2"]})");
}

}  // namespace
}  // namespace cupel::report
