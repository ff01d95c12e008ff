#include <gmock/gmock.h>

#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const Playbook& playbook) {
  std::vector<std::string> all;
  for (const auto& step : playbook.steps) all.push_back(step.name);
  return all;
}

TEST(Format, RefusesAConditionOnWhatSeveralMeasureTogether) {
  const auto result = read(R"(playbook: p
steps:
  - stage: node-facts
    group_by: pairs
  - stage: disk
    when: {measure: {memory.total: {at_least: 1}}}
)");

  EXPECT_FALSE(result.playbook);
  EXPECT_EQ(result.reported(), "book.yaml:6:36: no earlier step measures 'memory.total'\n");
}

TEST(Format, ReadsWhatARunIsToKnowOfAdmission) {
  const auto result = read(R"(playbook: p
priority: -3
canary: [1, 4]
limits: {firmware-push: 2}
steps:
  - stage: disk
    group_by: pairs
    stop_after: {failures: 3, share: 0.1}
    claims: [{resource: firmware-push, scope: rack, count: 2}]
  - step: approval
    with: {message: look first}
)");

  ASSERT_TRUE(result.playbook) << result.reported();
  const auto& playbook = *result.playbook;
  const auto& step = playbook.steps[0];
  EXPECT_EQ(playbook.priority, -3);
  EXPECT_EQ(playbook.canary, (std::vector{1, 4}));
  EXPECT_EQ(playbook.limits.at("firmware-push"), 2);
  EXPECT_EQ(step.together, Together::pairs);
  EXPECT_EQ(step.stop_after, (StopAfter{3, 0.1}));
  EXPECT_EQ(step.claims, (std::vector{Claim{"firmware-push", Claim::Scope::rack, 2}}));
  EXPECT_EQ(playbook.steps[1].kind, StepKind::approval);
  EXPECT_EQ(playbook.steps[1].with.at("message"), "look first");
}

TEST(Format, ReadsConditionsInAllTheirForms) {
  const auto result = read(R"(playbook: p
steps:
  - step: bmc-facts
  - stage: gpu-facts
  - stage: disk
    when:
      profile: [dgx-h100, a100-8]
      rack: {not: a01}
      fact: {bmc.vendor: NVIDIA}
      measure: {gpu.count: {at_least: 1, at_most: 8}}
)");

  ASSERT_TRUE(result.playbook) << result.reported();
  using About = Condition::About;
  using By = Condition::Test;
  const auto at = [](int line, int column) { return inventory::Place{"book.yaml", line, column}; };
  EXPECT_THAT(
      result.playbook->steps[2].when,
      ElementsAre(Condition{About::profile, "", By::is, {"dgx-h100", "a100-8"}, 0, at(7, 16)},
                  Condition{About::rack, "", By::is_not, {"a01"}, 0, at(8, 13)},
                  Condition{About::fact, "bmc.vendor", By::is, {"NVIDIA"}, 0, at(9, 26)},
                  Condition{About::measure, "gpu.count", By::at_least, {}, 1, at(10, 28)},
                  Condition{About::measure, "gpu.count", By::at_most, {}, 8, at(10, 28)}));
}

TEST(Format, AsksNothingThatNoEarlierStepTells) {
  const auto result = read(R"(playbook: p
steps:
  - stage: disk
    when: {fact: {bmc.vendor: NVIDIA}, measure: {gpu.count: 8}}
  - step: bmc-facts
  - stage: gpu-facts
    when: {fact: {bmc.vendr: NVIDIA}}
  - step: verdict
    when: {measure: {gpu.count: 8}}
)");

  EXPECT_EQ(result.reported(),
            "book.yaml:4:31: no earlier step tells 'bmc.vendor'\n"
            "book.yaml:4:61: no earlier step measures 'gpu.count'\n"
            "book.yaml:7:30: no earlier step tells 'bmc.vendr' (did you mean 'bmc.vendor'?)\n"
            "book.yaml:8:5: 'verdict' cannot hang on a fact or a measurement: what was not found "
            "out must be judged too\n");
}

constexpr std::string_view kSoak = R"(playbook: p
parameters:
  soak: {default: 5m, type: duration}
  how: {values: [short, long], default: short}
  slots: {default: "2", type: integer}
limits: {image-stream: "${slots}"}
steps:
  - stage: cpu-memory
    with: {duration: "${soak}"}
    deadline: "${soak}"
  - stage: disk
    when: {parameter: {how: long}}
)";

