#include "playbooks/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "burnin/stage.h"
#include "inventory/fabric_site.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/shipped.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {
namespace {
using inventory::Inventory;
using inventory::Problem;
using inventory::Profile;
using ::testing::HasSubstr;

std::vector<std::string> shipped_names(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with(folder))
      names.push_back(std::filesystem::path{file.path}.stem().string());
  return names;
}

Profile shipped_profile(const std::string& name, std::vector<Problem>& problems) {
  return inventory::ProfileSource{"/nowhere"}.load(name, problems).value();
}

/// Two nodes of one kind.
Inventory two_of(Profile profile) {
  Inventory inventory;
  for (const auto* name : {"n1", "n2"}) {
    inventory::Node node;
    node.name = name;
    node.profile = profile.name;
    inventory.nodes.push_back(std::move(node));
  }
  inventory.profiles.emplace(profile.name, std::move(profile));
  return inventory;
}

struct Made {
  Inventory inventory{};
  std::optional<Plan> plan{};
  std::vector<Problem> problems{};
  std::string reported() const { return to_string(problems); }
};

Made planned(const Playbook& playbook, Profile profile) {
  Made made;
  made.inventory = two_of(std::move(profile));
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : made.inventory.nodes) nodes.push_back(&node);
  made.plan = make_plan(playbook, made.inventory, nodes, made.problems);
  return made;
}

Made planned(std::string_view text, const std::string& profile = "dgx-h100") {
  std::vector<Problem> problems;
  const auto playbook = parse_playbook(text, "book.yaml", problems);
  auto of = shipped_profile(profile, problems);
  EXPECT_TRUE(playbook) << to_string(problems);
  return planned(*playbook, std::move(of));
}

TEST(Plan, IsMadeOfEveryShippedPlaybookForEveryShippedProfile) {
  ASSERT_GE(shipped_names("playbooks/").size(), 2);
  ASSERT_GE(shipped_names("inventory/profiles/").size(), 3);
  for (const auto& book : shipped_names("playbooks/"))
    for (const auto& name : shipped_names("inventory/profiles/")) {
      SCOPED_TRACE(book + " for " + name);
      std::vector<Problem> problems;
      const auto playbook = load_playbook(book, problems);
      auto profile = shipped_profile(name, problems);
      ASSERT_TRUE(playbook) << to_string(problems);

      const auto made = planned(*playbook, std::move(profile));

      ASSERT_TRUE(made.plan) << made.reported();
      EXPECT_EQ(made.plan->step_count(), 2 * playbook->steps.size());
    }
}

TEST(ShippedPlaybooks, DrainTheirNodesBeforeTheyTouchThem) {
  std::size_t draining = 0;
  for (const auto& book : shipped_names("playbooks/")) {
    SCOPED_TRACE(book);
    std::vector<Problem> problems;
    const auto playbook = load_playbook(book, problems);
    ASSERT_TRUE(playbook) << to_string(problems);
    const auto& steps = playbook->steps;
    const auto drain = std::ranges::find(steps, StepKind::slurm_drain, &PlaybookStep::kind);
    if (drain == steps.end()) continue;
    ++draining;
    // Without a canary no node waits for another one: all of them are drained first.
    if (playbook->canary.empty()) {
      EXPECT_TRUE(drain == steps.begin());
    }
    for (auto step = steps.begin(); step != drain; ++step)
      EXPECT_TRUE(step->kind == StepKind::slurm_hold || step->kind == StepKind::bmc_password)
          << step->name;
  }
  EXPECT_GE(draining, 7);
}

TEST(Plan, OfNewRackHoldsItsUntestedNodesFirst) {
  std::vector<Problem> problems;
  const auto playbook = load_playbook("new-rack", problems);
  ASSERT_TRUE(playbook) << to_string(problems);

  EXPECT_FALSE(playbook->canary.empty());
  EXPECT_EQ(playbook->steps.front().kind, StepKind::slurm_hold);
}

