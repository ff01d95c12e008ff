#include "burnin/fabric/discovery/mlxlink.h"

#include <gmock/gmock.h>

#include <map>

#include "base/text.h"
#include "burnin/fabric/ber_limits.h"
#include "tests/support/fabric_files.h"

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

TEST(BerLimits, DependOnSpeedFecMediumAndChip) {
  using enum Ber;
  const LinkKind ndr{.speed = "NDR", .fec = Fec::ll50_plr, .medium = Medium::optical};
  EXPECT_EQ(ber_limit(ndr, raw), (BerLimit{1e-5, 1e-5}));
  EXPECT_EQ(ber_limit({.speed = "NDR", .fec = Fec::kp4, .medium = Medium::passive_copper}, raw),
            (BerLimit{1e-7, 1e-7}));
  EXPECT_EQ(ber_limit({.speed = "NDR"}, symbol), (BerLimit{1e-14, 1e-13}));
  EXPECT_EQ(ber_limit({.speed = "NDR", .fec = Fec::kp4_plr, .medium = Medium::active_copper}, raw),
            (BerLimit{1e-6, 1e-6}));
  EXPECT_EQ(ber_limit({.speed = "NDR", .fec = Fec::kp4_plr, .medium = Medium::active}, raw),
            (BerLimit{1e-6, 1e-5}))
      << "copper or optical";
  const LinkKind hdr{.speed = "HDR", .fec = Fec::ll_plr, .medium = Medium::optical};
  EXPECT_EQ(ber_limit(hdr, raw), (BerLimit{1e-7, 1e-5})) << "of either chip";
  auto of_16nm = hdr, of_7nm = hdr;
  of_16nm.chip = Chip::nm16;
  of_7nm.chip = Chip::nm7;
  EXPECT_EQ(ber_limit(of_16nm, raw), (BerLimit{1e-5, 1e-5}));
  EXPECT_EQ(ber_limit(of_16nm, symbol), (BerLimit{1e-13, 1e-13}));
  EXPECT_EQ(ber_limit(of_7nm, raw), (BerLimit{1e-7, 1e-7}));
  EXPECT_EQ(ber_limit(of_7nm, symbol), (BerLimit{1e-14, 1e-14}));
  EXPECT_EQ(ber_limit({.speed = "EDR", .fec = Fec::rs528, .chip = Chip::nm16}, raw),
            (BerLimit{1e-9, 1e-9}));
  EXPECT_EQ(ber_limit({.speed = "EDR", .fec = Fec::none}, raw), (BerLimit{1e-13, 1e-13}));
  EXPECT_EQ(ber_limit({.speed = "HDR", .fec = Fec::ll, .chip = Chip::nm7}, raw), std::nullopt);
  for (const auto* speed : {"XDR", "400G"})
    EXPECT_EQ(ber_limit({.speed = speed, .fec = Fec::kp4, .medium = Medium::optical}, raw),
              std::nullopt)
        << speed;
  EXPECT_EQ(ber_limit({.speed = "NDR", .fec = Fec::other, .medium = Medium::optical}, raw),
            std::nullopt);
}

/// Each row of the published table that is at hand is a row here.
TEST(BerLimits, AreThoseOfNvidiasTable) {
  CUPEL_NEEDS_FABRIC_FILE(text, "thresholds/nvidia_BER_thresholds_IB_V06.csv");
  const std::map<std::string, Fec, std::less<>> fecs{
      {"14", Fec::ll50_plr}, {"12", Fec::kp4_plr}, {"7", Fec::kp4},  {"13", Fec::ll_plr},
      {"3", Fec::ll},        {"2", Fec::rs528},    {"0", Fec::none},
  };
  const std::map<std::string, Medium, std::less<>> media{{"DACs", Medium::passive_copper},
                                                         {"ACC", Medium::active_copper},
                                                         {"Active", Medium::optical},
                                                         {"Active_DiD", Medium::optical}};
  std::size_t rows = 0;
  for (const auto line : lines(text)) {
    const auto cells = split(line, ',');
    if (cells.size() < 14 || cells[0] == "ASIC") continue;
    const LinkKind kind{.speed = std::string{cells[2]},
                        .fec = fecs.find(cells[5])->second,
                        .medium = media.find(cells[6])->second,
                        .chip = cells[0] == "7nm" ? Chip::nm7 : Chip::nm16};
    const std::pair<Ber, std::size_t> columns[] = {
        {Ber::raw, 7}, {Ber::effective, 10}, {Ber::symbol, 13}};
    for (const auto& [ber, column] : columns) {
      const auto limit = number<double>(cells[column]);
      ASSERT_TRUE(limit) << line;
      EXPECT_EQ(ber_limit(kind, ber), (BerLimit{*limit, *limit})) << line;
    }
    ++rows;
  }
  EXPECT_GE(rows, 11u);
}

TEST(BerLimits, KnowTheChipByItsFirmwareAndTheFecByItsName) {
  EXPECT_EQ(chip_of("20.35.1012"), Chip::nm16);
  EXPECT_EQ(chip_of("27.2010.3118"), Chip::nm16);
  EXPECT_EQ(chip_of("28.43.2026"), Chip::nm7);
  EXPECT_EQ(chip_of("31.2014.1068"), Chip::nm7);
  for (const auto* other : {"", "28", "40.45.1020", "2.35.1", "12.28.2006"})
    EXPECT_EQ(chip_of(other), Chip::unknown) << other;
  EXPECT_EQ(fec_of("Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)"), Fec::ll50_plr);
  EXPECT_EQ(fec_of("Interleaved_Standard_RS_FEC_PLR - (544,514)"), Fec::other);
  EXPECT_EQ(fec_of("LL-FEC - (271,257) + PLR"), Fec::ll_plr);
  EXPECT_EQ(fec_of("Standard LL RS-FEC - RS(271,257)"), Fec::ll);
  EXPECT_EQ(fec_of("No FEC"), Fec::none);
  EXPECT_EQ(medium_of("Active cable (active copper / optics)"), Medium::active);
}

}  // namespace
}  // namespace cupel::burnin
