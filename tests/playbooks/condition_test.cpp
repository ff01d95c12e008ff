#include "playbooks/condition.h"

#include <gmock/gmock.h>

#include "inventory/node.h"

namespace cupel::playbooks {
namespace {
using About = Condition::About;
using By = Condition::Test;

Condition fact(std::string name, By test, std::vector<std::string> values) {
  return {About::fact, std::move(name), test, std::move(values), 0, {}};
}

Condition amount(std::string name, By test, double number) {
  return {About::measure, std::move(name), test, {}, number, {}};
}

const Facts kFacts{{"bmc.vendor", "NVIDIA"}, {"bmc.version", "24.09.17"}, {"gpu.count", "8"}};

TEST(Condition, IsMetByAnyOfItsValuesWhateverTheirCase) {
  EXPECT_EQ(unmet({fact("bmc.vendor", By::is, {"Dell", "nvidia"})}, kFacts), std::nullopt);
  EXPECT_EQ(unmet({fact("gpu.count", By::is, {"8.0"})}, kFacts), std::nullopt);
  EXPECT_EQ(unmet({fact("bmc.vendor", By::is_not, {"Dell"})}, kFacts), std::nullopt);
  EXPECT_EQ(unmet({}, {}), std::nullopt);
}

TEST(Condition, SaysWhatWasFoundAndWhatWasWanted) {
  EXPECT_EQ(unmet({fact("bmc.vendor", By::is, {"Dell", "HPE"})}, kFacts),
            "bmc.vendor is NVIDIA, expected Dell or HPE");
  EXPECT_EQ(unmet({fact("bmc.vendor", By::is_not, {"nvidia"})}, kFacts),
            "bmc.vendor is NVIDIA, expected anything but nvidia");
  EXPECT_EQ(unmet({amount("gpu.count", By::at_least, 9)}, kFacts),
            "gpu.count is 8, expected at least 9");
  EXPECT_EQ(unmet({amount("gpu.count", By::at_most, 7)}, kFacts),
            "gpu.count is 8, expected at most 7");
}

TEST(Condition, IsNotMetByWhatNobodyTold) {
  EXPECT_EQ(unmet({amount("disk.errors", By::at_most, 0)}, kFacts),
            "disk.errors is not reported, expected at most 0");
  EXPECT_EQ(unmet({fact("bios.version", By::is_not, {"1.0"})}, kFacts),
            "bios.version is not reported, expected anything but 1.0");
}

TEST(Condition, KnowsWhatNobodyToldFromWhatIsOtherwise) {
  EXPECT_TRUE(unreported({amount("disk.errors", By::at_most, 0)}, kFacts));
  EXPECT_TRUE(unreported({amount("bmc.version", By::at_least, 24)}, kFacts)) << "it is no number";
  EXPECT_FALSE(unreported({amount("gpu.count", By::at_least, 9)}, kFacts));
  EXPECT_FALSE(unreported({amount("gpu.count", By::at_least, 8)}, kFacts)) << "it is met";
  EXPECT_FALSE(unreported(
      {fact("bmc.vendor", By::is, {"HPE"}), amount("disk.errors", By::at_most, 0)}, kFacts))
      << "the first that is not met is the reason";
}

TEST(Condition, ComparesOnlyNumbersAsNumbers) {
  EXPECT_EQ(unmet({amount("bmc.version", By::at_least, 24)}, kFacts),
            "bmc.version is no number: '24.09.17', expected at least 24");
  EXPECT_EQ(unmet({amount("gpu.count", By::at_least, 8)}, {{"gpu.count", "nan"}}),
            "gpu.count is no number: 'nan', expected at least 8");
}

TEST(Condition, AboutProfileAndRackIsSettledByTheNodeAlone) {
  const Condition profile{About::profile, "", By::is, {"dgx-h100"}, 0, {}};
  const Condition rack{About::rack, "", By::is_not, {"a01"}, 0, {}};
  inventory::Node node;
  node.profile = "dgx-h100";
  node.rack = "a02";

  EXPECT_TRUE(applies({profile, rack, fact("bmc.vendor", By::is, {"Dell"})}, node));
  node.rack = "a01";
  EXPECT_FALSE(applies({profile, rack}, node));
  EXPECT_EQ(unmet({profile, rack}, {}), std::nullopt);
  EXPECT_EQ(left_for_the_run({profile, amount("gpu.count", By::is, 1), rack}).size(), 1);
}

}  // namespace
}  // namespace cupel::playbooks
