// Queries, tags, rules and events of a virtual BMC.
#include "rehearsal/read_faults.h"
#include "tests/rehearsal/bmc_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

TEST(BmcReading, SaysThatNothingChanged) {
  BmcBench bmc{"dgx"};
  const auto first = bmc.ask("GET", bmc.view().system());
  const auto tag = first.headers.at("ETag");

  const auto again = bmc.ask("GET", bmc.view().system(), {}, {{"if-none-match", tag}});

  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  bmc.boot();
  EXPECT_EQ(bmc.ask("GET", bmc.view().system(), {}, {{"if-none-match", tag}}).status, 200);
}

TEST(BmcReading, AClockThatGoesOnIsNoChange) {
  BmcBench bmc{"dgx"};
  const auto tag = bmc.ask("GET", bmc.view().manager()).headers.at("ETag");
  bmc.pass(VirtualTime{5});

  const auto again = bmc.ask("GET", bmc.view().manager(), {}, {{"if-none-match", tag}});

  EXPECT_EQ(again.status, 304);
}

TEST(BmcReading, ExpandsMembersAsFarAsItIsAsked) {
  BmcBench bmc{"dgx"};
  const auto memory = bmc.view().system() + "/Memory";

  const auto plain = bmc.ask("GET", memory).body;
  const auto whole = bmc.ask("GET", memory + "?$expand=.($levels=1)").body;

  EXPECT_EQ(plain.find("CapacityMiB"), std::string::npos);
  EXPECT_THAT(whole, HasSubstr("\"CapacityMiB\":65536"));
  EXPECT_EQ(bmc.ask("GET", memory + "?$expand=.($levels=9)").status, 400);
  EXPECT_EQ(bmc.ask("GET", memory + "?$expand=x").status, 400);
  EXPECT_EQ(bmc.ask("GET", memory + "?%24expand=.").body, whole);
}

TEST(BmcReading, FollowsLinksOnlyWhereItIsAskedTo) {
  BmcBench bmc{"dgx"};
  const auto links = [&](const std::string& how) {
    const auto body = parse_json(bmc.ask("GET", bmc.view().system() + "?$expand=" + how).body);
    return json::serialize(*find(*body, "Links"));
  };

  EXPECT_EQ(links(".").find("ChassisType"), std::string::npos);
  EXPECT_THAT(links("~"), HasSubstr("ChassisType"));
  EXPECT_THAT(links("*"), HasSubstr("ChassisType"));
}

TEST(BmcReading, AmisExpandedMembersLackTheirStatus) {
  BmcBench bmc{"ami"};

  const auto whole = bmc.ask("GET", bmc.view().system() + "/Memory?$expand=.").body;

  EXPECT_THAT(whole, HasSubstr("CapacityMiB"));
  EXPECT_EQ(whole.find("Status"), std::string::npos);
}

TEST(BmcReading, ALongCollectionComesInPages) {
  BmcBench bmc{"dgx"};
  for (int i = 0; i < 120; ++i) bmc.service.note({.message = "line"});
  std::vector<std::size_t> pages;

  for (std::string page = bmc.view().log() + "/Entries"; !page.empty();
       page = bmc.seen(page, "Members@odata.nextLink")) {
    const auto body = parse_json(bmc.ask("GET", page).body);
    pages.push_back(find(*body, "Members")->as_array().size());
    EXPECT_EQ(number_at(*body, "Members@odata.count"), 120);
  }

  EXPECT_THAT(pages, ::testing::ElementsAre(50, 50, 20));
}

TEST(BmcReading, SkipsAndStopsWhereItIsTold) {
  BmcBench bmc{"openbmc"};
  for (int i = 0; i < 10; ++i) bmc.service.note({.message = "line"});

  const auto some = bmc.ask("GET", bmc.view().log() + "/Entries?$skip=3&$top=2").body;

  EXPECT_THAT(some, HasSubstr("\"Id\":\"4\""));
  EXPECT_THAT(some, HasSubstr("\"Id\":\"5\""));
  EXPECT_EQ(some.find("\"Id\":\"6\""), std::string::npos);
  EXPECT_EQ(some.find("nextLink"), std::string::npos);
}

TEST(BmcReading, TheLogIsBounded) {
  BmcBench bmc{"dgx"};

  for (std::size_t i = 0; i < EventLog::kMostLines + 10; ++i) bmc.service.note({.message = "x"});

  EXPECT_EQ(bmc.service.state().log.lines().size(), EventLog::kMostLines);
}

TEST(BmcReading, APlantedFaultIsLoggedWhenItIsSeen) {
  BmcBench bmc{BmcSpec{.vendor = "openbmc"}};
  const auto entries = bmc.view().log() + "/Entries";
  EXPECT_EQ(bmc.ask("GET", entries).body.find("Leak"), std::string::npos);

  bmc.machine.set_faults({{.kind = FaultKind::leak}});

  EXPECT_THAT(bmc.ask("GET", entries).body, HasSubstr("Leak detector 0 detected moisture."));
  const auto detector = bmc.view().chassis() +
                        "/ThermalSubsystem/LeakDetection/LeakDetectors/"
                        "Chassis_0_LeakDetector_0_ColdPlate";
  EXPECT_EQ(bmc.seen(detector, "DetectorState"), "Critical");
}