TEST(Plan, OfBurnIn72hBurnsEverythingForThreeDays) {
  std::vector<Problem> problems;
  const auto playbook = load_playbook("burn-in-72h", problems);
  ASSERT_TRUE(playbook) << to_string(problems);

  const auto made = planned(*playbook, shipped_profile("dgx-h100", problems));

  ASSERT_TRUE(made.plan) << made.reported();
  std::chrono::duration<double, std::ratio<3600>> hours{0};
  for (const auto& step : *made.plan->nodes[0].steps) hours += step.expected;
  EXPECT_NEAR(hours.count(), 72, 0.5);
  const auto names = made.plan->step_names();
  for (const auto& stage : burnin::stages()) {
    const std::set<std::string_view> elsewhere{
        "cpu-memory", "disk",       "storage",  "dcgm-diag", "nvbandwidth",      "sel",
        "kernel-log", "nccl-tests", "gpu-burn", "settings",  "settings-restore", "tcp-pair",
        "roce",       "sanitize",   "gpu-reset"};
    const bool there = std::ranges::any_of(
        names, [&](const auto& name) { return burnin::base_name(name) == stage.name; });
    EXPECT_NE(there, elsewhere.contains(stage.name)) << stage.name;
  }
}

TEST(Plan, OfSanitizeResetsTheBiosWhereItErasesAndIsAskedTo) {
  const auto steps_of = [](const Arguments& arguments) {
    std::vector<Problem> problems;
    const auto playbook = load_playbook("sanitize", problems, arguments);
    EXPECT_TRUE(playbook) << to_string(problems);
    std::vector<std::string> names;
    if (!playbook) return names;
    const auto made = planned(*playbook, shipped_profile("dgx-h100", problems));
    EXPECT_TRUE(made.plan) << made.reported();
    if (!made.plan) return names;
    for (const auto& step : *made.plan->nodes[0].steps)
      if (step.kind == StepKind::bios_reset || step.kind == StepKind::power_cycle)
        names.push_back(step.name);
    return names;
  };

  EXPECT_EQ(steps_of({{"erase", "yes"}, {"bios", "reset"}}),
            (std::vector<std::string>{"bios-reset", "power-cycle", "bios-reset@verify"}));
  EXPECT_EQ(steps_of({{"bios", "reset"}}), std::vector<std::string>{});
  EXPECT_EQ(steps_of({{"erase", "yes"}}), std::vector<std::string>{});
}

TEST(Plan, OfOsPassesEachOfItsStepsParametersOn) {
  std::vector<Problem> problems;
  const Arguments arguments{{"wipe", "yes"},
                            {"erase", "nvme"},
                            {"reinstall", "yes"},
                            {"network_first", "yes"},
                            {"network_drop", "yes"}};
  const auto playbook = load_playbook("os", problems, arguments);
  ASSERT_TRUE(playbook) << to_string(problems);

  const auto made = planned(*playbook, shipped_profile("dgx-h100", problems));

  ASSERT_TRUE(made.plan) << made.reported();
  const auto& steps = *made.plan->nodes[0].steps;
  const auto os = std::ranges::find(steps, StepKind::os, &PlannedStep::kind);
  ASSERT_NE(os, steps.end());
  for (const auto& [name, value] : arguments) EXPECT_EQ(os->with.at(name), value) << name;
}

TEST(Plan, PassesTheWaitForABmcOnToAnAudit) {
  std::vector<Problem> problems;
  const auto playbook = load_playbook("audit", problems, {{"bmc_wait", "2m"}});
  ASSERT_TRUE(playbook) << to_string(problems);

  const auto made = planned(*playbook, shipped_profile("dgx-h100", problems));

  ASSERT_TRUE(made.plan) << made.reported();
  const auto& step = made.plan->nodes[0].steps->front();
  EXPECT_EQ(step.kind, StepKind::bmc_facts);
  EXPECT_EQ(step.with.at("answer"), "2m");
  EXPECT_EQ(step.deadline, std::chrono::minutes{15});
}

