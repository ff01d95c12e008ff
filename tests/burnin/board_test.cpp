// What the BMC tells around and during a stage: the log's new entries, and the supplies' readings
// in their phases.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/board/event_log.h"
#include "burnin/board/part_names.h"
#include "burnin/board/supply_readings.h"
#include "burnin/criteria/judge.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- names of parts

TEST(PartNames, GoByWhatTheBmcCalledThePartThenByCommonWords) {
  const PartNames names{{{"gpu0", {"/redfish/v1/Systems/HGX/Processors/GPU_SXM_1", "GPU_SXM_1"}},
                         {"psu0", {"/redfish/v1/Chassis/1/Power#/PowerSupplies/0", "PSU1"}},
                         {"psu1", {"/redfish/v1/Chassis/1/Power#/PowerSupplies/1", "PSU2"}},
                         {"dimm A7", {"P1-DIMMA7"}}}};
  struct Row {
    const char* text;
    const char* source;
    const char* part;
  };
  for (const auto& row :
       std::initializer_list<Row>{{"GPU_SXM_1 Driver Event Message", "", "gpu0"},
                                  {"PSU1 has lost its input", "", "psu0"},
                                  {"PSU10 has lost its input", "", "psu10"},
                                  {"PWR_PSU2_IN", "", "psu1"},
                                  {"lost", "/redfish/v1/Chassis/1/Power#/PowerSupplies/1", "psu1"},
                                  {"correctable errors at P1-DIMMA7", "", "dimm A7"},
                                  {"Uncorrectable ECC @ DIMM_B2", "", "dimm B2"},
                                  {"GPU_SXM_4 has errors of type XID 79", "", "gpu3"},
                                  {"psu4: input power is lost.", "", "psu4"},
                                  {"Power Supply Bay 3 failed", "", "psu3"},
                                  {"Fan 3 does not turn", "", "fan3"},
                                  {"Leak detector 0 detected moisture.", "", "leak detector"},
                                  {"steps up", "", ""},
                                  {"A processor is throttled.", "", ""}})
    EXPECT_EQ(names.of(row.text, row.source), row.part) << row.text;
}

// --- the log

json::object entry(int id, const char* severity, const char* message, const char* message_id = "") {
  return {{"id", std::to_string(id)},
          {"time", "2026-11-22T08:00:0" + std::to_string(id % 10) + "Z"},
          {"severity", severity},
          {"message", message},
          {"message_id", message_id}};
}

Result<Findings> read_log(json::array entries, json::value before, bool cut = false) {
  Output output;
  output.beside = json::serialize(
      json::object{{"entries", std::move(entries)}, {"before", std::move(before)}, {"cut", cut}});
  return parsed("sel", output);
}

TEST(Sel, CountsWhatIsNewBySeverityAndPart) {
  const json::array old{entry(1, "Critical", "psu2: input power is lost.")};
  auto now = old;
  now.push_back(entry(2, "Critical", "Fan 3 does not turn"));
  now.push_back(entry(3, "Warning", "DIMM_A7: correctable errors passed their limit."));
  now.push_back(entry(4, "Critical", "The operating system has stopped"));
  now.push_back(entry(5, "OK", "Something was done"));

  const auto found = read_log(now, marks_of(json::object{{"entries", old}}));

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "sel.new.critical", "fan3"), 1);
  EXPECT_EQ(value_of(findings, "sel.new.critical", ""), 1);
  EXPECT_EQ(value_of(findings, "sel.new.critical", "psu2"), std::nullopt) << "it was there before";
  EXPECT_EQ(value_of(findings, "sel.new.warning", "dimm A7"), 1);
  EXPECT_EQ(value_of(findings, "sel.new.other"), 1);
  EXPECT_EQ(findings.facts.at("sel.fan3"), "Critical: Fan 3 does not turn");
}

