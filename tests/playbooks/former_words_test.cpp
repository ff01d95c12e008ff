// Former names of keys: a playbook that has them is the one with the present names, and says so
// once for each.
#include "playbooks/former_words.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "playbooks/playbook.h"
#include "playbooks/schema.h"

namespace cupel::playbooks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFormer = R"(playbook: p
nodes_at_once: 7
steps:
  - step: approval
    with: {say: look first}
  - step: ssh-wait
    tries: 3
  - stage: disk
    each: [a, b]
    tries: 4
    with: {directory: "/${each}"}
  - stage: cpu-memory
    together: rack
    with: {duration: 1m}
  - step: verdict
)";

std::optional<Playbook> read(std::string_view text, std::vector<inventory::Problem>& problems) {
  return parse_playbook(text, "book.yaml", problems);
}

TEST(FormerKeys, MeanWhatThePresentOnesMean) {
  std::vector<inventory::Problem> problems;

  const auto playbook = read(kFormer, problems);

  ASSERT_TRUE(playbook) << to_string(problems);
  EXPECT_EQ(playbook->nodes_at_once, 7);
  EXPECT_EQ(playbook->steps[0].with.at("message"), "look first");
  EXPECT_EQ(playbook->steps[1].tries, 3);
  EXPECT_EQ(playbook->steps[2].name, "disk@a");
  EXPECT_EQ(playbook->steps[3].tries, 4);
  EXPECT_EQ(playbook->steps[4].together, Together::rack);
}

TEST(FormerKeys, AreWarnedOfOnceForEachWithThePlace) {
  std::vector<inventory::Problem> problems;

  const auto playbook = read(kFormer, problems);

  ASSERT_TRUE(playbook);
  std::vector<std::string> warnings;
  for (const auto& each : playbook->warnings)
    warnings.push_back(inventory::to_string(std::vector{each}));
  EXPECT_THAT(
      warnings,
      ElementsAre(HasSubstr("book.yaml:2:1: warning: 'nodes_at_once' is called 'max_parallel'"),
                  HasSubstr("book.yaml:5:12: warning: 'say' is called 'message'"),
                  HasSubstr("book.yaml:7:5: warning: 'tries' is called 'max_attempts'"),
                  HasSubstr("book.yaml:9:5: warning: 'each' is called 'foreach'"),
                  HasSubstr("book.yaml:13:5: warning: 'together' is called 'group_by'")));
}

TEST(FormerKeys, AreUnknownBesideThePresentOnes) {
  std::vector<inventory::Problem> problems;

  const auto playbook =
      read("playbook: p\nsteps: [{step: verdict, tries: 3, max_attempts: 4}]\n", problems);

  EXPECT_FALSE(playbook);
  EXPECT_THAT(to_string(problems), HasSubstr("unknown key 'tries'"));
}

TEST(FormerMeasures, AreReplacedInConditions) {
  std::vector<inventory::Problem> problems;

  const auto playbook = read(
      "playbook: p\nsteps: [{stage: gemm}, {step: power-cycle, when: {measure: {kernel.told: "
      "{at_most: 0}}}}, {step: verdict}]\n",
      problems);

  ASSERT_TRUE(playbook) << to_string(problems);
  EXPECT_EQ(playbook->steps[1].when[0].name, "kernel_log.readable");
  ASSERT_EQ(playbook->warnings.size(), 1u);
  EXPECT_THAT(to_string(playbook->warnings), HasSubstr("'kernel.told' is called"));
}

TEST(FormerKeys, AreNotInTheSchema) {
  const auto schema = boost::json::serialize(playbook_schema());
  for (const auto& row : kFormerKeys) {
    EXPECT_THAT(schema, Not(HasSubstr("\"" + std::string{row.former} + "\":"))) << row.former;
    EXPECT_THAT(schema, HasSubstr("\"" + std::string{row.now} + "\":")) << row.now;
  }
}

}  // namespace
}  // namespace cupel::playbooks
