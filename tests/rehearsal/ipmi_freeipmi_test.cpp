// What FreeIPMI makes of the virtual BMC.
#include "tests/rehearsal/served_bmc.h"

namespace cupel::rehearsal {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

class FreeipmiTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { CUPEL_NEEDS_REAL_PART(installed("ipmipower"), "FreeIPMI is not there"); }
};
INSTANTIATE_TEST_SUITE_P(CipherSuites, FreeipmiTest, ::testing::Values(3, 17));

TEST_P(FreeipmiTest, TurnsTheMachineOnAndOff) {
  ServedBmc bmc;

  EXPECT_EQ(bmc.freeipmi("ipmipower", {"--stat"}, GetParam()).out, "127.0.0.1: off\n");
  EXPECT_EQ(bmc.freeipmi("ipmipower", {"--on", "--wait-until-on"}, GetParam()).out,
            "127.0.0.1: ok\n");
  EXPECT_EQ(bmc.freeipmi("ipmipower", {"--stat"}, GetParam()).out, "127.0.0.1: on\n");
  EXPECT_EQ(bmc.freeipmi("ipmipower", {"--off", "--wait-until-off"}, GetParam()).out,
            "127.0.0.1: ok\n");
  EXPECT_EQ(bmc.on([](Machine& machine) { return machine.power(); }), Power::off);
}

TEST_P(FreeipmiTest, IsToldWhoItIsTalkingTo) {
  ServedBmc bmc;
  const auto uuid = bmc.on([](Machine& machine) { return machine.hardware().uuid; });

  const auto reported = bmc.freeipmi("bmc-info", {}, GetParam());

  EXPECT_THAT(reported.out,
              AllOf(HasSubstr("NVIDIA Corporation (5703)"), HasSubstr("GUID : " + uuid),
                    HasSubstr("Firmware Revision     : 23.11")))
      << reported.err;
}

TEST_P(FreeipmiTest, ReadsSensorsEventsAndFrus) {
  ServedBmc bmc{{{.kind = FaultKind::psu_missing, .part = "psu1"}}};
  ASSERT_TRUE(bmc.boot());
  const auto serial = bmc.on([](Machine& machine) { return machine.hardware().serial; });
  const std::vector<std::string> cache{"--quiet-cache", "--sdr-cache-directory",
                                       bmc.folder.path().string()};

  const auto sensors = bmc.freeipmi("ipmi-sensors", cache, GetParam());
  const auto events = bmc.freeipmi("ipmi-sel", cache, GetParam());
  const auto frus = bmc.freeipmi("ipmi-fru", cache, GetParam());

  EXPECT_THAT(sensors.out,
              AllOf(HasSubstr("TEMP_GPU_SXM_3"), HasSubstr("24.00"), HasSubstr("PSU0_STATUS"),
                    HasSubstr("'Presence detected'"), HasSubstr("'Redundancy Lost'")))
      << sensors.err;
  EXPECT_THAT(events.out, AllOf(HasSubstr("PSU1_STATUS"), HasSubstr("S0/G0")));
  EXPECT_THAT(frus.out, HasSubstr("FRU Product Serial Number: " + serial));
}

TEST_P(FreeipmiTest, ReadsThePowerByDcmi) {
  ServedBmc bmc;
  ASSERT_TRUE(bmc.boot());

  const auto reported = bmc.freeipmi("ipmi-dcmi", {"--get-system-power-statistics"}, GetParam());

  EXPECT_THAT(reported.out,
              AllOf(HasSubstr("Current Power"), HasSubstr("Watts"), HasSubstr("Active")))
      << reported.err;
}

TEST_P(FreeipmiTest, ClearsTheEventLog) {
  ServedBmc bmc;
  ASSERT_TRUE(bmc.boot());

  const auto cleared = bmc.freeipmi("ipmi-sel", {"--clear"}, GetParam());

  EXPECT_EQ(cleared.status, 0) << cleared.err;
  EXPECT_EQ(bmc.on([&](Machine&) { return bmc.server.service().device().sel.size(); }), 1u);
}

TEST_P(FreeipmiTest, SaysThatThePasswordIsWrong) {
  ServedBmc bmc{{{.kind = FaultKind::bmc_wrong_password}}};

  const auto reported = bmc.freeipmi("ipmipower", {"--stat"}, GetParam());

  EXPECT_THAT(reported.out, HasSubstr("password invalid"));
}

TEST(FreeipmiFaultTest, MeetsABmcThatKnowsSuite3Alone) {
  CUPEL_NEEDS_REAL_PART(installed("ipmipower"), "FreeIPMI is not there");
  const ServedBmc bmc{{{.kind = FaultKind::ipmi_suite_3_only}}};

  EXPECT_EQ(bmc.freeipmi("ipmipower", {"--stat"}, 3).out, "127.0.0.1: off\n");
  EXPECT_THAT(bmc.freeipmi("ipmipower", {"--stat"}, 17).out, HasSubstr("error"));
}

TEST(FreeipmiFaultTest, GetsThroughALossyNetwork) {
  CUPEL_NEEDS_REAL_PART(installed("ipmipower"), "FreeIPMI is not there");
  const ServedBmc bmc{{{.kind = FaultKind::ipmi_lossy, .every = 4}}};

  EXPECT_EQ(bmc.freeipmi("ipmipower", {"--stat", "--retransmission-timeout", "100"}).out,
            "127.0.0.1: off\n");
}

TEST(FreeipmiFaultTest, HearsNothingFromABlackHole) {
  CUPEL_NEEDS_REAL_PART(installed("ipmipower"), "FreeIPMI is not there");
  const ServedBmc bmc{{{.kind = FaultKind::ipmi_silent}}};

  const auto reported = bmc.freeipmi(
      "ipmipower", {"--stat", "--session-timeout", "1000", "--retransmission-timeout", "200"});

  EXPECT_THAT(reported.out, HasSubstr("timeout"));
}

}  // namespace
}  // namespace cupel::rehearsal
