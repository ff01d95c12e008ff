// What people ask of a run that works: the built cupel against a virtual rack, two of them on one
// state.
#include "base/file.h"
#include "base/login.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using engine::EventKind;

constexpr const char* kGated = R"(playbook: gated
description: a run that waits for a person in its middle
steps:
  - step: bmc-facts
  - step: boot-once
  - step: approval
    with: {message: look at the sensors first}
  - step: power-on
)";

/// Events of the run, as the journal has them now.
std::vector<engine::Event> events_of(const RackSite& site, engine::RunId run) {
  const auto store = store::Store::open(site.file("state"));
  if (!store) return {};
  auto events = (*store)->events(run);
  return events ? *std::move(events) : std::vector<engine::Event>{};
}

std::string text(const engine::Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

const engine::Event* first_of(const std::vector<engine::Event>& events, EventKind kind,
                              std::string_view node = {}) {
  for (const auto& event : events)
    if (event.kind == kind && (node.empty() || event.node == node)) return &event;
  return nullptr;
}

/// `"step":"boot-once"` comes after `"event":"step-ended"` in a line of `--json`.
std::string ended(const std::string& node, const std::string& step) {
  return "\"node\":\"" + node + "\",\"step\":\"" + step + "\",\"outcome\"";
}

std::string failed(const std::string& node, const std::string& step) {
  return "\"node\":\"" + node + "\",\"step\":\"" + step + "\",\"error\"";
}

class ControlTest : public ::testing::Test {
 protected:
  static constexpr int kPassed = 0;

  void gated() { site.write("gated.yaml", kGated); }
  Child begin(const std::string& nodes = "all") {
    return Child{site.cupel({"run", "gated.yaml", "--json", "--no-console", "-n", nodes})};
  }
  /// Within a few looks: the controller tells its news once a second.
  bool status_tells(const std::string& text) {
    const auto end = Deadline::in(std::chrono::minutes{1});
    while (!end.passed())
      if (site.run({"status"}).out.find(text) != std::string::npos) return true;
    return false;
  }
  RackSite site{
      {.network = 73,
       .ports = "bmc: 0, ssh: 0",
       .rules = R"({nodes: v01-n02, method: PATCH, path: "*", do: status, status: 400})"}};
};

TEST_F(ControlTest, WaitsForApprovalAndRemembersWhoGaveIt) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));
  ASSERT_TRUE(status_tells("nodes wait for approval: look at the sensors first: cupel approve 1"));

  const auto approved = site.run({"approve", "1", "approval", "--reason", "looked at it"});
  const auto ran = run.wait();

  EXPECT_EQ(approved.status, 0) << approved.out << approved.err;
  EXPECT_EQ(ran.status, kPassed) << ran.out << ran.err;
  const auto events = events_of(site, 1);
  const auto* approval = first_of(events, EventKind::step_approved);
  ASSERT_NE(approval, nullptr);
  EXPECT_NE(text(*approval, "by"), "");
}

TEST_F(ControlTest, BeginsNothingNewWhileItIsPaused) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));

  ASSERT_EQ(site.run({"pause", "1"}).status, 0);
  ASSERT_TRUE(run.wait_for("run-paused"));
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  ASSERT_TRUE(run.wait_for("step-approved"));
  const auto status = site.run({"status"});
  ASSERT_EQ(site.run({"unpause", "1"}).status, 0);
  const auto ran = run.wait();

  EXPECT_EQ(ran.status, kPassed) << ran.out << ran.err;
  EXPECT_THAT(status.out, HasSubstr("cupel unpause 1"));
  std::vector<std::string> order;
  for (const auto& event : events_of(site, 1))
    if (event.kind == EventKind::run_unpaused || event.step == "power-on")
      order.emplace_back(to_string(event.kind));
  ASSERT_FALSE(order.empty());
  EXPECT_EQ(order.front(), to_string(EventKind::run_unpaused)) << "it went on while paused";
}

TEST_F(ControlTest, DoesAFailedStepOfOneNodeAgainWhereAPersonWantsIt) {
  gated();
  auto run = begin();
  ASSERT_TRUE(run.wait_for(failed("v01-n02", "boot-once")));
  ASSERT_TRUE(site.rack().behave("v01-n02"));

  const auto retried = site.run({"retry", "1", "v01-n02", "--reason", "mended"});
  ASSERT_TRUE(run.wait_for("node-retried"));
  ASSERT_TRUE(run.wait_for(ended("v01-n02", "boot-once") + ":\"done\""));
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  const auto ran = run.wait();

  EXPECT_EQ(retried.status, 0) << retried.err;
  EXPECT_EQ(ran.status, kPassed) << ran.out << ran.err;
}

TEST_F(ControlTest, SkipsAStepForAReasonThatIsRecorded) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));

  const auto skipped =
      site.run({"skip", "1", "v01-n01", "power-on", "--reason", "its feed is not live yet"});
  ASSERT_TRUE(run.wait_for("step-skipped"));
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  run.wait();

  EXPECT_EQ(skipped.status, 0) << skipped.err;
  const auto events = events_of(site, 1);
  const auto* event = first_of(events, EventKind::step_skipped, "v01-n01");
  ASSERT_NE(event, nullptr);
  EXPECT_THAT(text(*event, "why"), HasSubstr("its feed is not live yet"));
}