TEST(Sel, DistinguishesOperatorActionsFromFaults) {
  for (const auto& [id, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Event.1.0.AttemptConnect", "[MEL-0135] The user attempted to access BMC"},
           {"ResourceEvent.1.2.ResourcePoweredOff", "The host was powered off."},
           {"IDRAC.2.7.LOG007", "The previous log entry was repeated 5 times."},
           {"", "Event Log: Log area reset/cleared"},
           {"OpenBMC.0.4.BMCSystemResourceInfo",
            "Processes consuming HIGH Resource Storage are"}}) {
    const auto found = read_log({entry(1, "Warning", message, id)}, json::array{});

    ASSERT_TRUE(found);
    EXPECT_EQ(value_of(*found, "sel.new.warning"), 0) << message;
    EXPECT_EQ(value_of(*found, "sel.new.harmless"), 1) << message;
  }
}

TEST(Sel, AsksNotWhereTheLogLiesButWhereTheEntrySaysItComesFrom) {
  auto of_psu = entry(1, "Critical", "input power is lost");
  of_psu["source"] = "/redfish/v1/Managers/BMC/LogServices/SEL/Entries/1";
  of_psu["sensor"] = "/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/PSU4";
  Output output;
  output.beside = json::serialize(json::object{
      {"parts",
       {{{"name", "bmc"}, {"as", {"/redfish/v1/Managers/BMC"}}},
        {{"name", "psu4"}, {"as", {"/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/PSU4"}}}}},
      {"entries", json::array{of_psu}},
      {"before", json::array{}}});

  const auto found = parsed("sel", output);

  EXPECT_EQ(value_of(*found, "sel.new.critical", "psu4"), 1);
  EXPECT_EQ(value_of(*found, "sel.new.critical", "bmc"), std::nullopt);
}

TEST(Sel, TakesAnEntryOfALogThatWasClearedForNewThoughItsNumberWasThereBefore) {
  const json::array old{entry(1, "Warning", "Fan 1 is slow"), entry(2, "OK", "x")};

  const auto found =
      read_log({entry(1, "Critical", "Fan 1 failed")}, marks_of(json::object{{"entries", old}}));

  EXPECT_EQ(value_of(*found, "sel.new.critical", "fan1"), 1);
}

TEST(Sel, ReportsNoNewEntryWithoutAnEarlierReading) {
  Output silent;
  silent.beside = R"({"failed": "no answer in 90000 ms", "before": []})";
  for (const auto& found : {read_log({entry(1, "Critical", "Fan 1 failed")}, nullptr),
                            parsed("sel", silent), parsed("sel", Output{})}) {
    ASSERT_TRUE(found);
    EXPECT_THAT(found->measurements, IsEmpty());
    EXPECT_TRUE(says_unknown(*found, "the BMC's log"));
  }
}

TEST(Sel, SaysSoWhereTheLogRanOverBetweenTwoReadings) {
  const json::array old{entry(1, "OK", "x")};

  const auto found = read_log({entry(7, "OK", "y"), entry(8, "OK", "z")},
                              marks_of(json::object{{"entries", old}}), true);

  EXPECT_TRUE(says_unknown(*found, "older new entries"));
}

TEST(Sel, IsJudgedByThePartThatTheEntryNames) {
  const auto found = read_log({entry(1, "Critical", "psu4: input power is lost.")}, json::array{});

  const auto comparisons = judge(profile(), {"sel@psu"}, {{"sel@psu", *found}});

  std::vector<std::string> failed;
  for (const auto& each : comparisons)
    if (each.met != Met::met) failed.push_back(each.part + " " + each.measure);
  EXPECT_THAT(failed, ElementsAre("psu4 sel.new.critical"));
}

// --- readings in phases

std::string reading(int number, double watts, const char* health = "OK", double volts = 230,
                    const char* redundancy = "OK") {
  json::array sensors;
  for (int i = 0; i < 2; ++i) {
    const auto name = "PSU" + std::to_string(i);
    sensors.push_back({{"kind", "power"},
                       {"name", name + " output"},
                       {"value", watts + 10 * i},
                       {"health", i == 1 ? health : "OK"}});
    sensors.push_back({{"kind", "voltage"}, {"name", name + " input voltage"}, {"value", volts}});
  }
  sensors.push_back({{"kind", "redundancy"}, {"name", "PSU redundancy 0"}, {"health", redundancy}});
  return json::serialize(
             json::object{{"reading", number}, {"seconds", 0.5}, {"sensors", std::move(sensors)}}) +
         "\n";
}

