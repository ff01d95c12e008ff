// Forwarding tables as dump_fts, ibroute and ibdiagnet print them, and what is wrong with such
// files.
#include "inventory/forwarding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace cupel::inventory {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As dump_fts 44 prints it.
constexpr const char* kDumpFts =
    R"(Unicast lids [0x0-0x5] of switch DR path slid 0; dlid 0; 0 guid 0xb0cf0e0300000100 (MF0;leaf1-r1:MQM9700/U1):
  Lid  Out   Destination
       Port     Info 
0x0001 000 : (Switch portguid 0xb0cf0e0300000100: 'MF0;leaf1-r1:MQM9700/U1')
0x0002 001 : (Channel Adapter portguid 0xa088c20300000000: 'n01 mlx5_0')
0x0003 017 : (Channel Adapter portguid 0xa088c20300000001: 'n17.gpu.example.com mlx5_0')
0x0004 255 : (Channel Adapter portguid 0xa088c20300000002: 'n18 mlx5_0')
4 valid lids dumped 
Unicast lids [0x0-0x5] of switch Lid 5 guid 0xb0cf0e0300000200 (spine1):
  Lid  Out   Destination
       Port     Info 
0x0002 003 : (Channel Adapter portguid 0xa088c20300000000: 'n01 mlx5_0')
0x0003 004 : (Channel Adapter portguid 0xa088c20300000001: 'n17.gpu.example.com mlx5_0')
2 valid lids dumped 
)";

constexpr const char* kIbdiagnet = R"(osm_ucast_mgr_dump_ucast_routes: Switch 0xb0cf0e0300000100
LID    : Port : Hops : Optimal
0x0001 : UNREACHABLE
0x0002 : 001  : 00   : yes
0x0003 : 017  : 00   : yes
)";

constexpr const char* kIbnetdiscover = R"(
Switch	65 "S-b0cf0e0300000100"		# "MF0;leaf1-r1:MQM9700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-a088c20300000000"[1](a088c20300000000) 		# "n01 mlx5_0" lid 2 4xNDR

Ca	1 "H-a088c20300000001"		# "n17 mlx5_0"
[1](a088c20300000001) 	"S-b0cf0e0300000100"[17]		# lid 3 lmc 0 "MF0;leaf1-r1:MQM9700/U1" lid 1 4xNDR
)";

TEST(Forwarding, SaysByWhichPortASwitchSends) {
  const auto tables = parse_forwarding(kDumpFts);

  ASSERT_TRUE(tables) << tables.error().what;
  EXPECT_EQ(tables->port_to("leaf1-r1", "n01", "mlx5_0"), 1);
  EXPECT_EQ(tables->port_to("LEAF1-R1", "N17", "mlx5_0"), 17) << "case, and a node's domain";
  EXPECT_EQ(tables->port_to("leaf1-r1", "n17.gpu.example.com", "mlx5_0"), 17);
  EXPECT_EQ(tables->port_to("spine1", "n17", "mlx5_0"), 4);
  EXPECT_EQ(tables->port_to("leaf1-r1", "n18", "mlx5_0"), std::nullopt) << "255: no way";
  EXPECT_EQ(tables->port_to("leaf1-r1", "n01", "mlx5_1"), std::nullopt);
  EXPECT_EQ(tables->port_to("leaf9", "n01", "mlx5_0"), std::nullopt);
  EXPECT_THAT(tables->doubts(), IsEmpty());
}

TEST(Forwarding, OfIbdiagnetNeedsTheNamesOfIbnetdiscover) {
  const auto alone = parse_forwarding(kIbdiagnet);
  const auto both = parse_forwarding(std::string{kIbdiagnet} + kIbnetdiscover);

  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Code::kNoMeasurement);
  ASSERT_TRUE(both) << both.error().what;
  EXPECT_EQ(both->port_to("leaf1-r1", "n17", "mlx5_0"), 17);
  EXPECT_EQ(both->port_to("leaf1-r1", "n01", "mlx5_0"), std::nullopt) << "no Ca of it is printed";
}

TEST(Forwarding, ReadsNoLineThatMayBeCut) {
  const std::string whole = kDumpFts;
  for (const auto* cut : {"0x0003 01", "0x0003 0", "0x0003 017 : (Channel Ad"}) {
    const auto at = whole.find("0x0003 017");
    const auto tables = parse_forwarding(whole.substr(0, at) + cut);

    ASSERT_TRUE(tables) << cut;
    EXPECT_EQ(tables->port_to("leaf1-r1", "n17", "mlx5_0"), std::nullopt);
    EXPECT_THAT(tables->doubts(), Contains(HasSubstr("the last line has no end")));
  }
}

TEST(Forwarding, UsesNeitherOfTwoTablesThatDiffer) {
  std::string changed = kDumpFts;
  changed.replace(changed.find("0x0003 017"), 10, "0x0003 018");

  const auto same = parse_forwarding(std::string{kDumpFts} + kDumpFts);
  const auto tables = parse_forwarding(kDumpFts + changed);

  ASSERT_TRUE(same && tables);
  EXPECT_EQ(same->port_to("leaf1-r1", "n17", "mlx5_0"), 17);
  EXPECT_EQ(tables->port_to("leaf1-r1", "n17", "mlx5_0"), std::nullopt);
  EXPECT_THAT(tables->doubts(), Contains(HasSubstr("two tables that differ")));
}

TEST(Forwarding, DoesNotDistinguishTwoHcasOfOneName) {
  std::string twice = kDumpFts;
  twice.replace(twice.find("'n01 mlx5_0'"), 12, "'n17 mlx5_0'");

  const auto tables = parse_forwarding(twice);

  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->port_to("leaf1-r1", "n17", "mlx5_0"), std::nullopt);
  EXPECT_THAT(tables->doubts(), Contains(HasSubstr("two LIDs")));
}

TEST(Forwarding, RefusesWhatHasNoTable) {
  for (const auto* text : {"", "\n", "ibwarn: [1] mad_rpc: _do_madrpc failed\n",
                           "Unicast lids [0x0-0x5] of switch Lid 5 guid 0x1 (leaf1):\n",
                           "Unicast lids\n0x0002 001 : (Channel Adapter portguid 0x1: 'n1 m')\n",
                           "0x0002 001 : (Channel Adapter portguid 0x1: 'n1 m')\n"}) {
    const auto tables = parse_forwarding(text);

    ASSERT_FALSE(tables) << text;
    EXPECT_EQ(tables.error().code, Code::kNoMeasurement) << text;
  }
}

TEST(Forwarding, PassesOverLinesThatMakeNoSense) {
  const std::string begin = "Unicast lids [0x0-0x5] of switch Lid 5 guid 0x7 (leaf1):\n";
  const std::string good = "0x0002 001 : (Channel Adapter portguid 0x1: 'n1 mlx5_0')\n";
  std::string bad;
  for (int i = 0; i < 1000; ++i)
    bad += fmt::format("0xffff{} 001 : x\n0x0000 001\n0x0003 x\n0x0004 99999999999999999999\n", i);

  const auto tables = parse_forwarding(begin + bad + good);

  ASSERT_TRUE(tables) << tables.error().what;
  EXPECT_EQ(tables->port_to("leaf1", "n1", "mlx5_0"), 1);
  EXPECT_LE(tables->doubts().size(), 20u);
  for (const auto& doubt : tables->doubts()) EXPECT_LE(doubt.size(), 200u);
}

}  // namespace
}  // namespace cupel::inventory
