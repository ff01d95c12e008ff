// Leak detectors: what three sides say of one, and what a log says of the past.
#include "bmc/leak.h"
#include "tests/bmc/reading.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LeakState, IsOkOnlyWhereTheDetectorReportsItAndNoSourceContradicts) {
  EXPECT_EQ(leak_state({"OK", "OK", "OK"}), "OK");
  EXPECT_EQ(leak_state({"OK", "", ""}), "OK");
  EXPECT_EQ(leak_state({"Critical", "Critical", ""}), "Critical");
  EXPECT_EQ(leak_state({"Unavailable", "", ""}), "Unavailable");
  EXPECT_EQ(leak_state({"Critical", "OK", "OK"}),
            "Critical (contradiction: sensor OK, roll-up OK)");
  EXPECT_EQ(leak_state({"OK", "Critical", "OK"}),
            "OK (contradiction: sensor Critical, roll-up OK)");
  EXPECT_EQ(leak_state({"", "Critical", ""}), "not reported (contradiction: sensor Critical)");
  EXPECT_EQ(leak_state({"", "OK", "OK"}), "") << "nobody has asked the detector itself";
  EXPECT_EQ(leak_state({}), "");
}

class Leaks : public ReadingTree {
 protected:
  static constexpr const char* kThermal = "/redfish/v1/Chassis/1/ThermalSubsystem";

  /// A chassis with two detectors, a sensor behind each, and a roll-up.
  Leaks() {
    at(kChassis)["ThermalSubsystem"] = link_to(kThermal);
    at(kChassis)["Sensors"] = link_to(std::string{kChassis} + "/Sensors");
    const auto detection = std::string{kThermal} + "/LeakDetection";
    put(kThermal, "{}");
    at(kThermal)["LeakDetection"] = link_to(detection);
    put(detection, R"({"Status": {"Health": "OK", "HealthRollup": "OK"}})");
    at(detection)["LeakDetectors"] = link_to(detection + "/LeakDetectors");
    tree.documents[detection + "/LeakDetectors"] =
        list_of({detector("Leak_0"), detector("Leak_1")});
    tree.documents[std::string{kChassis} + "/Sensors"] =
        list_of({sensor("Leak_0"), sensor("Leak_1")});
    for (const auto* id : {"Leak_0", "Leak_1"}) {
      put(detector(id), R"({"DetectorState": "OK", "Status": {"Health": "OK"}})");
      put(sensor(id), R"({"Reading": 1.73, "ReadingUnits": "V", "Status": {"Health": "OK"},
                          "Thresholds": {"LowerCritical": {"Reading": 1.617}}})");
    }
  }
  static std::string detector(const std::string& id) {
    return std::string{kThermal} + "/LeakDetection/LeakDetectors/" + id;
  }
  static std::string sensor(const std::string& id) {
    return std::string{kChassis} + "/Sensors/" + id;
  }
  std::vector<std::string> states() {
    std::vector<std::string> all;
    for (const auto& one : sensors().sensors)
      if (one.kind == SensorKind::leak) all.push_back(one.state);
    return all;
  }
};

TEST_F(Leaks, AreOkWhereDetectorSensorAndRollUpAgree) {
  EXPECT_THAT(states(), ElementsAre("OK", "OK"));
}

TEST_F(Leaks, ContradictWhereASensorIsBeyondItsLimitAndItsDetectorSaysOk) {
  at(sensor("Leak_1"))["Reading"] = 0.4;

  EXPECT_THAT(states(), ElementsAre("OK", "OK (contradiction: sensor Critical, roll-up OK)"));
}

TEST_F(Leaks, ContradictWhereOnlyTheRollUpSaysThatThereIsOne) {
  at(std::string{kThermal} + "/LeakDetection")["Status"] = json::object{{"Health", "Critical"}};

  EXPECT_THAT(states(), ElementsAre("OK", "OK", "Critical (contradiction: every detector OK)"));
}

TEST_F(Leaks, DoNotContradictWhereTheRollUpRepeatsWhatADetectorSays) {
  put(detector("Leak_1"), R"({"DetectorState": "Critical", "Status": {"Health": "Critical"}})");
  at(sensor("Leak_1"))["Reading"] = 0.4;
  at(std::string{kThermal} + "/LeakDetection")["Status"] = json::object{{"Health", "Critical"}};

  EXPECT_THAT(states(), ElementsAre("OK", "Critical"));
}

TEST_F(Leaks, AreNotOkWhereADetectorIsSwitchedOff) {
  put(detector("Leak_0"), R"({"DetectorState": "OK", "Status": {"State": "Disabled"}})");

  EXPECT_THAT(states(), ElementsAre("Disabled (contradiction: sensor OK, roll-up OK)", "OK"));
}