std::string heard(std::initializer_list<const char*> phases) {
  json::array all;
  for (const auto* phase : phases) all.emplace_back(phase);
  return json::serialize(json::object{{"heard", std::move(all)}}) + "\n";
}

constexpr const char* kBegan = "{\"began\":1}\n";

std::vector<std::string> phases_of(const std::string& transcript) {
  std::vector<std::string> phases;
  for (const auto& each : read_transcript(transcript).readings) phases.push_back(each.phase);
  return phases;
}

TEST(SupplyReadings, LieInAPhaseThatWasHeardOfBeforeMeanwhileAndAfter) {
  struct Row {
    const char* name;
    std::string transcript;
    std::vector<std::string> phases;
  };
  const std::initializer_list<Row> rows{
      {"quick", heard({"idle"}) + kBegan + reading(1, 100) + heard({"idle"}), {"idle"}},
      {"several between two words",
       heard({"idle"}) + kBegan + reading(1, 1) + kBegan + reading(2, 1) + heard({"idle"}),
       {"idle", "idle"}},
      {"over a boundary",
       heard({"idle"}) + kBegan + heard({"full"}) + reading(1, 1) + heard({"full"}),
       {""}},
      {"the phase ended before the next word",
       heard({"idle"}) + kBegan + reading(1, 1) + heard({"idle", "settling", "full"}),
       {""}},
      {"before any word", kBegan + reading(1, 1) + heard({"idle"}), {""}},
      {"the last of all", heard({"full"}) + kBegan + reading(1, 1), {""}},
      {"begun where the last of several words was another",
       heard({"idle", "full"}) + kBegan + reading(1, 1) + heard({"full"}),
       {"full"}}};
  for (const auto& row : rows) EXPECT_EQ(phases_of(row.transcript), row.phases) << row.name;
}

/// Two readings in each phase, by what each is.
std::string transcript(const std::string& idle, const std::string& full) {
  std::string text;
  for (const auto& [phase, output] : std::initializer_list<std::pair<const char*, std::string>>{
           {"idle", idle}, {"full", full}, {"rest", idle}, {"wave", full}})
    for (int i = 0; i < 2; ++i) text += heard({phase}) + kBegan + output + heard({phase});
  return text;
}

Result<Findings> psu(std::string beside, std::string text = "cupel-phase: over 0\n") {
  Output output{std::move(text), "", 0};
  output.beside = std::move(beside);
  return parsed("psu", output);
}

TEST(Psu, MeasuresTheStepTheShareAndTheLowestInput) {
  const auto found = psu(transcript(reading(1, 300), reading(1, 1500, "OK", 226)));

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "psu.power.step"), 2400);
  EXPECT_NEAR(*value_of(findings, "psu.share.spread"), 100 * 10 / 1505.0, 0.01);
  EXPECT_EQ(value_of(findings, "psu.voltage.lowest", "psu1"), 226);
  EXPECT_EQ(value_of(findings, "psu.lost", "psu1"), 0);
  EXPECT_EQ(value_of(findings, "psu.redundant"), 1);
  EXPECT_EQ(value_of(findings, "psu.readings"), 8);
}

TEST(Psu, NamesTheSupplyThatIsNotWellUnderLoad) {
  const auto found = psu(transcript(reading(1, 300), reading(1, 1500, "Critical", 226, "Warning")));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "psu.lost", "psu1"), 1);
  EXPECT_EQ(value_of(*found, "psu.lost", "psu0"), 0);
  EXPECT_EQ(value_of(*found, "psu.redundant"), 0);
}

/// The readings of the two phases, and what is read between them.
std::string transcript_with(const std::string& between) {
  const auto whole = transcript(reading(1, 300), reading(1, 1500));
  const auto rest = whole.find(heard({"rest"}));
  return whole.substr(0, rest) + between + whole.substr(rest);
}

