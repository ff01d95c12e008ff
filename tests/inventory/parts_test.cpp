#include "inventory/parts.h"

#include <gtest/gtest.h>

#include "inventory/pci_address.h"

namespace cupel::inventory {
namespace {

TEST(SamePci, KnowsOnePlaceHoweverItIsWritten) {
  EXPECT_TRUE(same_pci("00000000:1B:00.0", "1b:00.0"));
  EXPECT_TRUE(same_pci("00000000:1B:00.0", "0000:1b:00.0"));
  EXPECT_TRUE(same_pci("0008:01:00.0", "00000008:01:00.0"));
}

TEST(SamePci, DistinguishesDomainsWhereBothAreReported) {
  EXPECT_FALSE(same_pci("0008:01:00.0", "0009:01:00.0"));
  EXPECT_FALSE(same_pci("0000:1b:00.0", "0000:1c:00.0"));
  EXPECT_FALSE(same_pci("0000:1b:00.0", ""));
}

TEST(WrittenPci, IsOneTextForOnePlaceAndNothingForWhatIsNoAddress) {
  EXPECT_EQ(written_pci("00000000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(written_pci(" 0000:1b:00.0 "), "0000:1b:00.0");
  EXPECT_EQ(written_pci("0008:01:00.0"), "0008:01:00.0");
  EXPECT_EQ(written_pci("00010000:01:00.0"), "10000:01:00.0");
  for (const auto* text : {"", "1b:00.0", "PCIe slot 3", "PCIe:Slot:3", "0000:1b:00", ":::",
                           "0000:1g:00.0", "zz:1b:00.0", "111111111:1b:00.0", "0000:1b:00.00"})
    EXPECT_FALSE(written_pci(text)) << text;
}

TEST(Parts, AreWhatTheirPlacesAndPairsAreAbout) {
  EXPECT_TRUE(is_about("gpu3", "gpu3"));
  EXPECT_TRUE(is_about("gpu3/nvlink2", "gpu3"));
  EXPECT_TRUE(is_about("gpu3-gpu4", "gpu4"));
  EXPECT_TRUE(is_about("mlx5_10-mlx5_1", "mlx5_1"));
  EXPECT_TRUE(is_about("gpu3", ""));
  EXPECT_FALSE(is_about("mlx5_10", "mlx5_1"));
  EXPECT_FALSE(is_about("gpu1", "gpu"));
  EXPECT_FALSE(is_about("", "gpu3"));
}

}  // namespace
}  // namespace cupel::inventory
