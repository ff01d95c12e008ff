#include "burnin/fabric/discovery/ibnetdiscover.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = SeenDevice::Kind;

constexpr std::string_view kBlock = R"(
Switch	41 "S-b8599f0300fc6de4"		# "MF0;leaf1-r2:MQM8700/U1" enhanced port 0 lid 13 lmc 0
[23]	"H-ec0d9a03007d7d0a"[1](ec0d9a03007d7d0a) 		# "n07 mlx5_2 " lid 9 4xHDR
[41]	"H-b8599f0300fc6dec"[1](b8599f0300fc6dec) 		# "Mellanox Technologies Aggregation Node" lid 14 4xHDR
Ca	1 "H-ec0d9a03007d7d0a"		# "n07 mlx5_2 "
[1](ec0d9a03007d7d0a) 	"S-b8599f0300fc6de4"[23]		# lid 9 lmc 0 "MF0;leaf1-r2:MQM8700/U1" lid 13 4xHDR
)";

TEST(Ibnetdiscover, ReadsALinkOnceFromItsTwoEndsAndDropsTrailingBlanksOfNames) {
  const auto seen = parse_ibnetdiscover(kBlock);

  ASSERT_TRUE(seen) << seen.error().what;
  ASSERT_EQ(seen->links.size(), 2u);
  const auto& link = seen->links[0];
  EXPECT_EQ(seen->devices[link.from.device].name, "leaf1-r2");
  EXPECT_EQ(link.from.port, 23);
  EXPECT_EQ(seen->devices[link.to.device].name, "n07");
  EXPECT_EQ(seen->devices[link.to.device].hca, "mlx5_2");
  EXPECT_EQ(link.width, 4);
  EXPECT_EQ(link.speed, "HDR");
  EXPECT_EQ(seen->count(Kind::aggregation), 1u);
  EXPECT_THAT(seen->doubts, IsEmpty());
}

TEST(Ibnetdiscover, DoubtsALinkWhoseTwoEndsDisagreeAboutItsRate) {
  const std::string block{kBlock};
  for (const auto at : {block.find("4xHDR"), block.rfind("4xHDR")}) {
    auto wrong = block;
    wrong.replace(at, 5, "1xSDR");

    const auto seen = parse_ibnetdiscover(wrong);

    ASSERT_TRUE(seen) << seen.error().what;
    EXPECT_THAT(seen->doubts, ElementsAre(HasSubstr("disagree about its rate at")));
  }
}

TEST(Ibnetdiscover, NamesOfDirectorsKeepTheirChip) {
  EXPECT_EQ(inventory::switch_name("MF0;core-A:MCS8500/L16/U2"), "core-A/L16/U2");
  EXPECT_EQ(inventory::switch_name("MF0;leaf1-r2:MQM9700/U1"), "leaf1-r2");
  EXPECT_EQ(inventory::switch_name("Infiniscale-IV Mellanox Technologies"),
            "Infiniscale-IV Mellanox Technologies");
}

TEST(Ibnetdiscover, TakesEmptyOutputForAFailureToLook) {
  for (const auto* text : {"", "\n\n", "ibwarn: [1] mad_rpc_open_port: can't open UMAD port\n"}) {
    const auto seen = parse_ibnetdiscover(text);

    ASSERT_FALSE(seen) << text;
    EXPECT_EQ(seen.error().code, Code::kNoMeasurement);
    EXPECT_THAT(seen.error().what, HasSubstr("reported no device"));
  }
}

TEST(Ibnetdiscover, TakesADeviceWithoutALinkForOutputThatIsCutOff) {
  const auto seen = parse_ibnetdiscover("Ca\t1 \"H-b8e92403009ca838\"\t\t# \"n1 HCA-1\"\n");

  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().what, HasSubstr("no link"));
}

TEST(Ibnetdiscover, ReportsAGuidThatTwoDevicesHave) {
  const auto text = std::string{kBlock} +
                    "Ca\t1 \"H-ec0d9a03007d7d0a\"\t\t# \"n09 mlx5_2\"\n"
                    "[1](ec0d9a03007d7d0a) \t\"S-b8599f0300fc6de4\"[24]\t\t# lid 9 lmc 0 \"x\" "
                    "lid 13 4xHDR\n";

  const auto seen = parse_ibnetdiscover(text);

  ASSERT_TRUE(seen);
  ASSERT_FALSE(seen->doubts.empty());
  EXPECT_THAT(seen->doubts.front(), HasSubstr("GUID ec0d9a03007d7d0a is reported twice"));
}