std::string reading_of(std::initializer_list<const char*> supplies, const std::string& source) {
  json::array sensors;
  for (const auto* name : supplies)
    sensors.push_back({{"kind", "power"},
                       {"name", std::string{name} + " output"},
                       {"source", source},
                       {"value", 400},
                       {"health", "OK"}});
  return std::string{kBegan} +
         json::serialize(
             json::object{{"reading", 1}, {"seconds", 0.5}, {"sensors", std::move(sensors)}}) +
         "\n";
}

TEST(Psu, LosesNoSupplyByAnAnswerOfABmcThatRestarts) {
  const auto nothing = reading_of({}, ""), one = reading_of({"PSU0"}, "/redfish/v1/x"),
             ipmi = reading_of({"PSU0"}, "ipmi:sdr/0x0016");
  for (const auto& between : {nothing, nothing + nothing, one, ipmi + ipmi + ipmi}) {
    const auto found = psu(transcript_with(between));

    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(value_of(*found, "psu.lost", "psu0"), 0) << between;
    EXPECT_EQ(value_of(*found, "psu.lost", "psu1"), 0) << between;
  }
}

TEST(Psu, LosesASupplyThatTwoReadingsInARowDoNotList) {
  const auto one = reading_of({"PSU0"}, "/redfish/v1/x");

  const auto found = psu(transcript_with(one + one));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "psu.lost", "psu0"), 0);
  EXPECT_EQ(value_of(*found, "psu.lost", "psu1"), 1);
}

TEST(Psu, ProvesNothingWithoutTwoReadingsInEachOfTheTwoPhases) {
  std::string slow = heard({"idle"}) + kBegan + heard({"full"}) +
                     R"({"reading":1,"seconds":61.2,"sensors":[{"kind":"power",)"
                     R"("name":"PSU0 output","value":300,"health":"OK"}]})"
                     "\n" +
                     heard({"full"});

  const auto found = psu(slow);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, AllOf(HasSubstr("0 of 1 readings"), HasSubstr("up to 61 s"),
                                        HasSubstr("patience: 60m")));
}

TEST(Psu, ProvesNothingWhereTheBmcWasSilentOrTheLoadEndedEarly) {
  const auto silent = psu(R"({"began":1})"
                          "\n"
                          R"({"reading":1,"failed":"HTTP 503"})");
  const auto idle = psu(transcript(reading(1, 300), reading(1, 1500)),
                        "cupel-gave-up: the load ended early: no CUDA device\n");

  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().what, HasSubstr("HTTP 503"));
  ASSERT_FALSE(idle);
  EXPECT_THAT(idle.error().what, HasSubstr("no CUDA device"));
}

/// As `reading`, with the temperatures of a supply and of the air that comes in.
std::string warm(const std::string& output, double inlet, const char* supply, const char* air,
                 int number = 1) {
  const auto end = output.rfind("]}");
  return output.substr(0, end) +
         fmt::format(R"(,{{"kind":"temperature","name":"PSU{} Temp","value":61,"health":"{}"}},)"
                     R"({{"kind":"temperature","name":"Inlet Temp","value":{},"health":"{}"}})",
                     number, supply, inlet, air) +
         output.substr(end);
}

TEST(Psu, NamesTheSupplyAndTheInletThatTheBmcCallsTooHot) {
  const auto cool = psu(transcript(warm(reading(1, 300), 24, "OK", "OK"),
                                   warm(reading(1, 1500), 26, "OK", "Warning")));
  const auto hot = psu(transcript(warm(reading(1, 300), 24, "OK", "OK"),
                                  warm(reading(1, 1500), 39.5, "Warning", "Critical")));

  ASSERT_TRUE(cool) << cool.error().what;
  ASSERT_TRUE(hot) << hot.error().what;
  EXPECT_EQ(value_of(*cool, "psu.hot", "psu1"), 0);
  EXPECT_EQ(value_of(*cool, "psu.hot", "inlet air"), 0);
  EXPECT_EQ(value_of(*cool, "psu.inlet.rise", "inlet air"), 2);
  EXPECT_EQ(value_of(*hot, "psu.hot", "psu1"), 1);
  EXPECT_EQ(value_of(*hot, "psu.hot", "inlet air"), 1);
  EXPECT_EQ(value_of(*hot, "psu.lost", "psu1"), 0) << "it carries its load";
  std::vector<std::string> failed;
  for (const auto& each : judge(profile(), {"psu"}, {{"psu", *hot}}))
    if (each.met == Met::failed) failed.push_back(each.part + " " + each.measure);
  EXPECT_THAT(failed, ::testing::UnorderedElementsAre("psu1 psu.hot", "inlet air psu.hot",
                                                      "inlet air psu.inlet.rise"));
}

