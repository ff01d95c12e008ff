// Former names of measures in a site's own profile: accepted, with one warning for each.
#include "inventory/former_words.h"

#include <gmock/gmock.h>

#include "inventory/load_profile.h"

namespace cupel::inventory {
namespace {

using ::testing::HasSubstr;

std::string profile_with(std::string_view measure) {
  return "profile: mine\npower: {idle: 1, loaded: 2}\ncriteria:\n  gemm:\n    - {measure: " +
         std::string{measure} +
         ", at_most: 0, source: ours}\n    - - {measure: " + std::string{measure} +
         ", parts: gpu0, at_most: 1, source: ours}\n";
}

TEST(FormerMeasures, AreThePresentOnesInAProfileAndAreWarnedOfOnce) {
  for (const auto& row : kFormerMeasures) {
    std::vector<Problem> problems, warnings;

    const auto profile = parse_profile(profile_with(row.former), "mine.yaml",
                                       ProfileSource{"/nowhere", &warnings}, problems);

    ASSERT_TRUE(profile) << to_string(problems);
    ASSERT_EQ(profile->criteria.size(), 2u);
    EXPECT_EQ(profile->criteria[0].measure, row.now);
    EXPECT_EQ(profile->criteria[1].measure, row.now);
    ASSERT_EQ(warnings.size(), 1u) << row.former;
    EXPECT_THAT(to_string(warnings), HasSubstr("mine.yaml:5:17: warning: '"));
    EXPECT_THAT(warnings[0].what, HasSubstr(std::string{row.now} + "' now"));
  }
}

TEST(FormerMeasures, AreThemselvesNoPresentNames) {
  for (const auto& row : kFormerMeasures) EXPECT_EQ(present_measure(row.now), row.now);
}

TEST(FormerMeasures, LeaveOtherNamesAsTheyAre) {
  std::vector<Problem> problems, warnings;

  const auto profile = parse_profile(profile_with("gemm.bf16.rate"), "mine.yaml",
                                     ProfileSource{"/nowhere", &warnings}, problems);

  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->criteria[0].measure, "gemm.bf16.rate");
  EXPECT_TRUE(warnings.empty());
}

}  // namespace
}  // namespace cupel::inventory