TEST(Plan, RefusesAWindowThatIsNoneAndPassesOneOn) {
  const auto steps = [](const std::string& window) {
    return planned("playbook: fw\nsteps:\n  - {step: firmware, with: {window: \"" + window +
                   "\"}}\n");
  };

  const auto wrong = steps("Sat 2:00 +6h"), right = steps("Sat 02:00 +6h");

  EXPECT_THAT(wrong.reported(), HasSubstr("'Sat 2:00 +6h' is no window"));
  EXPECT_THAT(wrong.reported(), HasSubstr("book.yaml:3:"));
  ASSERT_TRUE(right.plan) << right.reported();
  EXPECT_EQ(right.plan->nodes[0].steps->front().with.at("window"), "Sat 02:00 +6h");
}

TEST(Plan, RefusesToRewriteWhatTheProfileDoesNotWriteByTheBmc) {
  const auto made = planned(
      "playbook: fw\nsteps:\n  - {step: firmware, with: {rewrite: \"none\"}}\n"
      "  - {step: firmware, as: again, with: {rewrite: \"nothing-of-this, or-of-that\"}}\n");

  EXPECT_THAT(made.reported(), HasSubstr("has no component 'nothing-of-this'"));
  EXPECT_THAT(made.reported(), HasSubstr("has no component 'or-of-that'"));
  EXPECT_THAT(made.reported(), HasSubstr("book.yaml:4:"));
  EXPECT_THAT(made.reported(), ::testing::Not(HasSubstr("book.yaml:3:")));
}

TEST(Plan, AsksAnExtendedProfileForItsOwnPartsAlone) {
  std::vector<Problem> problems;
  std::vector<std::string> rails;
  for (const auto& criterion : shipped_profile("hgx-h100-8", problems).criteria)
    if (criterion.measure == "ib.port.rate")
      rails.insert(rails.end(), criterion.parts.begin(), criterion.parts.end());

  EXPECT_EQ(rails, (std::vector<std::string>{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4",
                                             "mlx5_5", "mlx5_6", "mlx5_7"}));
}

TEST(Plan, SharesItsStepsAmongTheNodesOfAProfile) {
  const auto made = planned("playbook: p\nsteps: [{step: power-on}, {stage: node-facts}]\n");

  ASSERT_TRUE(made.plan) << made.reported();
  ASSERT_EQ(made.plan->nodes.size(), 2);
  EXPECT_EQ(made.plan->nodes[0].steps, made.plan->nodes[1].steps);
}

TEST(Plan, FillsInWhatThePlaybookLeavesOpen) {
  const auto written = planned(
      "playbook: p\nsteps:\n"
      "  - {stage: cpu-memory, with: {duration: 5m, memory: \"80%\"}}\n"
      "  - {stage: disk, with: {directory: /var/tmp, size: 4GiB, runtime: 60s}}\n");
  const auto left = planned("playbook: p\nsteps: [{stage: cpu-memory}, {stage: disk}]\n");

  ASSERT_TRUE(written.plan && left.plan) << written.reported() << left.reported();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& one = written.plan->nodes[0].steps->at(i);
    const auto& other = left.plan->nodes[0].steps->at(i);
    ASSERT_TRUE(one.job && other.job);
    EXPECT_EQ(one.job->script, other.job->script) << one.name;
    EXPECT_EQ(one.job->limit, other.job->limit);
    EXPECT_EQ(one.deadline, other.deadline);
    EXPECT_EQ(one.tries, 8);
    EXPECT_GT(one.deadline, one.job->limit) << "the node ends a stage that hangs, not the clock";
    EXPECT_GT(one.job->limit, one.job->expected);
  }
}

