// What ipmitool makes of the virtual BMC.
#include "tests/rehearsal/served_bmc.h"
#include "tests/rehearsal/terminal.h"

namespace cupel::rehearsal {
namespace {
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class IpmitoolTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_REAL_PART(installed("ipmitool"), "ipmitool is not there"); }
};

class IpmitoolSuiteTest : public IpmitoolTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(CipherSuites, IpmitoolSuiteTest, ::testing::Values(3, 17));

TEST_P(IpmitoolSuiteTest, LogsInAndIsToldWhatItIs) {
  const ServedBmc bmc;

  const auto reported = bmc.ipmitool({"mc", "info"}, GetParam());

  EXPECT_EQ(reported.status, 0) << reported.err;
  EXPECT_THAT(reported.out,
              AllOf(HasSubstr("NVIDIA"), HasSubstr("Firmware Revision         : 23.11"),
                    HasSubstr("SDR Repository Device")));
}

TEST_P(IpmitoolSuiteTest, IsRefusedWithAWrongPassword) {
  const ServedBmc bmc;

  const auto reported = bmc.ipmitool({"mc", "info"}, GetParam(), "wrong");

  EXPECT_NE(reported.status, 0);
  EXPECT_THAT(reported.err, HasSubstr("Unable to establish"));
}

TEST_F(IpmitoolTest, IsRefusedForAnUnknownUserAndForAnUnknownSuite) {
  const ServedBmc bmc;

  const auto stranger = bmc.ipmitool({"-v", "mc", "info"}, 17, ServedBmc::kPassword, "nobody");
  const auto suite = bmc.ipmitool({"-v", "mc", "info"}, 8);

  EXPECT_THAT(stranger.err, HasSubstr("unauthorized name"));
  EXPECT_THAT(suite.err, HasSubstr("invalid authentication algorithm"));
}

TEST_F(IpmitoolTest, TurnsTheMachineOnAndOffAndSeesIt) {
  ServedBmc bmc;
  EXPECT_THAT(bmc.ipmitool({"chassis", "power", "status"}).out, HasSubstr("Power is off"));

  EXPECT_EQ(bmc.ipmitool({"chassis", "power", "on"}).status, 0);
  EXPECT_TRUE(bmc.wait_until([](Machine& machine) { return machine.boots() == 1; }));
  EXPECT_THAT(bmc.ipmitool({"chassis", "status"}).out, HasSubstr("System Power         : on"));
  EXPECT_EQ(bmc.ipmitool({"chassis", "power", "cycle"}).status, 0);
  EXPECT_TRUE(bmc.wait_until([](Machine& machine) { return machine.boots() == 2; }));
  EXPECT_EQ(bmc.ipmitool({"chassis", "power", "soft"}).status, 0);
  EXPECT_TRUE(bmc.wait_until([](Machine& machine) { return machine.power() == Power::off; }));
  EXPECT_THAT(bmc.ipmitool({"chassis", "power", "status"}).out, HasSubstr("Power is off"));
}

TEST_F(IpmitoolTest, CannotCycleWhatIsOff) {
  const ServedBmc bmc;

  const auto reported = bmc.ipmitool({"chassis", "power", "cycle"});

  EXPECT_NE(reported.status, 0);
  EXPECT_THAT(reported.err, HasSubstr("not supported in present state"));
}

TEST_F(IpmitoolTest, SetsTheNextBootAndTheBootUsesItUp) {
  ServedBmc bmc;

  EXPECT_EQ(bmc.ipmitool({"chassis", "bootdev", "pxe", "options=efiboot"}).status, 0);

  EXPECT_THAT(bmc.ipmitool({"chassis", "bootparam", "get", "5"}).out,
              AllOf(HasSubstr("Boot Flag Valid"), HasSubstr("Options apply to only next boot"),
                    HasSubstr("BIOS EFI boot"), HasSubstr("Force PXE")));
  EXPECT_EQ(bmc.on([](Machine& machine) { return machine.boot_override(); }),
            (BootOverride{"Once", "Pxe", "UEFI"}));
  ASSERT_TRUE(bmc.boot());
  EXPECT_EQ(bmc.on([](Machine& machine) { return machine.booted_from(); }), "Pxe");
  EXPECT_THAT(bmc.ipmitool({"chassis", "bootparam", "get", "5"}).out,
              HasSubstr("Boot Flag Invalid"));
}