TEST(Format, PutsParametersWhereTheyStand) {
  const auto left = read(kSoak);
  const auto set = read(kSoak, {{"soak", "72h"}, {"how", "long"}, {"slots", "9"}});

  ASSERT_TRUE(left.playbook && set.playbook) << left.reported() << set.reported();
  EXPECT_THAT(names(*left.playbook), ElementsAre("cpu-memory"));
  EXPECT_EQ(left.playbook->steps[0].with.at("duration"), "5m");
  EXPECT_EQ(left.playbook->limits.at("image-stream"), 2);
  EXPECT_THAT(names(*set.playbook), ElementsAre("cpu-memory", "disk"));
  EXPECT_EQ(set.playbook->steps[0].with.at("duration"), "72h");
  EXPECT_EQ(set.playbook->steps[0].deadline, std::chrono::hours{72});
  EXPECT_EQ(set.playbook->limits.at("image-stream"), 9);
}

TEST(Format, RefusesValuesThatAParameterCannotHave) {
  const auto result =
      read(kSoak, {{"soak", "soon"}, {"how", "lang"}, {"slots", "many"}, {"soka", "1h"}});

  EXPECT_FALSE(result.playbook);
  for (const auto* line :
       {"--set soak: soak must be a duration such as 90s, 15m or 72h, not 'soon'\n",
        "--set how: how must be short or long, not 'lang' (did you mean 'long'?)\n",
        "--set slots: slots must be a whole number", "not 'many'\n",
        "--set soka: book.yaml has no parameter 'soka' (did you mean 'soak'?)\n"})
    EXPECT_THAT(result.reported(), HasSubstr(line));
}

TEST(Format, KnowsNoParameterThatIsNotDeclaredOrNotUsed) {
  const auto result = read(R"(playbook: p
parameters:
  soak: {default: 5m}
  unused: {default: 5m}
  needed: {type: duration}
steps:
  - stage: cpu-memory
    with: {duration: "${soka}", memory: "${open"}
  - stage: disk
    with: {runtime: "${needed}", size: "${each}"}
    when: {parameter: {sok: 1}}
)");

  EXPECT_EQ(result.reported(),
            "book.yaml:3:3: parameter 'soak' is not used: ${soak} may be a value in with, when, "
            "deadline, stop_after, canary, limits and max_parallel\n"
            "book.yaml:4:3: parameter 'unused' is not used: ${unused} may be a value in with, "
            "when, deadline, stop_after, canary, limits and max_parallel\n"
            "book.yaml:5:3: parameter 'needed' needs a value: --set needed=VALUE, or with: where "
            "it is included\n"
            "book.yaml:8:22: there is no parameter 'soka' (did you mean 'soak'?)\n"
            "book.yaml:8:41: '${' without '}'\n"
            "book.yaml:10:40: there is no parameter 'each'\n"
            "book.yaml:11:29: there is no parameter 'sok' (did you mean 'soak'?)\n");
}

TEST(Format, TakesParametersInTheCanaryAndInWhatStopsARun) {
  const auto result = read(R"(playbook: p
parameters:
  first: {default: "1", type: integer}
  failures: {default: "10", type: integer}
  share: {default: "0.5", type: number}
canary: ["${first}", 4]
steps:
  - step: ssh-wait
    stop_after: {failures: "${failures}", share: "${share}"}
)",
                           {{"first", "7"}, {"share", "0.25"}});

  ASSERT_TRUE(result.playbook) << result.reported();
  EXPECT_EQ(result.playbook->canary, (std::vector{7, 4}));
  EXPECT_EQ(result.playbook->steps[0].stop_after, (StopAfter{10, 0.25}));
}

TEST(Format, RefusesACanaryThatAParameterMakesEmpty) {
  const auto result = read(R"(playbook: p
parameters: {first: {default: "0", type: integer}}
canary: ["${first}", 4]
steps: [{step: ssh-wait}]
)");

  EXPECT_EQ(result.reported(),
            "book.yaml:3:10: each of canary must be a whole number from 1 to 100000, not '0'\n");
}

TEST(Format, RefusesADeadlineThatIsNoDuration) {
  const auto result = read("playbook: p\ndeadline: soon\nsteps: [{step: ssh-wait}]\n");

  EXPECT_EQ(result.reported(),
            "book.yaml:2:11: deadline must be a duration such as 90s, 15m or 72h, not 'soon'\n");
}

TEST(Format, DoesAStepForEachItemOfAList) {
  const auto result = read(R"(playbook: p
steps:
  - stage: disk
    foreach: [tmp, scratch]
    with: {directory: "/var/${each}"}
  - stage: disk
    foreach: {part: nvme}
  - stage: disk
    as: again
  - stage: disk
)");

  ASSERT_TRUE(result.playbook) << result.reported();
  EXPECT_THAT(names(*result.playbook),
              ElementsAre("disk@tmp", "disk@scratch", "disk", "disk@again", "disk"));
  EXPECT_EQ(result.playbook->steps[1].with.at("directory"), "/var/scratch");
  EXPECT_EQ(result.playbook->steps[2].each, inventory::PartKind::nvme);
}