TEST(Plan, TakesThePlaybooksWordForDeadlinesAndTries) {
  const auto made = planned(
      "playbook: p\nsteps: [{stage: disk, deadline: 9m, max_attempts: 2, on_failure: continue}]\n");

  ASSERT_TRUE(made.plan) << made.reported();
  const auto& step = made.plan->nodes[0].steps->at(0);
  EXPECT_EQ(step.deadline, std::chrono::minutes{9});
  EXPECT_EQ(step.tries, 2);
  EXPECT_EQ(step.on_failure, OnFailure::go_on);
}

TEST(Plan, GivesThePlaybooksDeadlineToEachStepThatNamesNone) {
  const auto made = planned(
      "playbook: p\nparameters: {most: {default: 3m}}\ndeadline: \"${most}\"\n"
      "steps: [{step: bmc-facts}, {stage: cpu, deadline: 9m}, {step: verdict}]\n");

  ASSERT_TRUE(made.plan) << made.reported();
  const auto& steps = *made.plan->nodes[0].steps;
  EXPECT_EQ(steps[0].deadline, std::chrono::minutes{3});
  EXPECT_EQ(steps[1].deadline, std::chrono::minutes{9});
  EXPECT_EQ(steps[2].deadline, std::chrono::minutes{3});
}

TEST(Plan, LeavesEachStepItsDeadlineWhereThePlaybooksIsEmpty) {
  const auto without = planned("playbook: p\nsteps: [{step: bmc-facts}, {step: verdict}]\n");
  const auto empty =
      planned("playbook: p\ndeadline: \"\"\nsteps: [{step: bmc-facts}, {step: verdict}]\n");

  ASSERT_TRUE(without.plan) << without.reported();
  ASSERT_TRUE(empty.plan) << empty.reported();
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(empty.plan->nodes[0].steps->at(i).deadline,
              without.plan->nodes[0].steps->at(i).deadline);
}

TEST(Plan, TellsAllBadParametersBeforeAnythingRuns) {
  const auto made = planned(R"(playbook: p
steps:
  - stage: cpu-memory
    with: {duration: 0s, memory: "80%"}
  - stage: disk
    with: {directory: /tmp/../etc}
)");

  EXPECT_FALSE(made.plan);
  EXPECT_THAT(made.reported(), HasSubstr("book.yaml:3:5: stage 'cpu-memory': duration must be"));
  EXPECT_THAT(made.reported(), HasSubstr("book.yaml:5:5: stage 'disk': directory must be"));
}

TEST(Plan, TakesNoFeedsAwayOfWhichItDoesNotKnowTheOutlets) {
  std::vector<Problem> problems;
  const auto playbook = parse_playbook(
      "playbook: p\nsteps: [{stage: psu, with: {feeds: \"yes\"}}]\n", "book.yaml", problems);
  ASSERT_TRUE(playbook) << to_string(problems);
  Inventory inventory = two_of(shipped_profile("dgx-h100", problems));
  inventory.nodes[0].feeds = inventory.nodes[1].feeds = {"a01/p1/b1", "a01/p2/b1"};
  inventory.nodes[0].outlets = {"A1", "A2"};
  inventory.nodes[1].outlets = {"A3", ""};

  EXPECT_TRUE(make_plan(*playbook, inventory, {inventory.nodes.data()}, problems));
  EXPECT_FALSE(
      make_plan(*playbook, inventory, {&inventory.nodes[0], &inventory.nodes[1]}, problems));
  EXPECT_EQ(
      to_string(problems),
      "book.yaml:2:9: psu: feeds: yes needs breaker, outlet, second_breaker and second_outlet "
      "in the inventory, and n2 has not all of them\n");
}

TEST(Plan, RefusesCriteriaThatCanNeverBeMet) {
  std::vector<Problem> problems;
  const auto playbook = load_playbook("audit", problems);
  auto profile = shipped_profile("dgx-h100", problems);
  profile.criteria[0].measure = "memory.totl";
  profile.criteria[1].stage = "node-fact";

  const auto made = planned(*playbook, profile);

  EXPECT_FALSE(made.plan);
  EXPECT_THAT(made.reported(), HasSubstr("does not measure 'memory.totl' (did you mean"));
  EXPECT_THAT(made.reported(),
              HasSubstr("there is no stage 'node-fact' (did you mean 'node-facts'?)"));
}

