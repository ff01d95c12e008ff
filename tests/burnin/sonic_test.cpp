#include "burnin/fabric/discovery/sonic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/fabric/link_health.h"
#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const SonicPort* named(const std::vector<SonicPort>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &SonicPort::name);
  return found == ports.end() ? nullptr : &*found;
}

TEST(Sonic, ReadsTransceiversOfTheCaptureWithTheirLimits) {
  CUPEL_NEEDS_FABRIC_FILE(capture, "sonic/state_db.json");

  const auto read = parse_sonic_state(capture);

  ASSERT_TRUE(read) << read.error().what;
  ASSERT_THAT(*read, SizeIs(10));
  const auto* first = named(*read, "Ethernet0");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->module.vendor, "Mellanox");
  EXPECT_EQ(first->module.part, "MFA1A00-C003");
  EXPECT_EQ(first->module.serial, "MT1706FT02064");
  EXPECT_EQ(first->module.celsius, (Ranged{30.9258, -5, 75}));
  EXPECT_THAT(first->module.rx_dbm,
              ElementsAre(Ranged{0.3802, -13.5067, 3.4001}, Ranged{-0.4871, -13.5067, 3.4001},
                          Ranged{-0.0860, -13.5067, 3.4001}, Ranged{0.3830, -13.5067, 3.4001}));
  EXPECT_EQ(first->error, "Blocking Error|High temperature");
  EXPECT_EQ(named(*read, "Ethernet8")->module.firmware, "2.1.1");
  EXPECT_EQ(named(*read, "Ethernet16")->module.serial, "");
  const auto* copper = named(*read, "Ethernet72");
  EXPECT_EQ(copper->module.type, "Passive copper cable");
  EXPECT_EQ(copper->module.part, "some-model");
  EXPECT_EQ(copper->module.celsius, (Ranged{40.5, {}, {}}));
}

TEST(Sonic, TransceiversOfTheCaptureAreJudgedByTheirOwnLimits) {
  CUPEL_NEEDS_FABRIC_FILE(capture, "sonic/state_db.json");
  const auto ports = parse_sonic_state(capture);
  ASSERT_TRUE(ports) << ports.error().what;
  LinkLook look;
  for (const auto& port : *ports) look.reports[{"leaf1", port.name, 1}] = report_of(port);

  const auto health = judge_links(nullptr, look);

  ASSERT_THAT(health.findings, SizeIs(2));
  EXPECT_EQ(
      health.findings[0].defects,
      (std::vector<LinkDefect>{
          {LinkFault::not_active, "state Transceiver error: Blocking Error|High temperature"}}));
  EXPECT_EQ(to_string(health.findings[1].link), "leaf1 Ethernet8");
  ASSERT_THAT(health.findings[1].defects, SizeIs(3));
  EXPECT_THAT(health.findings[1].defects[1].what,
              HasSubstr("lane 3 at leaf1 Ethernet8 receives -22.924 dBm; the transceiver allows"));
}

TEST(Sonic, ADumpOfRedisHasTheFieldsUnderValue) {
  const auto read = parse_sonic_state(R"({
    "PORT_TABLE|Ethernet4": {"type": "hash", "ttl": -0.001, "value": {"netdev_oper_status": "down"}},
    "TRANSCEIVER_INFO|Ethernet4": {"type": "hash", "value": {"model": "M ", "serial": "S1"}}})");

  ASSERT_TRUE(read) << read.error().what;
  ASSERT_THAT(*read, SizeIs(1));
  EXPECT_EQ(read->front().module.part, "M");
  EXPECT_TRUE(read->front().down);
  EXPECT_EQ(report_of(read->front()).state, "Down");
}

TEST(Sonic, ALaneWithoutAReadingLeavesThePortWithoutLight) {
  const auto read = parse_sonic_state(R"({"TRANSCEIVER_DOM_SENSOR|Ethernet4":
    {"rx1power": "0.3", "rx2power": "N/A", "temperature": "inf"}})");

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_THAT(read->front().module.rx_dbm, IsEmpty());
  EXPECT_EQ(read->front().module.celsius, std::nullopt);
}

TEST(Sonic, WhatIsNoStateIsRefused) {
  for (const auto* text : {"", "[]", "5", "{\"TRANSCEIVER_INFO|Ethernet4\":"})
    EXPECT_EQ(parse_sonic_state(text).error().code, Code::kMalformed) << text;
  for (const auto* text : {"{}", R"({"PORT_TABLE|Ethernet4": {"speed": "1"}})",
                           R"({"TRANSCEIVER_INFO|Ethernet4": 5, "TRANSCEIVER_INFO": {"a": "b"}})"})
    EXPECT_EQ(parse_sonic_state(text).error().code, Code::kNoMeasurement) << text;
  std::string many = "{";
  for (int port = 0; port < 4097; ++port)
    many += fmt::format("{}\"TRANSCEIVER_INFO|Ethernet{}\": {{}}", port == 0 ? "" : ",", port);
  EXPECT_EQ(parse_sonic_state(many + "}").error().code, Code::kMalformed);
}

}  // namespace
}  // namespace cupel::burnin