TEST_F(IpmitoolTest, ReadsSensorsThatGoAwayWithThePower) {
  ServedBmc bmc;

  const auto off = bmc.ipmitool({"sdr", "elist"});
  ASSERT_TRUE(bmc.boot());
  const auto on = bmc.ipmitool({"sdr", "elist"});
  const auto list = bmc.ipmitool({"sensor", "list"});

  EXPECT_THAT(off.out, AllOf(HasSubstr("TEMP_AMBIENT     | 01h | ok  | 55.1 | 24 degrees C"),
                             HasSubstr("TEMP_GPU_SXM_1   | 10h | ns  | 11.1 | No Reading")));
  EXPECT_THAT(on.out,
              AllOf(ContainsRegex("TEMP_GPU_SXM_8   \\| 17h \\| ok  \\| 11.8 \\| 3[0-9] degrees C"),
                    HasSubstr("SPD_FAN_SYS0_F   | 20h | ok  | 29.1 | 4400 RPM"),
                    HasSubstr("VOLT_12V         | 48h | ok  |  7.1 | 12 Volts"),
                    HasSubstr("PSU0_STATUS      | 50h | ok  | 10.1 | Presence detected"),
                    HasSubstr("PSU_REDUNDANCY   | 58h | ok  | 10.96 | Fully Redundant")));
  EXPECT_THAT(
      list.out,
      ContainsRegex("TEMP_CPU0        \\| 4[0-9].000     \\| degrees C  \\| ok    \\| na        "
                    "\\| na        \\| na        \\| 90.000    \\| 96.000    \\| na"));
}

TEST_F(IpmitoolTest, FindsPlantedFaultsInTheEventLogAndClearsIt) {
  ServedBmc bmc{{{.kind = FaultKind::psu_missing, .part = "psu2"},
                 {.kind = FaultKind::gpu_ecc, .part = "gpu5"},
                 {.kind = FaultKind::dimm_missing, .part = "dimm A7"}}};
  ASSERT_TRUE(bmc.boot());

  const auto log = bmc.ipmitool({"sel", "elist"});
  const auto supply = bmc.ipmitool({"sdr", "get", "PSU2_STATUS"});
  EXPECT_EQ(bmc.ipmitool({"sel", "clear"}).status, 0);
  const auto after = bmc.ipmitool({"sel", "elist"});

  EXPECT_THAT(log.out, AllOf(HasSubstr("Power Supply PSU2_STATUS | Presence detected | Deasserted"),
                             HasSubstr("PSU_REDUNDANCY | Redundancy Lost | Asserted"),
                             HasSubstr("Memory GPU_ECC | Uncorrectable ECC | Asserted"),
                             HasSubstr("Memory DIMM | Configuration Error | Asserted"),
                             HasSubstr("ACPI_STATE | S0/G0: working | Asserted")));
  EXPECT_THAT(supply.out, Not(HasSubstr("Presence detected")));
  EXPECT_EQ(lines(after.out).size(), 1u) << after.out;
  EXPECT_THAT(after.out, HasSubstr("Log area reset/cleared"));
}

TEST_F(IpmitoolTest, ReadsTheSerialNumbersThatRedfishShows) {
  ServedBmc bmc{{{.kind = FaultKind::psu_missing, .part = "psu2"}}};
  const auto hardware = bmc.on([](Machine& machine) { return machine.hardware(); });

  const auto reported = bmc.ipmitool({"fru", "print"});
  const auto guid = bmc.ipmitool({"mc", "guid"});

  EXPECT_THAT(reported.out, AllOf(HasSubstr("Product Serial        : " + hardware.serial),
                                  HasSubstr("Chassis Serial        : " + hardware.serial),
                                  HasSubstr("Product Serial        : " + hardware.psus[0].serial)));
  EXPECT_THAT(reported.out, HasSubstr("PSU2 (ID 3)\n Device not present"));
  EXPECT_THAT(guid.out, HasSubstr(hardware.uuid));
}

TEST_F(IpmitoolTest, ListsUsersAddsOneAndChangesAPassword) {
  const ServedBmc bmc;

  EXPECT_EQ(bmc.ipmitool({"user", "set", "name", "3", "cupel"}).status, 0);
  EXPECT_EQ(bmc.ipmitool({"user", "set", "password", "3", "first-password"}).status, 0);
  EXPECT_EQ(bmc.ipmitool({"channel", "setaccess", "1", "3", "ipmi=on", "privilege=4"}).status, 0);
  EXPECT_EQ(bmc.ipmitool({"user", "enable", "3"}).status, 0);

  EXPECT_THAT(bmc.ipmitool({"user", "list", "1"}).out,
              AllOf(HasSubstr("2   admin            true    true       true       ADMINISTRATOR"),
                    HasSubstr("3   cupel            true    false      true       ADMINISTRATOR")));
  EXPECT_EQ(bmc.ipmitool({"mc", "info"}, 17, "first-password", "cupel").status, 0);
  EXPECT_EQ(bmc.ipmitool({"user", "test", "3", "16", "first-password"}).status, 0);
  EXPECT_NE(bmc.ipmitool({"user", "test", "3", "16", "other-password"}).status, 0);
  EXPECT_NE(bmc.ipmitool({"user", "test", "3", "20", "first-password"}).status, 0);
  EXPECT_EQ(bmc.ipmitool({"user", "disable", "3"}).status, 0);
  EXPECT_NE(bmc.ipmitool({"mc", "info"}, 17, "first-password", "cupel").status, 0);
}