TEST(Psu, CountsWetLeakDetectors) {
  const std::string wet =
      R"({"reading":1,"seconds":1,"sensors":[{"kind":"leak","name":"a","state":"OK"},)"
      R"({"kind":"leak","name":"b","state":"Critical"},{"kind":"power","name":"PSU0 output","value":9}]})"
      "\n";

  const auto found = psu(transcript(wet, wet));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "sensor.leak", "leak detector"), 1);
  EXPECT_TRUE(says_unknown(*found, "redundancy of the supplies"));
}

TEST(Psu, TakesALeakDetectorThatReportsNothingForNeitherDryNorWet) {
  const std::string silent =
      R"({"reading":1,"seconds":1,"sensors":[{"kind":"leak","name":"a","state":""},)"
      R"({"kind":"power","name":"PSU0 output","value":9}]})"
      "\n";

  const auto found = psu(transcript(silent, silent));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "sensor.leak", "leak detector"), std::nullopt);
}

// --- feeds

/// The stage without feeds, and what comes of the feeds behind it.
std::string with_feeds(const std::string& feeds) {
  return transcript(reading(1, 300), reading(1, 1500)) + "{\"feeds\":2}\n" + heard({"feeds"}) +
         feeds + heard({"feeds"});
}

std::string feed(int number, const char* what) {
  return fmt::format(R"({{"feed":{},{}}})"
                     "\n",
                     number, what);
}

std::string read_once(const std::string& output) { return kBegan + output; }

constexpr const char* kCut = R"("name":"a01/p1/b1, outlet A7")";

/// One that goes as it should: the second supply misses its input meanwhile.
std::string carried(int number) {
  return feed(number, kCut) + read_once(reading(1, 1500)) +
         read_once(reading(1, 1500, "Critical", 226, "Warning")) + feed(number, R"("back":true)") +
         read_once(reading(1, 1500, "Critical", 226, "Warning")) + read_once(reading(1, 1500)) +
         feed(number, R"("well":true)");
}

TEST(PsuFeeds, ThatAreCarriedAreNoLostSuppliesOfTheStage) {
  const auto found = psu(with_feeds(carried(1) + carried(2)));

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  for (const auto* part : {"feed1", "feed2"}) {
    EXPECT_EQ(value_of(findings, "psu.feed.tested", part), 1);
    EXPECT_EQ(value_of(findings, "psu.feed.carried", part), 1);
    EXPECT_EQ(value_of(findings, "psu.feed.lost", part), 1);
    EXPECT_EQ(value_of(findings, "psu.feed.back", part), 1);
  }
  EXPECT_EQ(value_of(findings, "psu.lost", "psu1"), 0);
  EXPECT_EQ(value_of(findings, "psu.redundant"), 1);
  for (const auto& each : judge(profile(), {"psu"}, {{"psu", findings}}))
    EXPECT_EQ(each.met, Met::met) << each.part << " " << each.measure;
}

TEST(Psu, NamesTheChipThatTheBmcCallsCriticalAndNoneThatIsWarm) {
  const auto with_gpus = [](std::string output, const char* health) {
    const auto end = output.rfind("]}");
    return output.insert(end, fmt::format(R"(,{{"kind":"temperature","name":"GPU_SXM_4 Temp",)"
                                          R"("value":91,"health":"{}"}})",
                                          health));
  };

  const auto warm_one = psu(transcript(reading(1, 300), with_gpus(reading(1, 1500), "Warning")));
  const auto hot = psu(transcript(reading(1, 300), with_gpus(reading(1, 1500), "Critical")));

  ASSERT_TRUE(warm_one) << warm_one.error().what;
  ASSERT_TRUE(hot) << hot.error().what;
  EXPECT_EQ(value_of(*warm_one, "psu.hot", "gpu3"), 0);
  EXPECT_EQ(value_of(*hot, "psu.hot", "gpu3"), 1);
}

