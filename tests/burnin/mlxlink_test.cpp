#include "burnin/fabric/discovery/mlxlink.h"

#include <gmock/gmock.h>

#include "burnin/fabric/ber_limits.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// In the shape of MFT 4.34, with its blanks, units and ranges.
constexpr std::string_view kOptics = R"json({
	"result" : { "output" : {
		"Module Info" : {
			"Cable Type" : "Optical Module (separated)",
			"FW Version" : "40.242.17",
			"Rx Power Current [dBm]" : "3.583,3.253,3.233,-0.658 [-9.914..6.999]",
			"Temperature [C]" : "61 [-10..80]",
			"Transfer Distance [m]" : "100",
			"Vendor Name" : "NVIDIA          ",
			"Vendor Part Number" : "MMS4X00-NS400",
			"Vendor Serial Number" : "MT2336FT01234"
		},
		"Operational Info" : {
			"FEC" : "Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)",
			"Physical state" : "LinkUp",
			"Speed" : "IB-NDR",
			"State" : "Active",
			"Width" : "4x"
		},
		"Physical Counters and BER Info" : {
			"Effective Physical BER" : "15E-255",
			"Effective Physical Errors" : "0",
			"Link Down Counter" : "2",
			"Link Error Recovery Counter" : "0",
			"Raw Physical BER" : "5E-10",
			"Raw Physical BER Per Lane" : { "values" : [ "1E-10", "1E-9", "4E-10", "5E-10" ] },
			"Symbol BER" : "15E-255",
			"Symbol Errors" : "0",
			"Time Since Last Clear [Min]" : "2718.1"
		},
		"Tool Information" : { "Firmware Version" : "28.43.2026" },
		"Troubleshooting Info" : { "Recommendation" : "No issue was observed", "Status Opcode" : "0" }
	} },
	"status" : { "code" : 0, "message" : "success" }
})json";

// On a terminal: colours, trailing blanks, carriage returns; a cable without sensors.
constexpr std::string_view kCopper =
    "\r\nOperational Info\r\n----------------\r\n"
    "State                              : \x1b[32mActive\x1b[0m \r\n"
    "Physical state                     : LinkUp \r\n"
    "Speed                              : IB-NDR \r\n"
    "Width                              : 4x \r\n"
    "FEC                                : RS-FEC - (544,514) + PLR \r\n"
    "Status Opcode                      : 15\r\n"
    "Recommendation                     : \x1b[31mBad signal integrity\x1b[0m \r\n"
    "Temperature [C]                    : 0 [0..0]\r\n"
    "Rx Power Current [dBm]             : 0,0,0,0 [0..0]\r\n"
    "Cable Type                         : Passive copper cable\r\n"
    "Vendor Name                        : N/A\r\n"
    "Time Since Last Clear [Min]        : 120.0\r\n"
    "Raw Physical BER                   : \x1b[32m2E-9\x1b[0m \r\n";

TEST(Mlxlink, ReadsLinkCountersBerAndTransceiverOfJson) {
  const auto report = parse_mlxlink(kOptics);

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->state, "Active");
  EXPECT_EQ(report->speed, "NDR");
  EXPECT_EQ(report->width, 4);
  EXPECT_EQ(report->firmware, "28.43.2026");
  EXPECT_EQ(report->minutes_since_clear, 2718.1);
  EXPECT_EQ(report->raw_ber, 5e-10);
  EXPECT_LT(report->symbol_ber.value(), 1e-200);
  EXPECT_THAT(report->lane_ber, ElementsAre(1e-10, 1e-9, 4e-10, 5e-10));
  EXPECT_THAT(report->counters,
              ElementsAre(Pair("Effective Physical Errors", 0u), Pair("Link Down Counter", 2u),
                          Pair("Link Error Recovery Counter", 0u), Pair("Symbol Errors", 0u)));
  EXPECT_EQ(report->module.vendor, "NVIDIA");
  EXPECT_EQ(report->module.part, "MMS4X00-NS400");
  EXPECT_EQ(report->module.serial, "MT2336FT01234");
  EXPECT_EQ(report->module.firmware, "40.242.17");
  EXPECT_EQ(report->module.metres, 100);
  EXPECT_EQ(report->module.celsius, (Ranged{61, -10, 80}));
  ASSERT_EQ(report->module.rx_dbm.size(), 4u);
  EXPECT_EQ(report->module.rx_dbm[3], (Ranged{-0.658, -9.914, 6.999}));
}