TEST(Plan, RefusesAStageThatNobodyWouldJudge) {
  std::vector<Problem> problems;
  auto profile = shipped_profile("dgx-h100", problems);
  std::erase_if(profile.criteria, [](const auto& each) { return each.stage == "disk"; });
  const auto playbook =
      parse_playbook("playbook: p\nsteps: [{stage: disk}]\n", "book.yaml", problems);

  const auto made = planned(*playbook, profile);

  EXPECT_FALSE(made.plan);
  EXPECT_THAT(made.reported(),
              HasSubstr("has no criteria for stage 'disk': nothing would be judged"));
}

/// A playbook in which a test sets what it is about.
Playbook with_steps(std::string_view text) {
  std::vector<Problem> problems;
  auto playbook = parse_playbook(text, "book.yaml", problems);
  EXPECT_TRUE(playbook) << to_string(problems);
  return playbook.value_or(Playbook{});
}

/// So many nodes of so many racks, rack by rack: "r1n1".
Inventory racks_of(Profile profile, int racks, int nodes) {
  Inventory inventory;
  for (int rack = 1; rack <= racks; ++rack)
    for (int n = 1; n <= nodes; ++n) {
      inventory::Node node;
      node.rack = "r" + std::to_string(rack);
      node.name = node.rack + "n" + std::to_string(n);
      node.profile = profile.name;
      inventory.nodes.push_back(std::move(node));
    }
  inventory.profiles.emplace(profile.name, std::move(profile));
  return inventory;
}

TEST(Plan, BehindTheCanaryGoesOneOfEachRackThatHasNoneInIt) {
  const auto playbook = with_steps(
      "playbook: p\ncanary: [1]\none_per_rack: \"yes\"\nsteps: [{step: power-on}, {step: "
      "verdict}]\n");
  std::vector<Problem> problems;
  const auto site = racks_of(shipped_profile("dgx-h100", problems), 3, 3);
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : site.nodes) nodes.push_back(&node);

  const auto plan = make_plan(playbook, site, nodes, problems);

  ASSERT_TRUE(plan) << to_string(problems);
  std::vector<std::string> order;
  for (const auto& node : plan->nodes) order.push_back(node.node->name);
  EXPECT_THAT(order, ::testing::ElementsAre("r1n1", "r2n1", "r3n1", "r1n2", "r1n3", "r2n2", "r2n3",
                                            "r3n2", "r3n3"));
  EXPECT_EQ(plan->canary, (std::vector{1, 2}));
}

std::vector<std::string> order_of(const Plan& plan) {
  std::vector<std::string> order;
  for (const auto& node : plan.nodes) order.push_back(node.node->name);
  return order;
}

std::optional<Plan> plan_for_all(const Playbook& playbook, const Inventory& site,
                                 std::vector<Problem>& problems) {
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : site.nodes) nodes.push_back(&node);
  return make_plan(playbook, site, nodes, problems);
}

Profile with_an_image(Profile profile) {
  inventory::ExpectedFirmware bios{.component = "bios", .version = "1.6.7"};
  bios.ids = {"HostBIOS_0"};
  bios.image = inventory::FirmwareImage{.file = "bios.bin", .sha256 = std::string(64, 'a')};
  profile.firmware = {bios};
  return profile;
}