TEST_F(ControlTest, PrintsTheControllersAnswerToACommand) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));

  const auto retried = site.run({"retry", "1", "v01-n01"});
  const auto skipped = site.run({"skip", "1", "v01-n01", "boot-once", "--reason", "x", "--json"});
  const auto approved = site.run({"approve", "1"});
  run.wait();

  EXPECT_EQ(retried.status, 2);
  EXPECT_THAT(retried.err,
              HasSubstr("run 1: retry v01-n01 is refused: v01-n01 has no failed step"));
  EXPECT_EQ(skipped.status, 2);
  ASSERT_FALSE(json_lines(skipped.out).empty());
  EXPECT_EQ(json_lines(skipped.out).back().at("code"), "invalid");
  EXPECT_EQ(approved.status, 0);
  EXPECT_THAT(approved.out, HasSubstr("run 1: approve: accepted"));
}

TEST_F(ControlTest, ReportsACommandForARunWithoutAController) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));
  run.signal(SIGTERM);
  ASSERT_EQ(run.wait().status, 3);

  const auto approved = site.run({"approve", "1"});
  const auto resumed = site.run({"resume", "1", "--no-console"});

  EXPECT_EQ(approved.status, 0);
  EXPECT_THAT(approved.out, HasSubstr("No controller drives the run"));
  EXPECT_EQ(resumed.status, kPassed) << resumed.out << resumed.err;
}

TEST_F(ControlTest, CallsANodeThatIsNotJudgedYetInWork) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));

  const auto status = site.run({"status", "--json"});
  const auto shown = site.run({"show", "v01-n01"});
  const auto cancelled = site.run({"cancel", "1"});
  run.wait();

  const auto row = parse_json(status.out).value().as_array().at(0).as_object();
  EXPECT_EQ(row.at("inconclusive"), 0);
  EXPECT_EQ(row.at("in_work"), 1);
  EXPECT_THAT(shown.out, HasSubstr("v01-n01 in run 1: in work"));
  EXPECT_THAT(shown.out, Not(HasSubstr("inconclusive")));
  EXPECT_THAT(cancelled.out, HasSubstr("run 1 is cancelled"));
  EXPECT_THAT(cancelled.out, Not(HasSubstr("drained"))) << "it drained none";
}

TEST_F(ControlTest, RemembersWhoCalledSudo) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));
  auto words = site.cupel({"approve", "1"});
  words.insert(words.begin() + 3, "SUDO_USER=alice");  // behind env -C FOLDER

  const auto approved = testing::run(words);
  run.wait();

  EXPECT_EQ(approved.status, 0) << approved.err;
  const auto events = events_of(site, 1);
  const auto* approval = first_of(events, EventKind::step_approved);
  ASSERT_NE(approval, nullptr);
  const bool audited = current_login().audited.has_value();
  EXPECT_EQ(text(*approval, "by"), login_name() + (audited ? "" : " (sudo: alice)"));
}

TEST_F(ControlTest, KeepsTheSummaryOfARunThatIsOverAndMakesItAgainWhereItWasChanged) {
  site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");
  ASSERT_EQ(site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n01"}).status, kPassed);
  const auto kept = site.file("state") + "/summaries/1.json";

  const auto shown = site.run({"status"});
  const auto shown_again = site.run({"status"});
  const auto first = site.run({"status", "--json"});
  const auto was_kept = read_file(kept, 1u << 20);
  const auto second = site.run({"status", "--json"});
  ASSERT_TRUE(write_file(kept, R"({"tip":"of another journal","summary":{"pass":99}})"));
  const auto third = site.run({"status", "--json"});

  EXPECT_TRUE(was_kept);
  EXPECT_THAT(shown.out, ::testing::ContainsRegex("ended +1 +0 +0"));
  EXPECT_EQ(shown.out, shown_again.out);
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.out, third.out);
  EXPECT_THAT(open_to_others(site.file("state")), ::testing::IsEmpty());
}

TEST_F(ControlTest, SaysWhatItDoesNotKnowAndWhatWasMeant) {
  gated();
  auto run = begin("v01-n01");
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));

  const auto no_run = site.run({"pause", "7"});
  const auto no_node = site.run({"retry", "1", "v01-n1"});
  const auto no_step = site.run({"skip", "1", "v01-n01", "power-onn", "--reason", "x"});
  ASSERT_EQ(site.run({"cancel", "1"}).status, 0);

  EXPECT_EQ(no_run.status, 2);
  EXPECT_THAT(no_run.err, HasSubstr("no run 7"));
  EXPECT_EQ(no_node.status, 2);
  EXPECT_THAT(no_node.err, HasSubstr("did you mean 'v01-n01'"));
  EXPECT_EQ(no_step.status, 2);
  EXPECT_THAT(no_step.err, HasSubstr("did you mean 'power-on'"));
  EXPECT_EQ(run.wait().status, 3);
}

