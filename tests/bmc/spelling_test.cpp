// MACs, versions and dates as BMCs write them.
#include "bmc/redfish/spelling.h"

#include <gtest/gtest.h>

namespace cupel::bmc {
namespace {

TEST(Spelling, OfMacsIsOneAndJunkIsNone) {
  EXPECT_EQ(redfish::canonical_mac("5C-FF-35-FB-E6-E9"), "5c:ff:35:fb:e6:e9");
  EXPECT_EQ(redfish::canonical_mac("00620B4C284E"), "00:62:0b:4c:28:4e");
  for (const auto* junk :
       {"Not Available", "", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF", "88e9:a4ff:ff87:42c8"})
    EXPECT_EQ(redfish::canonical_mac(junk), std::nullopt) << junk;
}

TEST(Spelling, OfVersionsLosesTheNameOfWhatTheyAreOf) {
  EXPECT_EQ(redfish::canonical_version("GB200Nvl-24.12-8"), "24.12-8");
  EXPECT_EQ(redfish::canonical_version("xx-1.2 "), "1.2");
  EXPECT_EQ(redfish::canonical_version("no valid golden_image_arm!!!!"), "");
}

TEST(Spelling, OfDatesThatAreNoneIsNoDate) {
  for (const auto* none : {"0000-00-00T00:00:00Z", "1970-01-01T00:00:20+00:00",
                           "9999-12-31T23:59:59Z", "2000-01-01T00:00:10+00:00", "TIME_NA"})
    EXPECT_EQ(redfish::moment_of(none), std::nullopt) << none;
  EXPECT_EQ(redfish::moment_of("2012-03-07T14:44+06:00"),
            redfish::moment_of("2012-03-07T08:44:00Z"));
  EXPECT_EQ(redfish::moment_of("2024-08-08T18:48:19"), redfish::moment_of("2024-08-08T18:48:19Z"));
}

}  // namespace
}  // namespace cupel::bmc
