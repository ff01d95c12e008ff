// Which Xids a reset answers, held against the catalogue that advises people.
#include "burnin/gpu/gpu_reset.h"

#include <gmock/gmock.h>

#include "burnin/criteria/causes.h"
#include "burnin/xids.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;

TEST(GpuReset, AnswersTheXidsWhoseActionTheCatalogueHasAsAReset) {
  constexpr int kFailedRemap = 64, kDoubleBit = 48;
  int resets = 0;
  for (const auto& each : causes().xids()) {
    const bool reset = each.now == "RESET_GPU" && each.code != kFailedRemap;
    const bool needed = reset || each.code == kDoubleBit || each.code == kContainedXid;
    EXPECT_EQ(is_answered_by_reset(each.code), needed) << each.code;
    EXPECT_EQ(each.code == kRestartXid, each.now == "RESTART_BM") << each.code;
    resets += reset ? 1 : 0;
  }
  EXPECT_GE(resets, 10);
}

TEST(GpuReset, OrdersWhatThePlaybookSaysAndFailsWithoutAWord) {
  const auto usual = prepared("gpu-reset"), pass = prepared("gpu-reset", {{"flaky", "pass"}});
  const auto wrong = prepared("gpu-reset", {{"flaky", "always"}});

  ASSERT_TRUE(usual && pass);
  EXPECT_EQ(order_in(usual->script).at("flaky"), "fail");
  EXPECT_EQ(order_in(pass->script).at("flaky"), "pass");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("flaky"));
}

TEST(GpuReset, ProvesNothingWithoutAGpu) {
  const std::string head =
      R"({"kind":"stage","stage":"gpu-reset","protocol":1,"program":"cupel-node","version":"1"})";

  const auto none = parsed("gpu-reset", head + "\n" + R"({"kind":"done","status":0})" + "\n");
  const auto cut = parsed("gpu-reset", head + "\n");

  ASSERT_FALSE(none || cut);
  EXPECT_EQ(none.error().code, Code::kNoMeasurement);
  EXPECT_THAT(none.error().what, HasSubstr("lists no GPU"));
  EXPECT_THAT(cut.error().what, HasSubstr("has no end"));
}

}  // namespace
}  // namespace cupel::burnin
