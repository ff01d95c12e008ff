// SDR, FRU and SEL: bytes in, facts out.
#include <gmock/gmock.h>

#include "bmc/ipmi/chassis.h"
#include "bmc/ipmi/event_log.h"
#include "bmc/ipmi/fru.h"
#include "bmc/ipmi/identity.h"
#include "bmc/ipmi/sensors.h"
#include "tests/bmc/ipmi/hexes.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using Format = Formula::Format;

/// A full record: a voltage of 5 x + 1 hundredths, two thresholds, "P12V".
Bytes full_record() {
  return from_hex(
      "0400 51 01 2f  20 00 04 07 01 7f 68 02 01  0000 0000 1212  00 04 00  00 05 00 01 00 00 e0"
      "07 00 00 00 ff 00  ff fa 00 00 c8 00  02 02 00 00 00 c4 50313256");
}

SensorRecord parsed(const Bytes& bytes) {
  auto record = parse_sdr(bytes);
  return record ? std::get<SensorRecord>(*record) : SensorRecord{};
}

TEST(Sdr, ReadsAFullRecord) {
  const auto sensor = parsed(full_record());

  EXPECT_EQ(sensor.id, 4);
  EXPECT_EQ(sensor.name, "P12V");
  EXPECT_EQ(sensor.unit.text(), "V");
  EXPECT_EQ(sensor.formula,
            (Formula{.format = Format::from_zero, .m = 5, .b = 1, .result_exponent = -2}));
  EXPECT_EQ(sensor.thresholds, (Thresholds{.lower_critical = 0xc8, .upper_critical = 0xfa}));
  EXPECT_THAT(sensor.formula(0xf4), Optional(DoubleNear(12.21, 1e-9)));
}

TEST(Sdr, TakesNoRecordThatIsCutAnywhere) {
  const auto whole = full_record();
  for (std::size_t length = 0; length < whole.size() - 4; ++length) {
    const auto cut = parse_sdr(View{whole}.first(length));
    EXPECT_FALSE(cut) << length;
  }
  // One whose header lies less: the body is short for a full record.
  EXPECT_FALSE(parse_sdr(with_byte(full_record(), 4, 20)));
}

TEST(Sdr, ReadsCompactEventOnlyAndFruRecords) {
  const auto compact = parsed(from_hex(
      "0300 51 02 1e  20 00 03 0a 01 7f 40 08 6f  ff7f 0000 ff7f  c0 00 00 03 00 00 00 00 00 00 00"
      "c3 505355"));
  const auto event = parsed(from_hex("0900 51 03 0f  20 00 07 07 01 10 6f 01 00 00 00 c3 4e4d49"));
  const auto fru = parse_sdr(from_hex("0700 51 11 0e  20 01 80 00 00 10 00 0a 02 00 c3 505332"));

  EXPECT_EQ(compact.name, "PSU");
  EXPECT_EQ(compact.share, 3);
  EXPECT_EQ(compact.formula(0), std::nullopt);
  EXPECT_EQ(event.name, "NMI");
  EXPECT_FALSE(event.readable);
  ASSERT_TRUE(fru);
  EXPECT_EQ(std::get<FruLocator>(*fru), (FruLocator{7, 0x20, 1, true, 0x0a, 2, "PS2"}));
}

TEST(Sdr, PassesOverWhatItDoesNotKnow) {
  const auto other = parse_sdr(from_hex("0a00 51 c0 03 010203"));

  ASSERT_TRUE(other);
  EXPECT_EQ(std::get<OtherRecord>(*other), (OtherRecord{10, 0xc0}));
}

// IPMI 2.0, 36.3: y = L((M x + B 10^Bexp) 10^Rexp).
TEST(Formula, FollowsEveryLinearisationOfTheStandard) {
  Formula formula{.format = Format::from_zero, .m = 2};
  const auto at_four = [&](int how) {
    formula.linearisation = static_cast<std::uint8_t>(how);
    return formula(4).value_or(-1);
  };

  EXPECT_DOUBLE_EQ(at_four(0), 8);
  EXPECT_NEAR(at_four(1), 2.0794415416798357, 1e-12);
  EXPECT_NEAR(at_four(2), 0.9030899869919435, 1e-12);
  EXPECT_DOUBLE_EQ(at_four(3), 3);
  EXPECT_NEAR(at_four(4), 2980.957987041728, 1e-9);
  EXPECT_DOUBLE_EQ(at_four(5), 1e8);
  EXPECT_DOUBLE_EQ(at_four(6), 256);
  EXPECT_DOUBLE_EQ(at_four(7), 0.125);
  EXPECT_DOUBLE_EQ(at_four(8), 64);
  EXPECT_DOUBLE_EQ(at_four(9), 512);
  EXPECT_NEAR(at_four(10), 2.8284271247461903, 1e-12);
  EXPECT_DOUBLE_EQ(at_four(11), 2);
  formula.linearisation = 0x70;
  EXPECT_EQ(formula(4), std::nullopt);
  formula.linearisation = 7;
  EXPECT_EQ(formula(0), std::nullopt) << "1/0 is no reading";
}

