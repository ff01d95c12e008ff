// Where the step slurm-job may stand in a playbook, and what its plan needs.
#include <gmock/gmock.h>

#include "inventory/criterion.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "playbooks/plan.h"
#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kWhole = R"(playbook: p
steps:
  - step: slurm-drain
  - step: verdict
  - step: hand-off
  - {step: slurm-job, group_by: all, with: {job: nccl, limit: 90m}}
  - {step: verdict, as: accepted}
  - {step: hand-off, as: accepted}
)";

std::string reported(std::string_view steps) {
  return read("playbook: p\nsteps: [" + std::string{steps} + "]\n").reported();
}

TEST(SlurmJobInAPlaybook, StandsBetweenAHandOffAndAnotherVerdictWithAnotherHandOff) {
  EXPECT_EQ(read(kWhole).reported(), "");

  EXPECT_THAT(
      reported("{step: verdict}, {step: slurm-job, with: {job: a}}, {step: verdict, as: b},"
               " {step: hand-off}"),
      HasSubstr("'slurm-job' must come after hand-off: Slurm starts jobs only on nodes that "
                "it was given"));
  EXPECT_THAT(
      reported("{step: verdict}, {step: hand-off}, {step: slurm-job, with: {job: a}}"),
      HasSubstr("'slurm-job' needs a verdict and a hand-off behind it, both with as: NAME"));
  EXPECT_THAT(reported("{step: verdict}, {step: hand-off}, {step: slurm-job, with: {job: a}}, "
                       "{step: hand-off, as: b}"),
              HasSubstr("hand-off must come after verdict"));
  EXPECT_THAT(reported("{step: verdict}, {step: hand-off}, {step: slurm-job, with: {job: a}}, "
                       "{stage: disk}, {step: verdict, as: b}, {step: hand-off, as: b}"),
              HasSubstr("'disk' after hand-off: jobs may run on the node by now"));
  EXPECT_THAT(reported("{step: verdict}, {step: hand-off}, {step: slurm-job}"),
              HasSubstr("'slurm-job' needs with: {job: ...}"));
}

class SlurmJobPlan : public ::testing::Test {
 protected:
  SlurmJobPlan() {
    for (const auto* name : {"n1", "n2"}) {
      inventory::Node node;
      node.name = name;
      node.profile = "judged";
      inventory_.nodes.push_back(std::move(node));
    }
    auto& profile = inventory_.profiles["judged"];
    profile.name = "judged";
    profile.criteria = {criterion("slurm-job", "job.busbw")};
    inventory_.slurm.emplace();
    inventory_.slurm->jobs = {{.name = "nccl"}};
  }
  static inventory::Criterion criterion(std::string stage, std::string measure) {
    return {.stage = std::move(stage),
            .measure = std::move(measure),
            .parts = {""},
            .at_least = 1,
            .where = {"profile.yaml", 7, 5}};
  }
  std::optional<Plan> plan(std::string_view limit = "90m") {
    problems_.clear();
    std::string text{kWhole};
    text.replace(text.find("90m"), 3, limit);
    const auto playbook = read(text).playbook;
    return make_plan(*playbook, inventory_, {&inventory_.nodes[0], &inventory_.nodes[1]},
                     problems_);
  }
  std::string reported() {
    EXPECT_FALSE(plan());
    return to_string(problems_);
  }

  inventory::Inventory inventory_{};
  std::vector<inventory::Problem> problems_{};
};

TEST_F(SlurmJobPlan, IsOneStepOfAllNodesThatMayWaitAnHourAndThenRunToItsLimit) {
  const auto made = plan();

  ASSERT_TRUE(made) << to_string(problems_);
  ASSERT_EQ(made->groups.size(), 1);
  EXPECT_EQ(made->groups[0].members.size(), 2);
  const auto& step = (*made->nodes[0].steps)[3];
  EXPECT_EQ(step.name, "slurm-job");
  EXPECT_TRUE(step.once);
  EXPECT_EQ(step.expected, 90min);
  EXPECT_EQ(step.deadline, 150min);
}

TEST_F(SlurmJobPlan, RefusesALimitOfSecondsAndOfMonths) {
  for (const auto* limit : {"59s", "8d"}) {
    EXPECT_FALSE(plan(limit)) << limit;
    EXPECT_THAT(to_string(problems_), AllOf(HasSubstr("book.yaml:6:5: "), HasSubstr("limit")));
  }
}

TEST_F(SlurmJobPlan, NeedsAJobOfTheInventory) {
  inventory_.slurm->jobs[0].name = "ncll";
  EXPECT_EQ(reported(),
            "book.yaml:6:5: slurm: jobs: of the inventory has no job 'nccl' (did you mean "
            "'ncll'?)\n");

  inventory_.slurm.reset();
  EXPECT_EQ(reported(), "book.yaml:6:5: 'slurm-job' needs slurm: in the inventory\n");
}

TEST_F(SlurmJobPlan, NeedsCriteriaThatItsNumbersCanMeet) {
  auto& criteria = inventory_.profiles["judged"].criteria;
  criteria = {criterion("slurm-job@other", "job.busbw")};
  EXPECT_EQ(reported(),
            "book.yaml:6:5: profile 'judged' has no criteria for 'slurm-job': nothing would be "
            "judged\n");

  criteria = {criterion("slurm-job", "nccl.busbw")};
  criteria[0].parts = {"gpu0"};
  EXPECT_EQ(reported(),
            "profile.yaml:7:5: 'slurm-job' measures what its job prints: job.NAME, with the name "
            "of a number of its last line, and not 'nccl.busbw'\n"
            "profile.yaml:7:5: 'slurm-job' measures the nodes as a whole: leave parts out\n");
}

}  // namespace
}  // namespace cupel::playbooks