TEST(Plan, NewRackProvesFirmwareOnOneOfEachRackAndHasNoSuchWaveWithoutImages) {
  std::vector<Problem> problems;
  const auto new_rack = load_playbook("new-rack", problems);
  ASSERT_TRUE(new_rack) << to_string(problems);
  auto plain = shipped_profile("dgx-h100", problems);
  plain.firmware.clear();

  const auto written = racks_of(with_an_image(plain), 3, 3);
  const auto proven = plan_for_all(*new_rack, written, problems);
  const auto six = racks_of(with_an_image(plain), 6, 2);
  const auto wide = plan_for_all(*new_rack, six, problems);
  const auto unwritten = racks_of(plain, 3, 3);
  const auto without = plan_for_all(*new_rack, unwritten, problems);

  ASSERT_TRUE(proven && wide && without) << to_string(problems);
  EXPECT_THAT(order_of(*proven), ::testing::ElementsAre("r1n1", "r2n1", "r3n1", "r1n2", "r1n3",
                                                        "r2n2", "r2n3", "r3n2", "r3n3"));
  EXPECT_EQ(proven->canary, (std::vector{1, 2, 4}));
  EXPECT_EQ(wide->canary, (std::vector{1, 5})) << "four more would show nothing that five do not";
  EXPECT_THAT(order_of(*without), ::testing::ElementsAre("r1n1", "r1n2", "r1n3", "r2n1", "r2n2",
                                                         "r2n3", "r3n1", "r3n2", "r3n3"));
  EXPECT_EQ(without->canary, (std::vector{1, 4}));
}

TEST(Plan, OnlyNodesWhoseProfileNamesImagesProveTheirRack) {
  const auto playbook = with_steps(
      "playbook: p\ncanary: [1]\none_per_rack: images\nsteps: [{step: power-on}, {step: "
      "verdict}]\n");
  std::vector<Problem> problems;
  auto site = racks_of(with_an_image(shipped_profile("dgx-h100", problems)), 3, 2);
  site.profiles["cpu-server"] = shipped_profile("cpu-server", problems);
  for (const auto plain : {0, 2, 4, 5}) site.nodes[plain].profile = "cpu-server";

  const auto plan = plan_for_all(playbook, site, problems);

  ASSERT_TRUE(plan) << to_string(problems);
  EXPECT_THAT(order_of(*plan),
              ::testing::ElementsAre("r1n1", "r1n2", "r2n2", "r2n1", "r3n1", "r3n2"))
      << "the canary r1n1 proves no firmware, and rack r3 gets none";
  EXPECT_EQ(plan->canary, (std::vector{1, 2}));
}

TEST(Plan, AClaimOfALeafGroupIsOneOfThoseNodesAloneAndNoneWithoutAFabric) {
  auto playbook = with_steps(
      "playbook: p\nlimits: {leaf-push: 2}\nsteps: [{step: power-on, claims: [{resource: "
      "leaf-push, scope: leaf-group}]}, {step: verdict}]\n");
  std::vector<Problem> problems;
  auto site = racks_of(shipped_profile("dgx-h100", problems), 1, 3);
  inventory::FabricSite fabric;
  fabric.fabric.switches = {{.name = "leaf1", .group = 0}, {.name = "leaf2", .group = 1}};
  fabric.fabric.nodes = {{.name = "r1n1", .hcas = {}, .group = 0},
                         {.name = "r1n2", .hcas = {}, .group = 1}};
  site.fabric = fabric;
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : site.nodes) nodes.push_back(&node);

  const auto plan = make_plan(playbook, site, nodes, problems);

  ASSERT_TRUE(plan) << to_string(problems);
  const auto claims = [&](std::size_t node) { return plan->nodes[node].steps->front().claims; };
  EXPECT_EQ(claims(0), (std::vector<Claim>{{"leaf-push in the group of leaf leaf1"}}));
  EXPECT_EQ(claims(1), (std::vector<Claim>{{"leaf-push in the group of leaf leaf2"}}));
  EXPECT_TRUE(claims(2).empty());
  EXPECT_EQ(plan->limits.at("leaf-push in the group of leaf leaf2"), 2);
}