TEST(Formula, KnowsThreeWaysToWriteANumber) {
  EXPECT_THAT((Formula{.format = Format::from_zero}(0xfe)), Optional(254.0));
  EXPECT_THAT((Formula{.format = Format::ones_complement}(0xfe)), Optional(-1.0));
  EXPECT_THAT((Formula{.format = Format::ones_complement}(0xff)), Optional(0.0));
  EXPECT_THAT((Formula{.format = Format::twos_complement}(0xfe)), Optional(-2.0));
  EXPECT_EQ((Formula{.format = Format::none}(0xfe)), std::nullopt);
}

TEST(Formula, HasSignedFactorsOfTenBitsAndExponentsOfFour) {
  auto bytes = full_record();
  // M = -3 (3FDh), B = -200 (338h), Rexp = -1, Bexp = 2.
  const auto at = 5 + 19;
  for (const auto& [offset, value] :
       {std::pair{0, 0xfd}, {1, 0xc0}, {2, 0x38}, {3, 0xc0}, {5, 0xf2}})
    bytes = with_byte(bytes, at + offset, value);

  const auto formula = parsed(bytes).formula;

  EXPECT_EQ(formula.m, -3);
  EXPECT_EQ(formula.b, -200);
  EXPECT_THAT(formula(10), Optional(DoubleNear((-30 - 20000) * 0.1, 1e-9)));
}

TEST(Unit, HasModifiersAndRates) {
  EXPECT_EQ((Unit{.base = 72, .rate = 3}.text()), "MB/s");
  EXPECT_EQ((Unit{.base = 5, .modifier = 24, .relation = Unit::Relation::times}.text()), "A·h");
  EXPECT_EQ((Unit{.base = 37, .rate = 4}.text()), "L/min");
  EXPECT_EQ((Unit{.base = 18, .percent = true}.text()), "%");
}

TEST(Reading, ComesWithThresholdsAndHealth) {
  const auto record = parsed(full_record());

  const auto sensor = understood(record, from_hex("f4 c0 10 00"), record.thresholds);

  EXPECT_EQ(sensor.kind, SensorKind::voltage);
  EXPECT_THAT(sensor.value, Optional(DoubleNear(12.21, 1e-9)));
  EXPECT_THAT(sensor.critical_above, Optional(DoubleNear(12.51, 1e-9)));
  EXPECT_THAT(sensor.critical_below, Optional(DoubleNear(10.01, 1e-9)));
  EXPECT_EQ(sensor.warn_above, std::nullopt);
  EXPECT_EQ(sensor.health, "Critical");
}

TEST(Reading, ThatIsNotThereIsNotZero) {
  const auto record = parsed(full_record());

  for (const char* reported : {"00 e0 00", "00 80 00", "00", ""}) {
    const auto sensor = understood(record, from_hex(reported), record.thresholds);
    EXPECT_EQ(sensor.value, std::nullopt) << reported;
    EXPECT_EQ(sensor.health, "") << reported;
  }
}

TEST(Reading, OfStatesSaysThemInTheStandardsWords) {
  SensorRecord psu{.type = 0x08, .reading = 0x6f, .name = "PSU1"};
  SensorRecord pair{.type = 0x08, .reading = 0x0b, .name = "PSU redundancy"};
  SensorRecord leak{.type = 0xc5, .reading = 0x03, .name = "Leak tray 2"};

  const auto failed = understood(psu, from_hex("00 c0 0b 80"), {});
  const auto redundant = understood(pair, from_hex("00 c0 01 80"), {});
  const auto dry = understood(leak, from_hex("00 c0 01 80"), {});

  EXPECT_EQ(failed.state,
            "Presence detected, Power Supply Failure detected, Power Supply input lost (AC/DC)");
  EXPECT_EQ(failed.health, "Critical");
  EXPECT_EQ(redundant.kind, SensorKind::redundancy);
  EXPECT_EQ(redundant.state, "Fully Redundant");
  EXPECT_EQ(redundant.health, "OK");
  EXPECT_EQ(dry.kind, SensorKind::leak);
  EXPECT_EQ(dry.state, "State Deasserted");
}

TEST(Reading, ComesInTheUnitsThatWePromise) {
  SensorRecord record{.type = 1, .reading = 1, .formula = {.format = Format::from_zero}};
  record.unit.base = 2;  // °F

  const auto sensor = understood(record, from_hex("d4 c0 00"), {});

  EXPECT_EQ(sensor.unit, "°C");
  EXPECT_THAT(sensor.value, Optional(DoubleNear(100, 1e-9)));
}

