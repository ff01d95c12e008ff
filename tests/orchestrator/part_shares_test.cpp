#include "orchestrator/report/part_shares.h"

#include <gmock/gmock.h>

#include "inventory/shipped.h"

namespace cupel::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Detection detection(const std::string& fault, bool right, const std::string& needs = {}) {
  Detection one{.planted = {.fault = fault, .node = "n1"}};
  one.planted.needs = needs;
  one.found = one.right = right;
  return one;
}

const PartShares kTwo{.parts = {{.part = "GPU", .share = 60, .faults = {"lost", "hot", "idle"}},
                                {.part = "drive", .share = 40, .faults = {"worn"}}}};

TEST(PartShares, APartIsShownAsFarAsItsFaultsAre) {
  const std::vector<Detection> found{detection("lost", true), detection("hot", false),
                                     detection("worn", true), detection("other", false)};

  const auto weighed = weigh(kTwo, found);

  EXPECT_DOUBLE_EQ(weighed.shown, 70);
  EXPECT_DOUBLE_EQ(weighed.untried, 0);
  EXPECT_THAT(weighed.parts[0].escaped, ElementsAre("hot"));
}

TEST(PartShares, WhatWasNotTriedIsNotCalledShown) {
  const std::vector<Detection> found{detection("lost", true), detection("idle", false, "a tool")};

  const auto weighed = weigh(kTwo, found);

  EXPECT_DOUBLE_EQ(weighed.shown, 60);
  EXPECT_DOUBLE_EQ(weighed.untried, 40);
  EXPECT_EQ(weighed.parts[0].tried, 1) << "what nobody looks for yet is not tried";
}

TEST(PartShares, AFaultThatIsToBeBorneStandsForNoPart) {
  auto borne = detection("lost", true);
  borne.planted.verdict = burnin::Decision::pass;

  EXPECT_EQ(weigh(kTwo, std::vector{borne}).parts[0].tried, 0);
}

TEST(PartShares, ThoseThatShipAreReadAndSumTo100) {
  std::vector<inventory::Problem> problems;
  const auto* file = inventory::shipped_file("rehearsal/weights.yaml");
  ASSERT_NE(file, nullptr);

  const auto shares = parse_part_shares(file->text, "rehearsal/weights.yaml", problems);

  EXPECT_EQ(to_string(problems), "");
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->parts.size(), 13u);
}

TEST(PartShares, NameAllThatIsWrong) {
  std::vector<inventory::Problem> problems;

  EXPECT_FALSE(
      parse_part_shares("title: t\nsource: s\nparts:\n"
                        "  - {part: a, share: 60, faults: [x]}\n"
                        "  - {part: b, share: -1, faults: [x]}\n"
                        "  - {part: c, share: 1}\n",
                        "w.yaml", problems));
  EXPECT_THAT(to_string(problems),
              AllOf(HasSubstr("x stands for two parts"), HasSubstr("above 0"),
                    HasSubstr("no fault stands"), HasSubstr("sum to 60, not to 100")));
}

}  // namespace
}  // namespace cupel::report