TEST(PsuFeeds, SeeTheSupplyThatGetsHotWhileItCarriesTheOthersLoad) {
  const auto cool = warm(reading(1, 1500), 24, "OK", "OK");
  const auto lost = warm(reading(1, 1500, "Critical", 226, "Warning"), 24, "Critical", "OK");
  const auto hot = warm(lost, 24, "Critical", "OK", 0);
  const auto feeds = feed(1, kCut) + read_once(hot) + read_once(hot) + feed(1, R"("back":true)") +
                     read_once(cool) + feed(1, R"("well":true)") + carried(2);

  const auto found =
      psu(transcript(cool, cool) + "{\"feeds\":2}\n" + heard({"feeds"}) + feeds + heard({"feeds"}));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "psu.hot", "psu0"), 1);
  EXPECT_EQ(value_of(*found, "psu.hot", "psu1"), 0) << "it has no input then";
  EXPECT_EQ(value_of(*found, "psu.inlet.rise", "inlet air"), 0);
  EXPECT_EQ(value_of(*found, "psu.lost", "psu1"), 0);
}

TEST(PsuFeeds, NameTheOneWithoutWhichTheNodeGoesDown) {
  auto beside = with_feeds(feed(1, kCut) + feed(1, R"("fell":true)"));

  const auto found = psu(std::move(beside), "cupel-phase: feeds 7\n");

  ASSERT_TRUE(found) << found.error().what;
  std::vector<std::string> failed;
  for (const auto& each : judge(profile(), {"psu"}, {{"psu", *found}}))
    if (each.met != Met::met) failed.push_back(each.part + " " + each.measure);
  EXPECT_THAT(failed, ElementsAre("feed1 psu.feed.carried"));
}

TEST(PsuFeeds, ThatNoSupplyMissesAreAnotherMachines) {
  const auto found =
      psu(with_feeds(feed(1, kCut) + read_once(reading(1, 1500)) + feed(1, R"("back":true)") +
                     read_once(reading(1, 1500)) + feed(1, R"("well":true)") + carried(2)));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "psu.feed.lost", "feed1"), 0);
  EXPECT_EQ(value_of(*found, "psu.feed.carried", "feed1"), 1);
  EXPECT_EQ(value_of(*found, "psu.feed.lost", "feed2"), 1);
}

TEST(PsuFeeds, ThatWereNotReadWhileOffProveNothing) {
  struct Row {
    std::string feeds, why;
  };
  const std::initializer_list<Row> rows{
      {feed(1, kCut) + feed(1, R"("back":true)") + read_once(reading(1, 1500)),
       "the BMC was not read while it was off, and one reading takes up to 0 s: set "
       "PowerCycleDelaySeconds"},
      {kBegan + feed(1, kCut) + reading(1, 1500) + kBegan + feed(1, R"("back":true)") +
           reading(1, 1500),
       "the BMC was not read"},
      {feed(1, kCut) + read_once(reading(1, 1500)), "while it was off: have more patience"},
      {feed(1, kCut) + feed(1, R"("failed":"outlet A7: HTTP 503")"), "outlet A7: HTTP 503"}};
  for (const auto& [feeds, why] : rows) {
    const auto found = psu(with_feeds(feeds));

    ASSERT_TRUE(found);
    const auto& all = found->measurements;
    const auto tried = std::ranges::find(all, "psu.feed.tested", &Measurement::name);
    ASSERT_NE(tried, all.end());
    EXPECT_EQ(tried->value, 0);
    EXPECT_THAT(tried->traced_to, HasSubstr(why));
    EXPECT_EQ(std::ranges::count(all, "psu.feed.carried", &Measurement::name), 0);
  }
}

}  // namespace
}  // namespace cupel::burnin