TEST(Text, ComesInThreeEncodings) {
  EXPECT_EQ(bcd_plus(from_hex("12 34 bc")), "1234-.");
  // IPMI 2.0, 43.15: "IPMI" is 29h, DCh, A6h.
  EXPECT_EQ(six_bit_ascii(from_hex("29 dc a6")), "IPMI");
  EXPECT_EQ(latin1(from_hex("20 41 b0 43 00 99")), "A°C");
  EXPECT_EQ(sdr_text(0xdf, from_hex("4142")), "AB") << "longer than there is";
}

/// Header, board (with a serial in 6-bit ASCII) and product.
Bytes fru_bytes() {
  Bytes bytes = from_hex("01 00 00 01 04 00 00 fa");
  Bytes board = from_hex("01 03 00 102030 c4 41636d65 c2 4258 83 29dca6 41 42 c1");
  board.resize(23);
  board.push_back(checksum(board));
  Bytes product = from_hex("01 04 00 c5 44656c7461 c0 c4 50504e31 c0 c7 534e2d34373131 c0 c1");
  product.resize(31);
  product.push_back(checksum(product));
  put(bytes, board);
  put(bytes, product);
  return bytes;
}

TEST(Fru, TellsMakerModelAndNumbers) {
  const auto fru = parse_fru(fru_bytes());

  ASSERT_TRUE(fru) << fru.error().what;
  const Fru& reported = *fru;
  EXPECT_EQ(reported.board, (FruBoard{0x302010, "Acme", "BX", "IPMI", "42"}));
  ASSERT_TRUE(reported.product);
  EXPECT_EQ(reported.product->serial, "SN-4711");
  EXPECT_EQ(reported.manufacturer(), "Delta");
  EXPECT_EQ(reported.model(), "BX") << "the product's own is empty";
  EXPECT_THAT(reported.damaged, ElementsAre());
}

TEST(Fru, HasNoSerialNumberWhereSomethingElseStandsForOne) {
  auto bytes = fru_bytes();
  const auto text = std::ranges::search(bytes, from_hex("534e2d34373131"));  // "SN-4711"
  ASSERT_FALSE(text.empty());
  std::ranges::fill(text, std::uint8_t{'0'});
  bytes.back() = 0;
  bytes.back() = checksum(View{bytes}.subspan(bytes.size() - 32));

  const auto fru = parse_fru(bytes);

  ASSERT_TRUE(fru && fru->product) << "the area is whole";
  EXPECT_EQ(fru->product->serial, "");
}

TEST(Fru, LosesOnlyTheAreaThatIsDamaged) {
  auto bytes = with_byte(fru_bytes(), 20, 0x00);

  const auto fru = parse_fru(bytes);

  ASSERT_TRUE(fru);
  EXPECT_EQ(fru->board, std::nullopt);
  EXPECT_EQ(fru->serial(), "SN-4711");
  EXPECT_THAT(fru->damaged, ElementsAre("board: a wrong checksum"));
}

TEST(Fru, LooksBehindNoEnd) {
  const auto whole = fru_bytes();
  for (std::size_t length = 8; length < whole.size(); ++length) {
    const auto cut = parse_fru(View{whole}.first(length));
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->product, std::nullopt);
  }
  EXPECT_EQ(parse_fru(Bytes(64, 0xff)).error().code, Code::kNotFound);
  EXPECT_EQ(parse_fru(with_byte(whole, 7, 0)).error().code, Code::kMalformed);
}

SelRecord sel(const char* text) {
  auto record = parse_sel(from_hex(text));
  return record ? *std::move(record) : SelRecord{};
}

TEST(Sel, SaysWhatHappenedInTheStandardsWords) {
  const auto hot = sel("0100 02 10203061 2000 04 01 30 01 59 91 90");
  const auto memory = sel("0200 02 10203061 2000 04 0c 40 6f a1 ff 05");
  const auto over = sel("0300 02 10203061 2000 04 08 41 ef 01 ff ff");
  const auto strange = sel("0400 02 10203061 2000 04 c9 41 7e 03 ff ff");

  EXPECT_EQ(text_of(hot), "Upper Critical - going high");
  EXPECT_EQ(severity_of(hot), "Critical");
  EXPECT_EQ(text_of(memory), "Uncorrectable ECC / other uncorrectable memory error");
  EXPECT_EQ(text_of(over), "Power Supply Failure detected (deasserted)");
  EXPECT_EQ(severity_of(over), "OK");
  EXPECT_EQ(text_of(strange), "event type 0x7e, state 3, data 03 ff ff");
  EXPECT_EQ(severity_of(strange), "");
}

