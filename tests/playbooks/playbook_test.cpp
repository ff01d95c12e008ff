#include "playbooks/playbook.h"

#include <gmock/gmock.h>

#include "inventory/shipped.h"
#include "tests/playbooks/read.h"
#include "tests/support/damage.h"

namespace cupel::playbooks {
namespace {
using inventory::Problem;
using ::testing::HasSubstr;

TEST(Playbook, ReadsEveryStepAsItsAuthorWroteIt) {
  const auto result = read(R"(playbook: mine
description: a try
max_parallel: 7
steps:
  - step: power-on
    deadline: 90s
    max_attempts: 3
  - stage: cpu-memory
    with: {duration: 2s, memory: 32MiB}
    on_failure: continue
  - step: verdict
)");

  ASSERT_TRUE(result.playbook) << result.reported();
  const auto& steps = result.playbook->steps;
  EXPECT_EQ(result.playbook->name, "mine");
  EXPECT_EQ(result.playbook->nodes_at_once, 7);
  ASSERT_EQ(steps.size(), 3);
  EXPECT_EQ(steps[0].kind, StepKind::power_on);
  EXPECT_EQ(steps[0].deadline, std::chrono::seconds{90});
  EXPECT_EQ(steps[0].tries, 3);
  EXPECT_EQ(steps[0].on_failure, OnFailure::stop);
  EXPECT_EQ(steps[1].kind, StepKind::stage);
  EXPECT_EQ(steps[1].name, "cpu-memory");
  EXPECT_EQ(steps[1].with, (burnin::Parameters{{"duration", "2s"}, {"memory", "32MiB"}}));
  EXPECT_EQ(steps[1].on_failure, OnFailure::go_on);
  EXPECT_EQ(steps[1].where, (inventory::Place{"book.yaml", 8, 5}));
  EXPECT_EQ(steps[2].tries, std::nullopt);
}

TEST(Playbook, IsSixtyFourNodesAtOnceUnlessToldOtherwise) {
  const auto result = read("playbook: short\nsteps: [{step: verdict}]\n");

  ASSERT_TRUE(result.playbook) << result.reported();
  EXPECT_EQ(result.playbook->nodes_at_once, 64);
  EXPECT_EQ(result.playbook->steps[0].with, burnin::Parameters{});
}

TEST(Playbook, TellsWhereAnUnknownStageStandsAndWhatWasMeant) {
  const auto result = read(R"(playbook: mine
steps:
  - stage: gpu-fact
  - step: disk
)");

  EXPECT_FALSE(result.playbook);
  EXPECT_EQ(result.reported(),
            "book.yaml:3:12: there is no stage 'gpu-fact' (did you mean 'gpu-facts'?)\n"
            "book.yaml:4:11: there is no step 'disk' (it is a stage: write stage: disk)\n");
}

TEST(Playbook, TellsAllErrorsAtOnce) {
  const auto result = read(R"(playbook: mine
max_parallel: many
stpes: []
steps:
  - step: power-onn
  - stage: cpu-memory
    with: {durations: 5m, memory: [1, 2]}
  - step: verdict
    stage: disk
  - step: hand-off
    on_failure: contniue
    max_attempts: 0
    deadline: soon
  - stage: gpu-facts
    with: {anything: 1}
)");

  EXPECT_FALSE(result.playbook);
  for (const auto* line :
       {"book.yaml:2:", "'stpes'", "there is no step 'power-onn' (did you mean 'power-on'?)",
        "book.yaml:7:12: 'cpu-memory' has no parameter 'durations' (did you mean 'duration'?)",
        "memory must be a single value", "exactly one of step: KIND, stage: NAME and include: FILE",
        "on_failure must be stop or continue, not 'contniue' (did you mean 'continue'?)",
        "max_attempts", "deadline", "'gpu-facts' has no parameter 'anything'"})
    EXPECT_THAT(result.reported(), HasSubstr(line));
}

TEST(Playbook, HandsNothingOverThatWasNotJudged) {
  const auto early = read("playbook: p\nsteps: [{step: hand-off}, {step: verdict}]\n");
  const auto late = read("playbook: p\nsteps: [{step: verdict}, {stage: disk}]\n");
  const auto twice = read("playbook: p\nsteps: [{stage: disk}, {stage: disk}]\n");

  EXPECT_THAT(early.reported(), HasSubstr("hand-off must come after verdict"));
  EXPECT_THAT(late.reported(), HasSubstr("'disk' after verdict would not be judged"));
  EXPECT_THAT(twice.reported(), HasSubstr("'disk' stands twice"));
}

TEST(Playbook, NeedsSteps) {
  EXPECT_THAT(read("playbook: p\n").reported(), HasSubstr("playbook needs steps"));
  EXPECT_THAT(read("").problems, ::testing::Not(::testing::IsEmpty()));
}

TEST(Playbook, IsFoundByItsNameAmongTheShippedOnes) {
  std::vector<Problem> problems;

  const auto by_name = load_playbook("new-rack", problems);
  const auto by_path = load_playbook("playbooks/new-rack.yaml", problems);
  const auto typo = load_playbook("new-rak", problems);

  ASSERT_TRUE(by_name && by_path);
  EXPECT_EQ(by_name->text, by_path->text);
  EXPECT_FALSE(typo);
  EXPECT_THAT(to_string(problems), HasSubstr("did you mean 'new-rack'?"));
}

TEST(Playbook, IsReadOrRefusedHoweverItWasDamaged) {
  std::mt19937 random{20261121};
  std::vector<inventory::Problem> none;
  const auto shipped = load_playbook("new-rack", none);
  ASSERT_TRUE(shipped);
  for (int round = 0; round < 5000; ++round) {
    const auto text = cupel::test::damaged(shipped->text, random);
    std::vector<inventory::Problem> problems;

    const auto playbook = parse_playbook(text, "damaged.yaml", problems);

    EXPECT_NE(playbook.has_value(), !problems.empty()) << text;
  }
}

TEST(Playbook, SaysWrongOrderTogetherWithWrongWords) {
  const auto result = read(R"(playbook: mine
steps:
  - stage: disk
    with: {runtme: 9s}
  - stage: disk
  - step: verdict
  - stage: node-facts
)");

  EXPECT_THAT(result.reported(), HasSubstr("book.yaml:4:12: 'disk' has no parameter 'runtme'"));
  EXPECT_THAT(result.reported(), HasSubstr("book.yaml:5:5: 'disk' stands twice in the playbook"));
  EXPECT_THAT(result.reported(), HasSubstr("book.yaml:7:5: 'node-facts' after verdict"));
}

TEST(Playbook, DoesNotMissWhatIsOnlyMisspelled) {
  const auto result = read(R"(playbook: mine
steps:
  - stage: gpu-fact
  - stage: disk
    when: {measure: {gpu.count: {at_least: 1}}}
  - step: verdct
  - step: hand-off
)");

  EXPECT_THAT(result.reported(), HasSubstr("gpu-fact"));
  EXPECT_THAT(result.reported(), HasSubstr("verdct"));
  EXPECT_THAT(result.reported(), ::testing::Not(HasSubstr("must come after verdict")));
  EXPECT_THAT(result.reported(), ::testing::Not(HasSubstr("no earlier step")));
}

TEST(Playbook, HasANameThatIsSafeInReportsAndPaths) {
  for (const auto* name : {"'../x'", "a b", "'a;b'", "'<script>'"})
    EXPECT_THAT(read(std::string{"playbook: "} + name + "\nsteps: [{step: verdict}]\n").reported(),
                HasSubstr("letters, digits and ._-"))
        << name;
}

}  // namespace
}  // namespace cupel::playbooks