TEST_F(IpmitoolTest, MayNotDoMoreThanItsPrivilege) {
  ServedBmc bmc;

  const auto reads = bmc.ipmitool({"-L", "USER", "chassis", "power", "status"});
  const auto acts = bmc.ipmitool({"-L", "USER", "chassis", "power", "on"});

  EXPECT_EQ(reads.status, 0) << reads.err;
  EXPECT_THAT(acts.err, HasSubstr("Insufficient privilege level"));
  EXPECT_EQ(bmc.on([](Machine& machine) { return machine.power(); }), Power::off);
}

TEST_F(IpmitoolTest, PrintsTheLanAndTheConsoleSettings) {
  ServedBmc bmc;

  const auto lan = bmc.ipmitool({"lan", "print", "1"});
  const auto sol = bmc.ipmitool({"sol", "info", "1"});
  const auto mac = bmc.on([](Machine& machine) { return machine.hardware().bmc_mac; });

  EXPECT_THAT(lan.out, AllOf(HasSubstr("IP Address              : 127.0.0.1"),
                             HasSubstr("MAC Address             : " + mac),
                             HasSubstr("RMCP+ Cipher Suites     : 3,17")));
  EXPECT_THAT(sol.out, AllOf(HasSubstr("Enabled                         : true"),
                             HasSubstr("Force Encryption                : true"),
                             HasSubstr("Payload Port                    : " +
                                       std::to_string(bmc.server.port()))));
}

TEST_F(IpmitoolTest, ReadsThePowerByDcmi) {
  ServedBmc bmc;
  ASSERT_TRUE(bmc.boot());

  const auto reading = bmc.ipmitool({"dcmi", "power", "reading"});
  const auto abilities = bmc.ipmitool({"dcmi", "discover"});

  EXPECT_THAT(reading.out, AllOf(ContainsRegex("Instantaneous power reading: +[1-9][0-9]+ Watts"),
                                 HasSubstr("Power reading state is:                   activated")))
      << reading.err;
  EXPECT_THAT(abilities.out, ContainsRegex("Power management")) << abilities.err;
}

TEST_F(IpmitoolTest, AsksForWhatIsNotThereAndIsToldSo) {
  const ServedBmc bmc;

  EXPECT_THAT(bmc.ipmitool({"raw", "0x2c", "0x03", "0xdc", "0", "0"}).err, HasSubstr("rsp=0xc1"));
  EXPECT_THAT(bmc.ipmitool({"raw", "0x04", "0x2d", "0xee"}).err, HasSubstr("rsp=0xcb"));
  EXPECT_THAT(bmc.ipmitool({"raw", "0x00", "0x02"}).err, HasSubstr("rsp=0xc7"));
  EXPECT_THAT(bmc.ipmitool({"raw", "0x0a", "0x23", "9", "9", "1", "0", "5", "8"}).err,
              HasSubstr("rsp=0xc5"));
  EXPECT_THAT(bmc.ipmitool({"raw", "0x06", "0x01"}).out, HasSubstr(" 20 81 17 11 02 8f"));
}

TEST_F(IpmitoolTest, TypesAtTheConsole) {
  ServedBmc bmc{{}, 200};
  const std::vector<std::string> environment{std::string{"IPMI_PASSWORD="} + ServedBmc::kPassword};
  cupel::testing::Terminal terminal{bmc.ipmitool_line({"sol", "activate"}), environment};
  ASSERT_TRUE(terminal.wait_for("SOL Session operational")) << terminal.shown();

  ASSERT_TRUE(bmc.boot());

  EXPECT_TRUE(terminal.wait_for("Copyright (C) 2024 AMI")) << terminal.shown();
  EXPECT_TRUE(terminal.wait_for("GNU GRUB")) << terminal.shown();
  EXPECT_TRUE(terminal.wait_for("Linux version")) << terminal.shown();
  EXPECT_TRUE(terminal.wait_for("v01-n01 login: ")) << terminal.shown();
  terminal.type("somebody\r");
  EXPECT_TRUE(terminal.wait_for("somebody")) << terminal.shown();
  EXPECT_TRUE(terminal.wait_for("Password: ")) << terminal.shown();
  terminal.type("secret\r");
  EXPECT_TRUE(terminal.wait_for("Login incorrect")) << terminal.shown();
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("secret")));
  EXPECT_THAT(bmc.ipmitool({"sol", "activate"}).err, HasSubstr("already active"));
  EXPECT_EQ(bmc.ipmitool({"sol", "deactivate"}).status, 0);
}

TEST_F(IpmitoolTest, ResetsTheBmcAndWaitsForItToComeBack) {
  ServedBmc bmc{{}, 20};  // 90 s of the rack's are 4.5 s of ours

  const auto reported = bmc.ipmitool({"mc", "reset", "cold"});
  const auto away = bmc.ipmitool({"-R", "1", "mc", "info"});  // gives up after two

  EXPECT_THAT(reported.out, HasSubstr("Sent cold reset command to MC"));
  EXPECT_NE(away.status, 0);
  auto back = away;
  const auto until = Clock::Real::now() + std::chrono::minutes{1};
  while (back.status != 0 && Clock::Real::now() < until) back = bmc.ipmitool({"mc", "info"});
  EXPECT_EQ(back.status, 0) << back.err;
}

}  // namespace
}  // namespace cupel::rehearsal
