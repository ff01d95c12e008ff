#include "inventory/parts.h"

#include <gtest/gtest.h>

namespace cupel::inventory {
namespace {

TEST(SamePci, KnowsOnePlaceHoweverItIsWritten) {
  EXPECT_TRUE(same_pci("00000000:1B:00.0", "1b:00.0"));
  EXPECT_TRUE(same_pci("00000000:1B:00.0", "0000:1b:00.0"));
  EXPECT_TRUE(same_pci("0008:01:00.0", "00000008:01:00.0"));
}

TEST(SamePci, TellsDomainsApartWhereBothAreTold) {
  EXPECT_FALSE(same_pci("0008:01:00.0", "0009:01:00.0"));
  EXPECT_FALSE(same_pci("0000:1b:00.0", "0000:1c:00.0"));
  EXPECT_FALSE(same_pci("0000:1b:00.0", ""));
}

}  // namespace
}  // namespace cupel::inventory
