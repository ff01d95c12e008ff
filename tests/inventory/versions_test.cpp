#include "inventory/versions.h"

#include <gmock/gmock.h>

#include <string>
#include <tuple>

namespace cupel::inventory {
namespace {

using Pair = std::tuple<const char*, const char*>;

class EarlierVersion : public ::testing::TestWithParam<Pair> {};

TEST_P(EarlierVersion, IsBeforeTheLaterOneBothWays) {
  const auto [earlier, later] = GetParam();

  EXPECT_TRUE(compare_versions(earlier, later) < 0);
  EXPECT_TRUE(compare_versions(later, earlier) > 0);
}

INSTANTIATE_TEST_SUITE_P(
    Versions, EarlierVersion,
    ::testing::Values(
        Pair{"23.11.21", "24.09.17"}, Pair{"2.9", "2.10"}, Pair{"1.0", "1.0.1"},
        Pair{"24.09.1", "24.09.17"}, Pair{"1.0", "1.0b"}, Pair{"1.0a", "1.0b"},
        Pair{"HPE iLO 6 v1.53", "1.66 Dec 13 2024"}, Pair{"1.53 Oct 04 2023", "1.66 Dec 13 2024"},
        Pair{"U54 v2.30 (02/26/2024)", "U54 v2.44 (01/17/2025)"},
        Pair{"U54 v2.30 (02/26/2024)", "U54 v2.30 (03/01/2024)"}, Pair{"U54 v2.30", "2.31"},
        Pair{"BIOS Date: 05/04/2023 Ver 1.3", "BIOS Date: 08/04/2023 Ver 1.4"},
        Pair{"11.2.0 Build 44", "11.7.0 Build 23"}, Pair{"96.00.61.00.01", "97.00.82.00.5F"},
        Pair{"96.00.89.00.01", "96.00.AF.00.02"}, Pair{"96.10.35.00.01", "96.10.4A.00.01"},
        Pair{"F5.11.CA", "F5.11.CB"}, Pair{"IDH 2.38", "IDH 2.40"}, Pair{"IDH 2.38", "2.40"},
        Pair{"GB200Nvl-24.12-8", "GB200Nvl-25.01-2"}, Pair{"HGX-22.10-1-rc34", "HGX-22.10-1-rc57"},
        Pair{"HGX-22.10-1-rc57", "HGX-22.10-1"}, Pair{"00.02.0150.0000_n00", "00.02.0150.0000_n04"},
        Pair{"00.02.0134.0000_n00", "00.04.0026.0000_n00"}, Pair{"20E-1.40", "42S-2.83"},
        Pair{"BF-24.07-14", "BF-24.10-10"},
        Pair{"2.15.0-dev-686-g100c36de90", "2.15.0-dev-700-gabc3612345"},
        Pair{"v2.2(release):4.5.0-36-g3ab007f", "v2.2(release):4.9.0-25-g0ce57e322"},
        Pair{"0x11", "0x20"}, Pair{"0x00 0x0b 0x03 0x04", "0x00 0x10 0x01 0x0f"},
        Pair{"HPG0", "HPG1"}, Pair{"99999999999999999999", "100000000000000000000"}));

class EqualVersions : public ::testing::TestWithParam<Pair> {};

TEST_P(EqualVersions, DifferInSpellingAlone) {
  const auto [one, other] = GetParam();

  EXPECT_TRUE(compare_versions(one, other) == 0);
  EXPECT_TRUE(compare_versions(other, one) == 0);
}

INSTANTIATE_TEST_SUITE_P(Versions, EqualVersions,
                         ::testing::Values(Pair{"24.09.17", "24.9.17"}, Pair{" 1.2 ", "1.2"},
                                           Pair{"2.7", "2.7.0"}, Pair{"U54 v2.30", "2.30"},
                                           Pair{"U54 v2.30 (02/26/2024)", "U54 v2.30"},
                                           Pair{"MPK7625Q", "mpk7625q"},
                                           Pair{"BIOS Date: 08/04/2023 Ver 1.4", "1.4"},
                                           Pair{"HGX-22.10-1", "22.10-1"}));

class OpenVersions : public ::testing::TestWithParam<Pair> {};

TEST_P(OpenVersions, AreNeitherBeforeNorAfterEachOther) {
  const auto [one, other] = GetParam();

  EXPECT_EQ(compare_versions(one, other), std::partial_ordering::unordered);
  EXPECT_EQ(compare_versions(other, one), std::partial_ordering::unordered);
}

INSTANTIATE_TEST_SUITE_P(Versions, OpenVersions,
                         ::testing::Values(Pair{"U54 v2.30 (02/26/2024)", "U58 v2.44 (01/17/2025)"},
                                           Pair{"iLO 5 v2.72", "HPE iLO 6 v1.53"}, Pair{"", "1.0"},
                                           Pair{"N/A", "1.0"}, Pair{"Not Present", "1.4"},
                                           Pair{"4.5.0-40-gcbe848b", "4.5.0-40-g7e3911bd4d"},
                                           Pair{"E2MU200", "2CV1L028"}, Pair{"ff", "03"},
                                           Pair{"0x30", "30"},
                                           Pair{"1.9a", "1.10"},     // 9 and a letter, or 0x9a
                                           Pair{"1.7.5F", "1.7.6"},  // 5 and a letter, or 0x5f
                                           Pair{"20E-2.83", "42S-1.40"}, Pair{"GDC", "HPG"}));

TEST(CompareVersions, TakesTextsOfAnyLengthAndKind) {
  const std::string endless(1'000'000, '1');
  const std::string odd{"1.\0\xff\x1b[2J", 8};

  EXPECT_EQ(compare_versions(endless, "1"), std::partial_ordering::unordered);
  EXPECT_TRUE(compare_versions(odd, odd) == 0);
  EXPECT_EQ(compare_versions("....", "1"), std::partial_ordering::unordered);
}

TEST(FitsPattern, TakesAStarForAnyCharacters) {
  EXPECT_TRUE(fits_pattern("HGX_FW_GPU_SXM_*", "HGX_FW_GPU_SXM_3"));
  EXPECT_TRUE(fits_pattern("Installed-*__iDRAC.*", "installed-25227-6.00__idrac.Embedded.1-1"));
  EXPECT_TRUE(fits_pattern("*", ""));
  EXPECT_TRUE(fits_pattern("a*b*c", "abxbcc"));
  EXPECT_FALSE(fits_pattern("HGX_FW_GPU_SXM_*", "HGX_FW_BMC_0"));
  EXPECT_FALSE(fits_pattern("BMC", "BMC2"));
  EXPECT_FALSE(fits_pattern("", "BMC"));
}

TEST(FitsPattern, EndsSoonForPatternsOfManyStars) {
  std::string stars;
  for (int i = 0; i < 100; ++i) stars += "a*";

  EXPECT_FALSE(fits_pattern(stars + "b", std::string(10'000, 'a')));
}

TEST(Abbreviates, IsOfWholeNumbersAlone) {
  EXPECT_TRUE(abbreviates("23.11", "23.11.21"));
  EXPECT_TRUE(abbreviates("23.11.21", "23.11"));
  EXPECT_FALSE(abbreviates("23.1", "23.11.21"));
  EXPECT_FALSE(abbreviates("23.11", "23.11"));
  EXPECT_FALSE(abbreviates("", ".1"));
}

}  // namespace
}  // namespace cupel::inventory