TEST(Format, LetsNothingBeginThatNeverCould) {
  const auto result = read(R"(playbook: p
limits: {firmware-push: 2}
steps:
  - step: power-on
    group_by: pairs
    claims: [{resource: firmware-puhs}, {resource: firmware-push, count: 3}]
  - step: approval
)");

  EXPECT_EQ(
      result.reported(),
      "book.yaml:4:5: 'power-on' claims firmware-puhs, but limits does not say how many there "
      "are (did you mean 'firmware-push'?)\n"
      "book.yaml:4:5: 'power-on' claims 3 of firmware-push, and there are only 2: it could "
      "never begin\n"
      "book.yaml:4:5: 'power-on' is done to each machine by itself; only a stage can be done "
      "together\n"
      "book.yaml:7:5: 'approval' needs with: {message: ...}: what the operator must know to "
      "approve\n");
  EXPECT_EQ(read(R"(playbook: p
limits: {firmware-push: 2}
steps:
  - step: power-on
    group_by: pairs
    claims: [{resource: firmware-puhs}, {resource: firmware-push, count: 3}]
)")
                .reported(),
            "book.yaml:4:5: 'power-on' claims firmware-puhs, but limits does not say how many "
            "there are (did you mean 'firmware-push'?)\n"
            "book.yaml:4:5: 'power-on' claims 3 of firmware-push, and there are only 2: it could "
            "never begin\n"
            "book.yaml:4:5: 'power-on' is done to each machine by itself; only a stage can be done "
            "together\n");
}

TEST(Format, TellsEveryMistakeOfItsTablesAtOnce) {
  const auto result = read(R"(playbook: p
canary: [0]
priority: 101
limits: {a b: 1, c: none}
parameters: {each: {default: x}, p: {typ: text}}
steps:
  - stage: disk
    group_by: pair
    stop_after: {failures: 0, share: 2}
    claims: [{scope: world}]
    foreach: {part: hcas}
    when: {profil: x, measure: [], fact: {bmc.vendor: {}}}
  - 5
  - include: [a]
)");

  EXPECT_FALSE(result.playbook);
  for (const auto* line :
       {"book.yaml:2:10: each of canary must be a whole number from 1 to 100000, not '0'",
        "book.yaml:3:11: priority must be a whole number from -100 to 100, not '101'",
        "book.yaml:4:10: 'a b' must be at most 64 letters, digits and ._-",
        "book.yaml:4:21: c must be a whole number from 1 to 1000000, not 'none'",
        "book.yaml:5:14: 'each' is the name of the item that foreach is at",
        "book.yaml:5:38: unknown key 'typ' in p (did you mean 'type'?)",
        "group_by must be alone, pairs, rack or all, not 'pair' (did you mean 'pairs'?)",
        "failures must be a whole number from 1 to 100000", "share must be a number from 0 to 1",
        "each of claims needs resource",
        "scope must be node, rack, leaf-group or site, not 'world'",
        "there is no part 'hcas' (did you mean 'hca'?)",
        "unknown key 'profil' in when (did you mean 'profile'?)",
        "measure must be a map (key: value)", "book.yaml:13:5: step must be a map (key: value)",
        "book.yaml:14:14: include must be a single value"})
    EXPECT_THAT(result.reported(), HasSubstr(line));
}

TEST(Format, HasBounds) {
  std::string many = "playbook: p\nsteps:\n";
  for (int i = 0; i < 5; ++i) {
    many += "  - stage: disk\n    foreach: [";
    for (int j = 0; j < 250; ++j) many += "x" + std::to_string(1000 * i + j) + ", ";
    many += "last" + std::to_string(i) + "]\n";
  }
  const std::string value(5000, 'x');
  std::string grown = "playbook: p\nparameters: {a: {default: " + std::string(4000, 'x') +
                      "}}\nsteps: [{step: approval, with: {message: \"${a}${a}\"}}]\n";

  EXPECT_THAT(read(many).reported(), HasSubstr("more than 1000 steps"));
  EXPECT_THAT(read("playbook: " + value + "\nsteps: [{step: verdict}]\n").reported(),
              HasSubstr("playbook is longer than 4096 characters"));
  EXPECT_THAT(read(grown).reported(), HasSubstr("with its parameters' values it is too long"));
}

}  // namespace
}  // namespace cupel::playbooks