TEST_F(Leaks, AreUnknownAndNotOkWhereADetectorCannotBeRead) {
  tree.errors.emplace(detector("Leak_0"), Error{Code::kBusy, "GET: HTTP 503"});

  const auto seen = sensors();

  EXPECT_EQ(std::ranges::count(seen.sensors, SensorKind::leak, &Sensor::kind), 1);
  EXPECT_TRUE(std::ranges::any_of(seen.unknown, [](const inventory::Unknown& each) {
    return each.source.ends_with("/Leak_0");
  }));
}

Sensors captured_sensors(const std::filesystem::path& tree) {
  asio::io_context io;
  test::CapturedFetch fetch{tree};
  auto seen = run_to_end(io, redfish::read_sensors(fetch, Deadline::in(60s)));
  EXPECT_TRUE(seen);
  return seen ? *std::move(seen) : Sensors{};
}

std::map<std::string, std::string> leaks_of(const Sensors& seen) {
  std::map<std::string, std::string> all;
  for (const auto& one : seen.sensors)
    if (one.kind == SensorKind::leak) all[one.name] = one.state;
  return all;
}

TEST(CapturedLeaks, OfAGb200TrayContradictInOneDetector) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_gb200");

  const auto leaks = leaks_of(captured_sensors(tree));

  ASSERT_EQ(leaks.size(), 4);
  EXPECT_EQ(leaks.at("Chassis 0 LeakDetector 1 ColdPlate"),
            "Critical (contradiction: sensor OK, roll-up OK)");
  EXPECT_EQ(leaks.at("Chassis 0 LeakDetector 0 ColdPlate"), "OK");
}

TEST(CapturedLeaks, OfASwitchTrayAreSixAndTheirSum) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_gbswitch");

  const auto leaks = leaks_of(captured_sensors(tree));

  EXPECT_EQ(leaks.size(), 7);
  EXPECT_EQ(leaks.at("leakage aggr"), "OK");
  EXPECT_EQ(leaks.at("leakage6"), "OK");
}

TEST(CapturedLeaks, OfACoolingUnitStandOnceThoughChassisAndGroupTellThem) {
  CUPEL_NEED_CAPTURE(tree, "dmtf-cooling-unit");

  EXPECT_EQ(leaks_of(captured_sensors(tree)),
            (std::map<std::string, std::string>{{"Moisture Leak Detector", "OK"},
                                                {"Fluid Level Overflow", "OK"}}));
}

LogEntry entry(std::string message, std::string severity = "Critical",
               std::string id = "ResourceEvent.1.2.ResourceStateChanged") {
  return {.id = "1",
          .severity = std::move(severity),
          .message = std::move(message),
          .message_id = std::move(id)};
}

TEST(LatchedLeaks, StayThoughTheDetectorSaysOkAgain) {
  EventLog log;
  log.entries = {
      entry("The state of resource `Chassis_0_LeakDetector_1_ColdPlate` has changed to Degraded."),
      entry("The state of resource `Chassis_0_LeakDetector_1_ColdPlate` has changed to OK.", "OK"),
      entry("The state of resource `Chassis_0_LeakDetector_1_ColdPlate` has changed to Degraded.")};

  const auto latched = latched_leaks(log);

  ASSERT_EQ(latched.size(), 1);
  EXPECT_EQ(latched[0].detector, "Chassis_0_LeakDetector_1_ColdPlate");
}

TEST(LatchedLeaks, AreSeenWhereTheEntryHasNoSeverity) {
  EventLog log;
  log.entries = {entry(
      "The state of resource `Chassis_0_LeakDetector_0_Manifold` has changed to Degraded.", "")};

  EXPECT_EQ(latched_leaks(log).size(), 1);
}

TEST(LatchedLeaks, AreNotOverBecauseTheWordAbnormalHoldsNormal) {
  EventLog log;
  log.entries = {entry("Leak detector 0 is abnormal.", "Critical", "")};

  EXPECT_EQ(latched_leaks(log).size(), 1);
}

TEST(LatchedLeaks, AreNoneOfOtherPartsAndOfGoodNews) {
  EventLog log;
  log.entries = {
      entry("The state of resource `PSU_0` has changed to Degraded."),
      entry("The state of resource `Chassis_0_LeakDetector_0_Manifold` has changed to OK.", "OK"),
      entry("Leak detector 0: no leak.", "OK", "")};

  EXPECT_THAT(latched_leaks(log), IsEmpty());
}

}  // namespace
}  // namespace cupel::bmc