TEST(BmcReading, RedundancyIsLostWithAPowerSupply) {
  BmcBench bmc{BmcSpec{.vendor = "dell"}, {{.kind = FaultKind::psu_missing, .part = "psu2"}}};

  const auto power = bmc.ask("GET", bmc.view().chassis() + "/PowerSubsystem").body;

  EXPECT_THAT(power, HasSubstr(R"("Health":"Warning")"));
}

TEST(BmcRules, AnswerInsteadAsOftenAsTheySay) {
  BmcBench bmc{"dgx"};
  bmc.service.rules().add({.method = "GET",
                           .path = "/redfish/v1/Systems/*",
                           .does = Does::status,
                           .times = 2,
                           .skip = 1,
                           .status = 500,
                           .body = "{}"});
  std::vector<int> answers;

  for (int i = 0; i < 4; ++i) answers.push_back(bmc.ask("GET", bmc.view().system()).status);

  EXPECT_THAT(answers, ::testing::ElementsAre(200, 500, 500, 200));
}

TEST(BmcRules, ChangeAPartOfTheProperAnswer) {
  BmcBench bmc{"dgx"};
  bmc.service.rules().add({.path = bmc.view().system(),
                           .does = Does::merge,
                           .merge = {{"PowerState", "Paused"}, {"SerialNumber", nullptr}},
                           .headers = {{"X-Odd", "yes"}},
                           .late = std::chrono::milliseconds{7}});

  const auto response = bmc.ask("GET", bmc.view().system());

  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("\"PowerState\":\"Paused\""));
  EXPECT_EQ(response.body.find("SerialNumber"), std::string::npos);
  EXPECT_EQ(response.headers.at("X-Odd"), "yes");
  EXPECT_EQ(response.late.count(), 7);
}

TEST(BmcRules, CutTheConnectionWithoutEffect) {
  BmcBench bmc{"dgx"};
  bmc.service.rules().add({.method = "POST", .path = "*Reset", .does = Does::drop});

  const auto response = bmc.ask("POST", bmc.view().system() + "/Actions/ComputerSystem.Reset",
                                R"({"ResetType": "On"})");

  EXPECT_TRUE(response.cut);
  EXPECT_EQ(bmc.machine.power(), Power::off);
}

TEST(BmcRules, AStarStandsForAnything) {
  EXPECT_TRUE(is_like("/a/b/c", "/a/*/c"));
  EXPECT_TRUE(is_like("/a/b/c", "*"));
  EXPECT_TRUE(is_like("/a/b/c", "/a/b/c*"));
  EXPECT_TRUE(is_like("aXbXc", "a*b*c"));
  EXPECT_FALSE(is_like("/a/b/c", "/a/*/d"));
  EXPECT_FALSE(is_like("/a/b/c", ""));
  EXPECT_FALSE(is_like("", "a"));
}

TEST(BmcEvents, AStreamTellsWhatHappens) {
  BmcBench bmc{"dgx"};
  const auto sse = bmc.seen("/redfish/v1/EventService", "ServerSentEventUri");
  const auto response = bmc.ask("GET", sse);
  ASSERT_TRUE(response.stream);

  bmc.boot();

  ASSERT_FALSE(response.stream->waiting.empty());
  EXPECT_THAT(response.stream->waiting.front(), ::testing::StartsWith("id: "));
  EXPECT_THAT(response.stream->waiting.front(), HasSubstr("\ndata: {"));
  EXPECT_THAT(response.stream->waiting.front(), HasSubstr("The host was powered on."));
}

TEST(BmcEvents, ThereAreSoManyStreamsAndNoMore) {
  BmcBench bmc{"dgx"};
  std::vector<HttpResponse> open;
  for (std::size_t i = 0; i < EventLog::kMostStreams; ++i)
    open.push_back(bmc.ask("GET", "/redfish/v1/EventService/SSE"));

  EXPECT_EQ(bmc.ask("GET", "/redfish/v1/EventService/SSE").status, 503);

  open.clear();
  EXPECT_TRUE(bmc.ask("GET", "/redfish/v1/EventService/SSE").stream);
}

TEST(BmcEvents, AReaderWhoDoesNotReadLosesTheOldest) {
  BmcBench bmc{"dgx"};
  const auto response = bmc.ask("GET", "/redfish/v1/EventService/SSE");

  for (std::size_t i = 0; i < EventStream::kMostWaiting + 5; ++i)
    bmc.service.note({.message = "x"});

  EXPECT_EQ(response.stream->waiting.size(), EventStream::kMostWaiting);
  EXPECT_THAT(response.stream->waiting.front(), ::testing::StartsWith("id: 6\n"));
}

}  // namespace
}  // namespace cupel::rehearsal
