#include "bmc/redfish/vendors.h"

#include <gtest/gtest.h>

#include "bmc/redfish/refusals.h"

namespace cupel::bmc::redfish {
namespace {

TEST(ModelQuirks, IsOfTheModelAndNotOfAllOfItsVendor) {
  EXPECT_TRUE(handling_for("Lenovo", "ThinkSystem SR675 V3 OVX", "").restart_is_off_on);
  EXPECT_FALSE(handling_for("Lenovo", "ThinkSystem SR670 V2", "").restart_is_off_on);
  EXPECT_FALSE(handling_for("Contoso", "SR675 V3", "").restart_is_off_on);
}

TEST(ModelQuirks, SaysWhichRestartsCutThePowerOfDpus) {
  EXPECT_TRUE(handling_for("NVIDIA", "DGXH100", "23.11.20").restart_cuts_dpu_power);
  EXPECT_TRUE(handling_for("Lenovo", "ThinkSystem SR650 V4", "").restart_cuts_dpu_power);
  EXPECT_FALSE(handling_for("NVIDIA", "GB200 NVL", "").restart_cuts_dpu_power);
}

TEST(ModelQuirks, IsOfARangeOfFirmware) {
  const auto ignores = [](std::string_view firmware) {
    return handling_for("Dell", "PowerEdge R650", firmware).may_ignore_power_on;
  };
  EXPECT_TRUE(ignores("5.10.10.05"));
  EXPECT_FALSE(ignores("5.10.10.00"));
  EXPECT_FALSE(ignores("5.10.30.00"));
  EXPECT_FALSE(ignores("6.00.30.00"));
  EXPECT_FALSE(ignores(""));
}

TEST(Refusal, SaysWhatToMakeOfWordsThatAreKnown) {
  const auto error = explained({Code::kFailed, "n: PATCH /x: HTTP 500: SYS518 (IDRAC.2.8.SYS518)"});

  EXPECT_EQ(error.code, Code::kBusy);
  EXPECT_EQ(error.retry_after, std::chrono::seconds{10});
  EXPECT_TRUE(error.what.ends_with("; the iDRAC is still gathering what it needs"));
}

TEST(Refusal, IsExplainedOnce) {
  const Error once = explained({Code::kFailed, "n: PATCH /x: HTTP 400: lockdown"});
  EXPECT_EQ(explained(once).what, once.what);
}

TEST(Refusal, IsNotMadeOfWhatWeSentOurselves) {
  const Error error{Code::kFailed, R"(n: HTTP 400: no; sent {"Attributes":{"Lockdown":true}})"};
  EXPECT_EQ(explained(error).code, Code::kFailed);
  EXPECT_EQ(explained(error).what, error.what);
}

TEST(Refusal, IsUnchangedWhereItsWordsAreUnknown) {
  const Error error{Code::kFailed, "n: PATCH /x: HTTP 418: a teapot"};
  EXPECT_EQ(explained(error).what, error.what);
  EXPECT_EQ(explained(error).code, Code::kFailed);
}

}  // namespace
}  // namespace cupel::bmc::redfish