TEST(Mlxlink, ReadsColouredTextAndTakesARangeOfZeroForNoSensor) {
  const auto report = parse_mlxlink(kCopper);

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->state, "Active");
  EXPECT_EQ(report->fec, "RS-FEC - (544,514) + PLR");
  EXPECT_EQ(report->opcode, 15);
  EXPECT_EQ(report->recommendation, "Bad signal integrity");
  EXPECT_EQ(report->raw_ber, 2e-9);
  EXPECT_EQ(report->symbol_ber, std::nullopt);
  EXPECT_EQ(report->module.type, "Passive copper cable");
  EXPECT_EQ(report->module.vendor, "");
  EXPECT_EQ(report->module.celsius, std::nullopt);
  EXPECT_THAT(report->module.rx_dbm, IsEmpty());
}

TEST(Mlxlink, TakesWhatCouldNotLookForNoMeasurement) {
  for (const auto* text : {"", "-E- Failed to open device: \"mlx5_0\". No such file\n",
                           R"({"result":{"output":{}},"status":{"code":0}})",
                           R"({"result":{"output":{"Operational Info":{"State":"Active"}}},)"
                           R"("status":{"code":1,"message":"Failed to open device"}})"}) {
    const auto report = parse_mlxlink(text);

    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, Code::kNoMeasurement) << text;
  }
}

TEST(Mlxlink, RefusesTwoPortsInOneFile) {
  const auto report = parse_mlxlink(std::string{kCopper} + std::string{kCopper});

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kMalformed);
  EXPECT_THAT(report.error().what, HasSubstr("one file a port"));
}

TEST(Mlxlink, TakesHostileNumbersForNoReading) {
  const auto report = parse_mlxlink(
      "State : Active\nPhysical state : LinkUp\nWidth : 4000000000x\nRaw Physical BER : nan\n"
      "Effective Physical BER : 7\nSymbol BER : -1\nTime Since Last Clear [Min] : inf\n"
      "Transfer Distance [m] : -3\nTemperature [C] : 1e999 [-10..80]\nRx Power Current [dBm] : "
      "1,2,N/A,4 [-9..6]\n"
      "Link Down Counter : 99999999999999999999999\n");

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(*report, (MlxlinkReport{.state = "Active"}));
}

TEST(Mlxlink, SurvivesEveryCutAndEveryChangedByte) {
  for (const auto whole : {kOptics, kCopper})
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (const auto cut = parse_mlxlink(whole.substr(0, i))) {
        EXPECT_FALSE(cut->state.empty());
      }
      std::string changed{whole};
      changed[i] = static_cast<char>(changed[i] ^ 0x15);
      if (const auto found = parse_mlxlink(changed)) {
        EXPECT_LE(found->raw_ber.value_or(0), 1.0);
        EXPECT_LE(found->width, 16);
      }
    }
}

TEST(BerLimits, DependOnSpeedFecAndMedium) {
  EXPECT_EQ(fec_of("Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)"), Fec::ll50_plr);
  EXPECT_EQ(fec_of("Interleaved_Standard_RS_FEC_PLR - (544,514)"), Fec::other);
  EXPECT_EQ(ber_limit("NDR", Fec::ll50_plr, Medium::optical, Ber::raw), (BerLimit{1e-5, 1e-5}));
  EXPECT_EQ(ber_limit("NDR", Fec::kp4, Medium::passive_copper, Ber::raw), (BerLimit{1e-7, 1e-7}));
  EXPECT_EQ(ber_limit("NDR", Fec::unknown, Medium::unknown, Ber::symbol), (BerLimit{1e-14, 1e-13}));
  EXPECT_EQ(ber_limit("HDR", Fec::kp4_plr, Medium::passive_copper, Ber::raw),
            (BerLimit{1e-7, 1e-5}));
  EXPECT_EQ(ber_limit("400G", Fec::kp4, Medium::optical, Ber::raw), std::nullopt);
  EXPECT_EQ(ber_limit("NDR", Fec::other, Medium::optical, Ber::raw), std::nullopt);
}

}  // namespace
}  // namespace cupel::burnin
