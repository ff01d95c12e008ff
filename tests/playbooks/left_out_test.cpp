// Shipped playbooks on machines that have no GPUs, and on those of which only the parts are known.
#include "playbooks/left_out.h"

#include <gmock/gmock.h>

#include "burnin/requirements.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "playbooks/plan.h"

namespace cupel::playbooks {
namespace {
using inventory::Problem;
using inventory::Profile;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LeftOut : public ::testing::Test {
 protected:
  /// The steps of one node of that kind; none where the plan was refused.
  std::vector<PlannedStep> steps_of(const std::string& name, Profile profile,
                                    const Arguments& arguments = {}) {
    const auto playbook = load_playbook(name, problems, arguments);
    inventory::Inventory inventory;
    inventory::Node node;
    node.name = "n1";
    node.profile = profile.name;
    inventory.nodes.push_back(std::move(node));
    inventory.profiles.emplace(profile.name, std::move(profile));
    const auto plan = make_plan(*playbook, inventory, {inventory.nodes.data()}, problems);
    return plan ? *plan->nodes[0].steps : std::vector<PlannedStep>{};
  }

  static std::vector<std::string> out(const std::vector<PlannedStep>& steps) {
    std::vector<std::string> names;
    for (const auto& step : steps)
      if (left_out(step.when)) names.push_back(step.name);
    return names;
  }

  /// A machine for logins: CPUs and memory, a criterion for the latter alone.
  static Profile login() {
    Profile profile;
    profile.name = "login";
    profile.parts = {{.kind = inventory::PartKind::cpu, .count = 2}};
    profile.criteria = {
        {.stage = "memory", .measure = "memory.failures", .parts = {"node0"}, .at_most = 0}};
    return profile;
  }

  std::vector<Problem> problems{};
};

TEST_F(LeftOut, LetsAMachineWithoutGpusTakeEveryShippedPlaybookForLooksAndBurns) {
  for (const auto* name : {"audit", "quick-check", "new-rack", "burn-in-host"})
    EXPECT_THAT(steps_of(name, login()), Not(IsEmpty())) << name;

  EXPECT_EQ(to_string(problems), "");
}

TEST_F(LeftOut, SkipsWhatHasNoCriteriaThereWithAWord) {
  const auto steps = steps_of("new-rack", login());

  EXPECT_THAT(out(steps), Contains("gemm"));
  EXPECT_THAT(out(steps), Contains("gpu-facts@after"));
  EXPECT_THAT(out(steps), Contains("cpu"));
  EXPECT_THAT(out(steps), Not(Contains("memory"))) << "it is judged";
  EXPECT_THAT(out(steps), Not(Contains("node-facts"))) << "the audit judges the parts it tells";
  const auto gemm = std::ranges::find(steps, "gemm", &PlannedStep::name);
  EXPECT_EQ(unmet(gemm->when, {}), "profile 'login' has no GPUs and no criteria for it");
  EXPECT_FALSE(unreported(gemm->when, {})) << "nobody is asked for anything";
  EXPECT_EQ(gemm->load, 0);
}

TEST_F(LeftOut, LetsAProfileOfPartsAloneTakeTheAudit) {
  Profile profile;
  profile.name = "parts";
  profile.parts = {{.kind = inventory::PartKind::gpu, .count = 8}};

  const auto steps = steps_of("audit", profile);

  EXPECT_EQ(to_string(problems), "");
  EXPECT_THAT(out(steps), IsEmpty()) << "gpu-facts tells which GPUs are there";
}

TEST_F(LeftOut, StaysAnErrorOnAMachineWithGpus) {
  Profile profile;
  profile.name = "parts";
  profile.parts = {{.kind = inventory::PartKind::gpu, .count = 8}};

  EXPECT_THAT(steps_of("quick-check", profile), IsEmpty());

  EXPECT_THAT(to_string(problems), HasSubstr("has no criteria for stage 'cpu-memory'"));
}

TEST_F(LeftOut, HasTheFirstWaitForSshLookForWhatIsSureToBeDone) {
  const auto steps = steps_of("burn-in-host", login());
  const auto wait = std::ranges::find(steps, "ssh-wait", &PlannedStep::name);

  ASSERT_TRUE(wait->job);
  EXPECT_THAT(wait->job->script, HasSubstr("for tool in stress-ng; do"))
      << "memory alone is done there; nvme, which wants fio, is left out";
}

TEST_F(LeftOut, SetsInANewRackWhatTheProfileWantsBeforeItsOneRestartAndVerifiesItBehind) {
  auto profile = login();
  profile.bios = {{.attribute = "LogicalProc", .value = "Enabled"}};

  const auto steps = steps_of("new-rack", profile);

  const auto place_of = [&](std::string_view name) {
    return std::ranges::find(steps, name, &PlannedStep::name) - steps.begin();
  };
  EXPECT_EQ(to_string(problems), "");
  const std::vector<std::string> order{"machine-settings",
                                       "firmware",
                                       "os",
                                       "machine-settings@rest",
                                       "power-cycle",
                                       "ssh-wait",
                                       "facts",
                                       "machine-settings@verify",
                                       "cpu"};
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_LT(place_of(order[i - 1]), place_of(order[i])) << order[i];
  EXPECT_LT(place_of("cpu"), std::ssize(steps));
  EXPECT_THAT(out(steps), Not(Contains(::testing::StartsWith("machine-settings"))));
  const auto& restart = steps[static_cast<std::size_t>(place_of("power-cycle"))];
  EXPECT_EQ(unmet(restart.when, {{"settings.pending", "yes"}}), std::nullopt);
  EXPECT_TRUE(unmet(restart.when, {{"settings.pending", "no"}}));
}

TEST_F(LeftOut, StagesSettingsBeforeTheFirmwareAndRestartsOnlyWhereItsRestartLeftSomePending) {
  auto profile = login();
  profile.bios = {{.attribute = "LogicalProc", .value = "Enabled"}};

  const auto without = steps_of("firmware", profile);
  const auto steps = steps_of("firmware", profile, {{"settings", "yes"}});

  const std::vector<std::string> order{
      "machine-settings", "firmware", "node-firmware", "machine-settings@rest",
      "power-cycle",      "ssh-wait", "facts",         "machine-settings@verify"};
  std::vector<std::string> names;
  for (const auto& step : steps)
    if (std::ranges::find(order, step.name) != order.end()) names.push_back(step.name);
  EXPECT_EQ(to_string(problems), "");
  EXPECT_EQ(names, order);
  EXPECT_EQ(std::ranges::count(without, "machine-settings", &PlannedStep::name), 0);
  const auto restart = std::ranges::find(steps, "power-cycle", &PlannedStep::name);
  ASSERT_NE(restart, steps.end());
  EXPECT_EQ(unmet(restart->when, {{"settings.pending", "yes"}}), std::nullopt);
  EXPECT_TRUE(unmet(restart->when, {{"settings.pending", "no"}}));
}

/// What grows slow or wrong with the heat, and a port that went down and came back.
TEST_F(LeftOut, LooksInANewRackOnceMoreWhenEverythingIsWarm) {
  const auto steps = steps_of("new-rack", login());
  const auto place_of = [&](std::string_view name) {
    return std::ranges::find(steps, name, &PlannedStep::name) - steps.begin();
  };

  for (const auto* late : {"hbm@warm", "nvme@warm", "gpu-facts@after", "node-facts@new-after"}) {
    EXPECT_LT(place_of("psu"), place_of(late)) << late;
    EXPECT_LT(place_of(late), place_of("audit")) << late;
  }
  const auto train = std::ranges::find(steps, "train", &PlannedStep::name);
  ASSERT_NE(train, steps.end());
  EXPECT_EQ(train->with.at("beside"), "cpu,memory") << "cores and DIMMs, warm";
}

TEST_F(LeftOut, SkipsTheStepsOfSettingsWhereTheProfileWantsNone) {
  const auto steps = steps_of("new-rack", login());

  for (const auto* name :
       {"machine-settings", "machine-settings@rest", "power-cycle", "machine-settings@verify"})
    EXPECT_THAT(out(steps), Contains(name));
  const auto restart = std::ranges::find(steps, "power-cycle", &PlannedStep::name);
  EXPECT_EQ(unmet(restart->when, {}), "profile 'login' wants no settings");
  EXPECT_FALSE(unreported(restart->when, {})) << "nobody is asked for anything";
}

}  // namespace
}  // namespace cupel::playbooks
