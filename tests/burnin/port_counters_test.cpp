#include "burnin/fabric/discovery/port_counters.h"

#include <gmock/gmock.h>

#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kTwoPorts = R"(Errors for "n07 mlx5_2 "
   GUID 0xa088c20300006021 port 1: [LinkDownedCounter == 4] [PortRcvErrors == 321]
Errors for 0xb0cf0e0300000200 "MF0;leaf1-r2:MQM9700/U1"
   GUID 0xb0cf0e0300000200 port ALL: [SymbolErrorCounter == 1200]
   GUID 0xb0cf0e0300000200 port 7: [SymbolErrorCounter == 1200]

## Summary: 267 nodes checked, 2 bad nodes found
##          1036 ports checked, 2 ports have errors beyond threshold
## Thresholds: 
##          2 PMA query failures
## Suppressed:
)";

TEST(Ibqueryerrors, ReadsEachPortOnceAndWhatDidNotAnswer) {
  const auto found = parse_ibqueryerrors(kTwoPorts);

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->ports.size(), 2u);
  EXPECT_EQ(found->ports[0], (PortCounters{0xa088c20300006021,
                                           1,
                                           "n07 mlx5_2",
                                           {{"LinkDownedCounter", 4}, {"PortRcvErrors", 321}}}));
  EXPECT_EQ(found->ports[1],
            (PortCounters{0xb0cf0e0300000200, 7, "leaf1-r2", {{"SymbolErrorCounter", 1200}}}));
  EXPECT_EQ(found->nodes_checked, 267u);
  EXPECT_EQ(found->ports_checked, 1036u);
  EXPECT_EQ(found->failed_queries, 2u);
}

TEST(Ibqueryerrors, TakesEmptyOutputForAFailureToLook) {
  for (const auto* text : {"", "\n", "ibwarn: Query SA failed: Connection timed out\n",
                           "## Summary: 0 nodes checked, 0 bad nodes found\n"}) {
    const auto found = parse_ibqueryerrors(text);

    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_THAT(found.error().what, HasSubstr("checked no node"));
  }
}

TEST(Ibqueryerrors, ReadsTheCaptures) {
  CUPEL_NEEDS_FABRIC_FILE(bad, "generated/n32_ibqueryerrors_BAD.out");
  CUPEL_NEEDS_FABRIC_FILE(good, "generated/selene_ibqueryerrors.out");

  const auto worn = parse_ibqueryerrors(bad), clean = parse_ibqueryerrors(good);

  ASSERT_TRUE(worn);
  EXPECT_EQ(worn->ports.size(), 2u);
  ASSERT_TRUE(clean);
  EXPECT_EQ(clean->ports.size(), 0u);
  EXPECT_EQ(clean->nodes_checked, 5007u);
}

TEST(Ibqueryerrors, SurvivesEveryCutAndEveryChangedByte) {
  const std::string whole{kTwoPorts};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    (void)parse_ibqueryerrors(std::string_view{whole}.substr(0, at));
    for (const char bad : {'\0', '"', '[', '\xff', '\n', '9'}) {
      auto changed = whole;
      changed[at] = bad;
      (void)parse_ibqueryerrors(changed);
    }
  }
}

}  // namespace
}  // namespace cupel::burnin