TEST(Plan, CarriesWhatAdmissionNeedsToKnow) {
  auto playbook = with_steps("playbook: p\nsteps: [{stage: cpu-memory}, {step: power-on}]\n");
  playbook.priority = 3;
  playbook.canary = {1, 4};
  playbook.limits = {{"firmware-push", 2}};
  playbook.steps[0].claims = {{"firmware-push", Claim::Scope::rack, 1}};
  playbook.steps[0].stop_after = {3, 0.1};
  playbook.steps[0].together = Together::pairs;
  std::vector<Problem> problems;

  const auto made = planned(playbook, shipped_profile("dgx-h100", problems));

  ASSERT_TRUE(made.plan) << made.reported();
  const auto& steps = *made.plan->nodes[0].steps;
  EXPECT_EQ(made.plan->priority, 3);
  EXPECT_EQ(made.plan->canary, (std::vector{1, 4}));
  EXPECT_EQ(made.plan->limits, playbook.limits);
  ASSERT_EQ(made.plan->groups.size(), 1);
  EXPECT_EQ(made.plan->groups[0].members, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(steps[0].claims, playbook.steps[0].claims);
  EXPECT_EQ(steps[0].stop_after, playbook.steps[0].stop_after);
  EXPECT_TRUE(steps[0].once);
  EXPECT_FALSE(steps[1].once);
}

TEST(Plan, RefusesAMeasurementOfSeveralNodesOnEachByItself) {
  std::vector<Problem> problems;

  parse_playbook("playbook: p\nsteps: [{stage: tcp-pair}, {step: verdict}]\n", "book.yaml",
                 problems);

  EXPECT_THAT(to_string(problems), HasSubstr("'tcp-pair' is a measurement of several nodes: it "
                                             "needs group_by: pairs"));
}

TEST(Plan, RefusesAMeasurementOfTwoNodesOnThree) {
  const auto playbook = with_steps("playbook: p\nsteps: [{stage: tcp-pair, group_by: all}]\n");
  std::vector<Problem> problems;
  auto inventory = two_of(shipped_profile("dgx-h100", problems));
  inventory.nodes.push_back(inventory.nodes.front());
  inventory.nodes.back().name = "n3";
  const auto& all = inventory.nodes;

  const auto two = make_plan(playbook, inventory, {&all[0], &all[1]}, problems);
  EXPECT_TRUE(two) << to_string(problems);
  const auto three = make_plan(playbook, inventory, {&all[0], &all[1], &all[2]}, problems);

  EXPECT_FALSE(three);
  EXPECT_THAT(to_string(problems), HasSubstr("'tcp-pair' is a measurement of 2 nodes, and "
                                             "group_by: gives it 3"));
}

TEST(Plan, ReckonsAStagesLoadByWhatTheMachineHas) {
  const auto playbook = with_steps("playbook: p\nsteps: [{stage: cpu-memory}]\n");
  std::vector<Problem> problems;
  const auto gpus = shipped_profile("dgx-h100", problems);
  auto none = gpus;
  std::erase_if(none.parts, [](const auto& part) { return part.kind == inventory::PartKind::gpu; });

  const auto with = planned(playbook, gpus);
  const auto without = planned(playbook, none);

  ASSERT_TRUE(with.plan && without.plan) << with.reported() << without.reported();
  EXPECT_DOUBLE_EQ(with.plan->nodes[0].steps->at(0).load, 0.25);
  EXPECT_DOUBLE_EQ(without.plan->nodes[0].steps->at(0).load, 1.0);
}

TEST(Plan, LeavesOutWhatTheProfileOrTheRackRulesOut) {
  auto playbook =
      with_steps("playbook: p\nsteps: [{step: power-on}, {stage: gpu-facts}, {step: ssh-wait}]\n");
  const inventory::Place where{"book.yaml", 2, 9};
  playbook.steps[1].when = {
      {Condition::About::profile, "", Condition::Test::is_not, {"dgx-h100"}, 0, where}};
  playbook.steps[2].when = {
      {Condition::About::fact, "bmc.vendor", Condition::Test::is, {"NVIDIA"}, 0, where}};
  std::vector<Problem> problems;
  const auto profile = shipped_profile("dgx-h100", problems);

  const auto made = planned(playbook, profile);
  playbook.steps[1].when[0].values = {"dgx-h10"};
  const auto typo = planned(playbook, profile);

  ASSERT_TRUE(made.plan) << made.reported();
  EXPECT_EQ(made.plan->step_names(), (std::vector<std::string>{"power-on", "ssh-wait"}));
  EXPECT_EQ(made.plan->nodes[0].steps->at(1).when, playbook.steps[2].when);
  EXPECT_EQ(typo.reported(),
            "book.yaml:2:9: there is no profile 'dgx-h10' (did you mean 'dgx-h100'?)\n");
}

TEST(Plan, DoesAStepForEachPartOfTheProfile) {
  auto playbook = with_steps("playbook: p\nsteps: [{stage: disk}]\n");
  playbook.steps[0].each = inventory::PartKind::psu;
  playbook.steps[0].with = {{"directory", "/mnt/${each}"}};
  std::vector<Problem> problems;

  const auto made = planned(playbook, shipped_profile("dgx-h100", problems));

  ASSERT_TRUE(made.plan) << made.reported();
  const auto& steps = *made.plan->nodes[0].steps;
  ASSERT_EQ(steps.size(), 6);
  EXPECT_EQ(steps[5].name, "disk@psu5");
  EXPECT_EQ(steps[5].with, (burnin::Parameters{{"directory", "/mnt/psu5"}}));
  EXPECT_THAT(steps[5].job->script, HasSubstr("/mnt/psu5"));
}

std::vector<std::string> names_of(const Made& made) {
  std::vector<std::string> names;
  if (made.plan)
    for (const auto& step : *made.plan->nodes.front().steps)
      names.push_back(step.name + (step.always ? " (always)" : ""));
  return names;
}

TEST(Plan, PutsSettingsBackBeforeTheVerdictWhateverBecomesOfTheStepsBetween) {
  const auto made = planned(R"(playbook: p
steps:
  - stage: settings
    with: {governor: performance}
  - stage: gpu-facts
  - step: audit
  - step: verdict
  - step: hand-off
)");

  EXPECT_THAT(names_of(made), ::testing::ElementsAre("settings", "gpu-facts", "audit (always)",
                                                     "settings-restore (always)",
                                                     "verdict (always)", "hand-off (always)"))
      << made.reported();
}

TEST(Plan, PutsSettingsBackWhereThePlaybookSaysAndAtTheEndWhereItHasNoVerdict) {
  const std::string set = "playbook: p\nsteps:\n  - stage: settings\n    with: {ecc: on}\n";

  const auto restored = planned(set + "  - stage: settings-restore\n  - stage: gpu-facts\n");
  const auto not_given = planned(set + "  - stage: gpu-facts\n");

  EXPECT_THAT(names_of(restored),
              ::testing::ElementsAre("settings", "settings-restore (always)", "gpu-facts"))
      << restored.reported();
  EXPECT_THAT(names_of(not_given),
              ::testing::ElementsAre("settings", "gpu-facts", "settings-restore (always)"));
}

TEST(Plan, RefusesSettingsThatTheNodeWouldPutBackInTheMiddleOfTheStagesThatWantThem) {
  const std::string book = R"(playbook: p
steps:
  - stage: settings
    with: {governor: performance, at_most: AT_MOST}
  - stage: cpu-memory
    with: {duration: 30h}
  - step: verdict
)";
  const auto with = [&](const std::string& at_most) {
    auto text = book;
    return planned(text.replace(text.find("AT_MOST"), 7, at_most));
  };

  EXPECT_THAT(with("24h").reported(),
              HasSubstr("settings: after at_most: 24h the node puts it back by itself, and the "
                        "steps up to 'cpu-memory' take 31h"));
  EXPECT_TRUE(with("40h").plan) << with("40h").reported();
}

}  // namespace
}  // namespace cupel::playbooks