TEST(Ibnetdiscover, ReadsAnHcaOfTwoPlanesFromTheReportOfEach) {
  const auto other_plane =
      "Switch\t41 \"S-b8599f0300fc6de5\"\t\t# \"MF0;p2-leaf1-r2:MQM8700/U1\" enhanced port 0 lid "
      "1 lmc 0\n"
      "[23]\t\"H-ec0d9a03007d7d0a\"[2](ec0d9a03007d7d0b) \t\t# \"n07 mlx5_2 \" lid 9 4xHDR\n"
      "Ca\t2 \"H-ec0d9a03007d7d0a\"\t\t# \"n07 mlx5_2 \"\n"
      "[2](ec0d9a03007d7d0b) \t\"S-b8599f0300fc6de5\"[23]\t\t# lid 9 lmc 0 "
      "\"MF0;p2-leaf1-r2:MQM8700/U1\" lid 1 4xHDR\n";

  const auto seen = parse_ibnetdiscover(std::string{kBlock} + other_plane);

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->doubts, IsEmpty());
  EXPECT_EQ(seen->links.size(), 3u);
}

TEST(Ibnetdiscover, SurvivesEveryCutAndEveryChangedByte) {
  const std::string whole{kBlock};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    (void)parse_ibnetdiscover(std::string_view{whole}.substr(0, at));
    for (const char bad : {'\0', '"', '[', '\xff', '\n', '9'}) {
      auto changed = whole;
      changed[at] = bad;
      const auto seen = parse_ibnetdiscover(changed);
      if (!seen) continue;
      for (const auto& link : seen->links) {
        ASSERT_LT(link.from.device, seen->devices.size());
        ASSERT_LT(link.to.device, seen->devices.size());
        ASSERT_LE(link.from.port, 255);
      }
    }
  }
}

TEST(Ibnetdiscover, ReadsNvidiasSelene) {
  CUPEL_NEEDS_FABRIC_FILE(text, "ibnetdiscover/selene_compute_666sw_4341ca.txt.gz");

  const auto seen = parse_ibnetdiscover(text);

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->count(Kind::switch_device), 666u);
  EXPECT_EQ(seen->count(Kind::aggregation), 666u);
  EXPECT_EQ(seen->count(Kind::hca), 4341u - 666u);
  EXPECT_THAT(seen->doubts, IsEmpty());
}

TEST(Ibnetdiscover, ReadsATerminalsLogWithoutTabs) {
  CUPEL_NEEDS_FABRIC_FILE(text, "ibnetdiscover/sat11_director_PuTTY_log.txt.gz");

  const auto seen = parse_ibnetdiscover(text);

  ASSERT_TRUE(seen) << seen.error().what;
  const auto first = seen->links.front();
  EXPECT_EQ(seen->devices[first.from.device].name, "sat11-0101-0927-20ib0");
  EXPECT_EQ(seen->devices[first.to.device].name, "SAT111092710053");
  EXPECT_EQ(seen->devices[first.to.device].hca, "ibp11s0f0");
  EXPECT_THAT(seen->doubts, IsEmpty());
}

TEST(Ibnetdiscover, ReadsTheListOfPortsAsTheTopologyFile) {
  CUPEL_NEEDS_FABRIC_FILE(list, "generated/n32f_ibnetdiscover_ports.out");
  CUPEL_NEEDS_FABRIC_FILE(topology, "generated/n32f_ibnetdiscover_swap_rail_1x_HDR.out");

  const auto one = parse_ibnetdiscover(list), other = parse_ibnetdiscover(topology);

  ASSERT_TRUE(one) << one.error().what;
  ASSERT_TRUE(other) << other.error().what;
  EXPECT_EQ(one->links.size(), other->links.size());
  EXPECT_EQ(one->count(Kind::switch_device), other->count(Kind::switch_device));
  EXPECT_EQ(one->count(Kind::hca), 255u);  // n03's mlx5_1 is not connected
  EXPECT_THAT(one->doubts, IsEmpty());
}

TEST(Ibnetdiscover, ReadsOrRefusesEveryCapture) {
  CUPEL_NEEDS_FABRIC_FILE(bad, "ibnetdiscover/topograph_BAD.out");
  EXPECT_FALSE(parse_ibnetdiscover(bad));
  for (const auto* name :
       {"ibnetdiscover/exporter_test2.out", "ibnetdiscover/topograph_example.out",
        "ibnetdiscover/ufm_small_topo.txt", "ibnetdiscover/selene_storage.txt.gz",
        "generated/n32_ibnetdiscover.out"}) {
    CUPEL_NEEDS_FABRIC_FILE(text, name);
    const auto seen = parse_ibnetdiscover(text);
    ASSERT_TRUE(seen) << name << ": " << seen.error().what;
    EXPECT_THAT(seen->doubts, IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace cupel::burnin