TEST_F(ControlTest, TellsAProgramOfTheEndWithoutAShell) {
  site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");
  site.write("tell", "#!/bin/sh\ncat >> told\n", 0700);

  const auto ran = site.run(
      {"run", "facts.yaml", "--no-console", "-n", "v01-n01", "--notify", site.file("tell")});

  EXPECT_EQ(ran.status, kPassed) << ran.out << ran.err;
  const auto reported = read_file(site.file("told"), 10'000);
  ASSERT_TRUE(reported) << ran.err;
  const auto notices = json_lines(*reported);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].at("notice"), "end");
  EXPECT_EQ(notices[0].at("run"), 1);
}

TEST_F(ControlTest, KeepsWhereItStoodWhenItIsStoppedAndGoesOnFromThere) {
  gated();
  auto first = begin("v01-n01");
  ASSERT_TRUE(first.wait_for(ended("v01-n01", "boot-once")));
  first.signal(SIGTERM);
  ASSERT_EQ(first.wait().status, 3);
  const auto kept = store::Store::open(site.file("state")).value()->snapshot(1).value();
  const auto stood = events_of(site, 1).size();

  auto second = Child{site.cupel({"resume", "1", "--json", "--no-console"})};
  ASSERT_TRUE(second.wait_for("run-resumed"));
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  const auto ran = second.wait();

  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->sequence, static_cast<std::int64_t>(stood));
  EXPECT_EQ(ran.status, kPassed) << ran.out << ran.err;
  int begun = 0;
  for (const auto& event : events_of(site, 1))
    if (event.kind == EventKind::step_began && event.step == "boot-once") ++begun;
  EXPECT_EQ(begun, 1);
}

/// A run that waits for a person while its settings are set.
constexpr const char* kSet = R"(playbook: set
steps:
  - step: power-on
  - step: ssh-wait
  - stage: settings
    with: {power_limit: 500W, governor: performance}
  - step: approval
    with: {message: look at the sensors first}
)";

class SettingsOfARun : public ControlTest {
 protected:
  std::vector<std::string> begin_to_set() {
    site.write("set.yaml", kSet);
    return site.cupel({"run", "set.yaml", "--json", "--no-console", "-n", "v01-n01"});
  }
  void wait_until_set() {
    ASSERT_TRUE(status_tells("look at the sensors first"));
    ASSERT_THAT(limits(), HasSubstr("500.00 W"));
  }
  std::string limits() {
    const auto ran =
        site.run({"exec", "v01-n01", "--",
                  "nvidia-smi --query-gpu=power.limit --format=csv,noheader | sort -u; "
                  "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"});
    return ran.out + ran.err;
  }
  void expect_put_back() {
    EXPECT_THAT(limits(),
                AllOf(HasSubstr("700.00 W"), Not(HasSubstr("500.00 W")), HasSubstr("powersave")));
  }
};

TEST_F(SettingsOfARun, AreRestoredByACancellation) {
  Child run{begin_to_set()};
  wait_until_set();

  const auto cancelled = site.run({"cancel", "1"});

  EXPECT_EQ(cancelled.status, 0) << cancelled.out << cancelled.err;
  EXPECT_EQ(run.wait().status, 3);
  expect_put_back();
}

TEST_F(SettingsOfARun, StayAfterAStopAndAreRestoredByACancelWithoutAController) {
  Child run{begin_to_set()};
  wait_until_set();
  run.signal(SIGINT);
  const auto stopped = run.wait();
  EXPECT_THAT(limits(), HasSubstr("500.00 W"));

  const auto cancelled = site.run({"cancel", "1"});

  EXPECT_THAT(stopped.err, HasSubstr("1 node keeps its settings until then"));
  EXPECT_EQ(cancelled.status, 0) << cancelled.out << cancelled.err;
  expect_put_back();
}

TEST_F(SettingsOfARun, ArePutBackByTheControllerThatGoesOnWhereTheFirstWasKilled) {
  Child first{begin_to_set()};
  wait_until_set();
  first.signal(SIGKILL);
  first.wait();

  auto second = Child{site.cupel({"resume", "1", "--json", "--no-console"})};
  ASSERT_TRUE(second.wait_for("run-resumed"));
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  second.wait();

  expect_put_back();
  int begun = 0;
  for (const auto& event : events_of(site, 1))
    if (event.kind == EventKind::step_began && event.step == "settings") ++begun;
  EXPECT_EQ(begun, 1);
}

TEST_F(ControlTest, NamesTheNodesThatTheInventoryLostInMidRun) {
  gated();
  auto run = begin();
  ASSERT_TRUE(run.wait_for(ended("v01-n01", "boot-once")));
  run.signal(SIGKILL);
  run.wait();
  site.change_inventory("v01-n02", "v01-n09");

  const auto resumed = site.run({"resume", "1", "--no-console"});

  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.err,
              AllOf(HasSubstr("inventory.yaml no longer has v01-n02"), HasSubstr("run 1"),
                    HasSubstr("cupel cancel 1"), Not(HasSubstr("v01-n01"))));
  EXPECT_EQ(site.run({"cancel", "1"}).status, 0) << "neither could it be given up";
}

}  // namespace
}  // namespace cupel::testing