TEST(Sel, WeighsAPowerUnitThatCutsOffAndNoMachineThatFoundNothingToBoot) {
  const auto cut_off = sel("0100 02 10203061 2000 04 09 44 6f 02 ff ff");
  const auto no_disk = sel("0200 02 10203061 2000 04 1e 44 6f 00 ff ff");
  const auto no_server = sel("0300 02 10203061 2000 04 1e 44 6f 02 ff ff");

  EXPECT_EQ(text_of(cut_off), "240VA Power Down");
  EXPECT_EQ(severity_of(cut_off), "Critical");
  EXPECT_EQ(text_of(no_disk), "No bootable media");
  EXPECT_EQ(severity_of(no_disk), "Warning");
  EXPECT_EQ(text_of(no_server), "PXE Server not found");
  EXPECT_EQ(severity_of(no_server), "Warning");
}

TEST(Sel, BecomesALineWithItsSensorAndTime) {
  Repository known;
  known.sensors.push_back({.id = 9, .owner = 0x20, .number = 0x30, .type = 1, .name = "CPU0 Temp"});
  using namespace std::chrono_literals;

  const auto named = entry_of(sel("0100 02 10203061 2000 04 01 30 01 59 91 90"), known, 60min);
  const auto early = entry_of(sel("0200 02 10000000 2000 04 0c 44 6f a1 ff 05"), known, 0min);
  const auto never = entry_of(sel("0300 02 ffffffff 2000 04 0c 44 6f a1 ff 05"), known, 0min);

  EXPECT_EQ(named.sensor, "CPU0 Temp");
  EXPECT_EQ(named.time, Seconds{std::chrono::seconds{0x61302010 - 3600}});
  EXPECT_EQ(named.source, "ipmi:sel/0x0001");
  EXPECT_EQ(early.time, std::nullopt);
  EXPECT_THAT(early.message, HasSubstr("16 s after the BMC started"));
  EXPECT_EQ(early.sensor, "Memory #0x44");
  EXPECT_EQ(never.time, std::nullopt);
}

TEST(Sel, KeepsTheVendorsOwnAsTheyAre) {
  EXPECT_EQ(text_of(sel("0300 c1 10203061 570100 010203040506")),
            "OEM record 0xc1: 01 02 03 04 05 06 (IANA 343)");
  EXPECT_EQ(text_of(sel("0400 e0 0102030405060708090a0b0c0d")),
            "OEM record 0xe0: 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d");
  EXPECT_FALSE(parse_sel(from_hex("0300 c1 10203061")));
}

TEST(ChassisControl, IsSentOnceWhereASecondOneWouldRestartTheMachineAgain) {
  for (const auto type : {ResetType::power_cycle, ResetType::force_restart})
    EXPECT_TRUE(control_command(type).once) << to_string(type);
  for (const auto type : {ResetType::on, ResetType::force_off, ResetType::graceful_shutdown})
    EXPECT_FALSE(control_command(type).once) << to_string(type);
}

TEST(BootFlags, NameTheTargetInUefiMode) {
  const BootOverride once{.target = BootTarget::pxe, .once = true};
  const BootOverride always{.target = BootTarget::virtual_cd};

  EXPECT_EQ(boot_flags(once, true), from_hex("a0 04 00 00 00"));
  EXPECT_EQ(boot_flags(always, true), from_hex("e0 20 00 00 00"));
  EXPECT_EQ(boot_flags(always, false), from_hex("e0 14 00 00 00"));
  EXPECT_EQ(boot_flags({}, true), from_hex("00 00 00 00 00"));
  EXPECT_EQ(parse_boot_flags(from_hex("a0 04 00 00 00")), once);
  EXPECT_EQ(parse_boot_flags(from_hex("e0 14 00 00 00")), always);
  EXPECT_EQ(parse_boot_flags(from_hex("00 04 00 00 00")), BootOverride{}) << "not valid";
}

TEST(DeviceId, TellsVersionAndMaker) {
  const auto device = parse_device_id(from_hex("2081090802dfa202003412"));

  ASSERT_TRUE(device);
  EXPECT_EQ(device->firmware, "9.08");
  EXPECT_EQ(vendor_of(device->manufacturer), "Dell");
}

TEST(Guid, IsPrintedInTheOrderThatMakesSense) {
  // One GUID in the standard's order, in SMBIOS's and in RFC 4122's.
  EXPECT_EQ(guid_text(from_hex("ffeeddccbbaa998807465544 33221100")),
            "00112233-4455-4607-8899-aabbccddeeff");
  EXPECT_EQ(guid_text(from_hex("33221100 5544 0746 8899aabbccddeeff")),
            "00112233-4455-4607-8899-aabbccddeeff");
  EXPECT_EQ(guid_text(from_hex("00112233 4455 4607 8899aabbccddeeff")),
            "00112233-4455-4607-8899-aabbccddeeff");
  EXPECT_EQ(guid_text(Bytes(16, 0)), "");
}

}  // namespace
}  // namespace cupel::bmc::ipmi
