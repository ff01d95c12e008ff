#include "burnin/fabric/discovery/iblinkinfo.h"

#include <gmock/gmock.h>

#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kTwoEnds = R"(CA: n11 mlx5_4:
      0xa088c2030000a041     93    1[  ] ==( 1X        106.25 Gbps Active/  LinkUp)==>       9   11[  ] "MF0;leaf1-r4:MQM9700/U1" ( Could be 4X)
Switch: 0xb0cf0e0300000400 MF0;leaf1-r4:MQM9700/U1:
           9   11[  ] ==( 1X        106.25 Gbps Active/  LinkUp)==>      93    1[  ] "n11 mlx5_4" ( Could be 4X)
           9   12[  ] ==(                Down/ Polling)==>             [  ] "" ( )
)";

TEST(Iblinkinfo, ReadsWidthSpeedAndPortsThatAreDown) {
  const auto seen = parse_iblinkinfo(kTwoEnds);

  ASSERT_TRUE(seen) << seen.error().what;
  ASSERT_EQ(seen->links.size(), 1u);
  EXPECT_EQ(seen->links[0].width, 1);
  EXPECT_EQ(seen->links[0].speed, "NDR");
  EXPECT_EQ(seen->devices[seen->links[0].from.device].hca, "mlx5_4");
  EXPECT_EQ(seen->devices[seen->links[0].to.device].name, "leaf1-r4");
  ASSERT_EQ(seen->down.size(), 1u);
  EXPECT_EQ(seen->down[0].end.port, 12);
  EXPECT_EQ(seen->down[0].state, "Down/Polling");
}

TEST(Iblinkinfo, RefusesLidsThatNoSubnetManagerHasGiven) {
  const auto seen = parse_iblinkinfo(
      "CA: n01 mlx5_0:\n"
      "  0xa1  0  1[  ] ==( 4X  53.125 Gbps Initialize/  LinkUp)==>  0  1[  ] \"leaf1\" ( )\n"
      "Switch: 0xb1 leaf1:\n"
      "  0  1[  ] ==( 4X  53.125 Gbps Initialize/  LinkUp)==>  0  1[  ] \"n01 mlx5_0\" ( )\n");

  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Code::kNoMeasurement);
  EXPECT_THAT(seen.error().what, HasSubstr("two devices have one LID"));
}

TEST(Iblinkinfo, ReportsHalfAFabric) {
  const auto cut = kTwoEnds.substr(0, kTwoEnds.find("Switch:"));

  const auto seen = parse_iblinkinfo(cut);

  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Code::kNoMeasurement);
}

TEST(Iblinkinfo, NamesSpeedsByTheRateOfALane) {
  EXPECT_EQ(speed_name(106.25), "NDR");
  EXPECT_EQ(speed_name(53.125), "HDR");
  EXPECT_EQ(speed_name(25.78125), "EDR");
  EXPECT_EQ(speed_name(3), "");
}

TEST(Iblinkinfo, SurvivesEveryCutAndEveryChangedByte) {
  const std::string whole{kTwoEnds};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    (void)parse_iblinkinfo(std::string_view{whole}.substr(0, at));
    for (const char bad : {'\0', '(', '[', '\xff', '\n', '9'}) {
      auto changed = whole;
      changed[at] = bad;
      (void)parse_iblinkinfo(changed);
    }
  }
}

TEST(Iblinkinfo, SeesTheLinksThatIbnetdiscoverSees) {
  CUPEL_NEEDS_FABRIC_FILE(links, "generated/n32f_iblinkinfo.out");
  CUPEL_NEEDS_FABRIC_FILE(topology, "generated/n32f_ibnetdiscover_swap_rail_1x_HDR.out");

  const auto one = parse_iblinkinfo(links), other = parse_ibnetdiscover(topology);

  ASSERT_TRUE(one) << one.error().what;
  ASSERT_TRUE(other);
  EXPECT_EQ(one->links.size(), other->links.size());
  EXPECT_EQ(one->count(SeenDevice::Kind::switch_device),
            other->count(SeenDevice::Kind::switch_device));
  EXPECT_THAT(one->doubts, IsEmpty());
}

TEST(Iblinkinfo, SeesTwoLinksThatAreDown) {
  CUPEL_NEEDS_FABRIC_FILE(healthy, "generated/n32_iblinkinfo.out");
  CUPEL_NEEDS_FABRIC_FILE(broken, "generated/n32_iblinkinfo_2links_down.out");

  const auto before = parse_iblinkinfo(healthy), after = parse_iblinkinfo(broken);

  ASSERT_TRUE(before);
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(before->links.size(), after->links.size() + 2);
}

}  // namespace
}  // namespace cupel::burnin
