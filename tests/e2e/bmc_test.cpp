// `cupel bmc`: what an operator asks of BMCs by hand.
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BmcTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }
};

TEST_F(BmcTest, TurnsAMachineOffAndOnAndSaysSoOnlyWhenItsBmcDoes) {
  Site site{1};

  const auto off = site.run({"bmc", "s01-n01", "power", "off"});
  const auto told_off = site.run({"bmc", "s01-n01", "power"});
  const auto on = site.run({"bmc", "s01-n01", "power", "on", "--json"});

  EXPECT_EQ(off.status, 0) << off.err;
  EXPECT_EQ(told_off.out, "s01-n01: off\n");
  EXPECT_EQ(on.status, 0) << on.err;
  EXPECT_EQ(json::serialize(json_lines(on.out).front()), R"({"power":"on","node":"s01-n01"})");
  EXPECT_THAT(site.bmc(1).asked().resets, ElementsAre("GracefulShutdown", "On"));
  EXPECT_EQ(site.bmc(1).asked().open_sessions, 0);
}

TEST_F(BmcTest, DoesNotPressAButtonThatNeedsNoPressing) {
  Site site{1};

  const auto on = site.run({"bmc", "s01-n01", "power", "on"});

  EXPECT_EQ(on.status, 0) << on.err;
  EXPECT_THAT(site.bmc(1).asked().resets, IsEmpty());
}

TEST_F(BmcTest, SetsTheNextBootOnce) {
  Site site{1};

  const auto set = site.run({"bmc", "s01-n01", "boot", "pxe"});

  EXPECT_EQ(set.status, 0) << set.err;
  ASSERT_EQ(site.bmc(1).asked().patches.size(), 1);
  EXPECT_THAT(site.bmc(1).asked().patches.front(), AllOf(HasSubstr("Once"), HasSubstr("Pxe")));
}

TEST_F(BmcTest, TellsPartsForProgramsToo) {
  Site site{1};

  const auto told = site.run({"bmc", "all", "inventory", "--json"});

  EXPECT_EQ(told.status, 0) << told.err;
  ASSERT_EQ(json_lines(told.out).size(), 1);
  EXPECT_THAT(told.out, AllOf(HasSubstr(R"("serial":"437XR1138R2")"), HasSubstr(R"("unknown":[)")));
}

TEST_F(BmcTest, SaysWhichBmcDoesNotAnswerAndGoesOnWithTheOthers) {
  Site site{2};
  site.bmcs[0] = nullptr;  // gone; its address is still in the inventory

  const auto told = site.run({"bmc", "all", "power"});

  EXPECT_EQ(told.status, 1);
  EXPECT_THAT(told.err, HasSubstr("s01-n01"));
  EXPECT_EQ(told.out, "s01-n02: on\n");
}

}  // namespace
}  // namespace cupel::testing
