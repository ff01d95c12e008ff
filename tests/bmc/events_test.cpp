#include "bmc/redfish/events.h"

#include "base/text.h"
#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

using redfish::StreamMessage;
using redfish::StreamParser;

std::vector<StreamMessage> parsed(StreamParser& parser, std::string_view bytes) {
  auto messages = parser.feed(bytes);
  return messages ? *std::move(messages) : std::vector<StreamMessage>{};
}

TEST(StreamParser, ReadsMessagesHoweverTheyAreCut) {
  const std::string text =
      "\xEF\xBB\xBF: hello\nretry: 3000\n\nid: 1\ndata: {\"a\":\ndata:1}\n\nid: 2\r\nevent: x\r\n"
      "data: two\r\n\r\ndata: three\r\rdata";
  const std::vector<StreamMessage> expected{{"1", "{\"a\":\n1}"}, {"2", "two"}, {"2", "three"}};

  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    StreamParser parser;
    auto found = parsed(parser, std::string_view{text}.substr(0, cut));
    for (auto& message : parsed(parser, std::string_view{text}.substr(cut)))
      found.push_back(std::move(message));
    EXPECT_EQ(found, expected) << cut;
  }
}

TEST(StreamParser, BoundsAMessage) {
  StreamParser parser;
  const std::string line = "data: " + std::string(100'000, 'x') + "\n";
  std::optional<Code> code;
  for (int i = 0; i < 20 && !code; ++i)
    if (const auto fed = parser.feed(line); !fed) code = fed.error().code;

  EXPECT_EQ(code, Code::kMalformed);
}

constexpr std::string_view kPowerOff = R"({"@odata.type":"#Event.v1_7_0.Event","Id":"7","Events":[
  {"EventId":"7","EventTimestamp":"2026-03-01T12:00:00+02:00","MessageSeverity":"OK",
   "Message":"The resource has powered off.","MessageId":"ResourceEvent.1.0.3.ResourcePoweredOff",
   "OriginOfCondition":{"@odata.id":"/redfish/v1/Systems/1"}}]})";

TEST(EventsIn, TellPowerFromFaults) {
  const auto power = redfish::events_in(kPowerOff);
  const auto fault = redfish::events_in(
      R"({"Events":[{"Severity":"Critical","Message":"GPU 3 fell off the bus"},{"Severity":"OK"}]})");

  ASSERT_EQ(power.size(), 1u);
  EXPECT_EQ(power[0].kind, Event::Kind::power);
  EXPECT_EQ(power[0].entry,
            (LogEntry{.id = "7",
                      .time = Seconds{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 10h},
                      .severity = "OK",
                      .message = "The resource has powered off.",
                      .message_id = "ResourceEvent.1.0.3.ResourcePoweredOff",
                      .source = "/redfish/v1/Systems/1"}));
  ASSERT_EQ(fault.size(), 2u);
  EXPECT_EQ(fault[0].kind, Event::Kind::fault);
  EXPECT_EQ(fault[1].kind, Event::Kind::other);
}

TEST(EventsIn, AreNoneInMetricReportsAndNonsense) {
  for (const char* data :
       {R"({"@odata.type":"#MetricReport.v1_4_2.MetricReport","MetricValues":[]})", "", "{", "[]",
        R"({"Events":7})", R"({"Events":[null,3]})"})
    EXPECT_TRUE(redfish::events_in(data).empty()) << data;
}

class EventStream : public OverHttps {
 protected:
  /// Looks until it knows how things are: no look of this machine takes 20 requests.
  void look_at_first(Events& events) {
    const auto ended = cancelled_at_request(server.asked().requests + 40, events.next(soon()));
    EXPECT_EQ(ended.error().code, Code::kCancelled);
  }
  void turn_off() {
    system.as_object()["PowerState"] = "Off";
    server.set(kSystem, system);
  }

  json::value system = test_system();
  void offer_stream() {
    auto root = test::small_machine("/redfish/v1");
    root.as_object()["EventService"] = {{"@odata.id", "/redfish/v1/EventService"}};
    server.set("/redfish/v1", root);
    server.set("/redfish/v1/EventService",
               {{"ServerSentEventUri", test::HttpsServer::kEventStream}});
  }
  std::unique_ptr<Events> subscribed(Bmc& bmc) {
    auto events = run(bmc.log.subscribe(soon()));
    EXPECT_TRUE(events) << events.error().what;
    return events ? *std::move(events) : nullptr;
  }
  static std::string message(std::string_view data) {
    std::string text = "id: 1\n";
    for (const auto line : lines(data)) text += "data: " + std::string{line} + "\n";
    return text + "\n";
  }
};

TEST_F(EventStream, TellsWhatHappensWhenItHappens) {
  offer_stream();
  const auto bmc = open();
  const auto events = subscribed(*bmc);
  ASSERT_TRUE(events);

  server.publish(": keep-alive\n\n" + message(kPowerOff));
  const auto reported = run(events->next(soon()));

  EXPECT_EQ(events->way(), "SSE");
  ASSERT_TRUE(reported) << reported.error().what;
  ASSERT_EQ(reported->size(), 1u);
  EXPECT_EQ((*reported)[0].kind, Event::Kind::power);
  run(events->close());
  run(bmc->log_out());
}

TEST_F(EventStream, TakesNoneOfThePlacesForRequests) {
  offer_stream();
  const auto bmc = open();
  const auto one = subscribed(*bmc);

  server.change([](auto& options) {
    options.gathers = 2;
    options.thinking = 20ms;  // for a third one to come, if it does
  });
  const auto ask = [](Bmc* asked) { return asked->power.state(Deadline::in(60s)); };
  auto states = run(for_each_of<Sourced<PowerState>>(std::vector<Bmc*>(4, bmc.get()), 4, ask));

  for (const auto& state : states) EXPECT_TRUE(state);
  EXPECT_EQ(transport.budget("a01-n01")->in_flight, 0);
  EXPECT_EQ(server.asked().most_in_flight, 2);
}

TEST_F(EventStream, TimesOutWhileNothingHappensAndLosesNothing) {
  offer_stream();
  const auto bmc = open();
  const auto events = subscribed(*bmc);

  const auto nothing = run(events->next(Deadline::in(30ms)));
  server.publish(message(kPowerOff));
  const auto later = run(events->next(soon()));

  EXPECT_EQ(nothing.error().code, Code::kTimeout);
  EXPECT_TRUE(later);
}

TEST_F(EventStream, SaysThatItEnded) {
  offer_stream();
  const auto bmc = open();
  const auto events = subscribed(*bmc);

  server.end_streams();
  const auto ended = run(events->next(soon()));

  EXPECT_EQ(ended.error().code, Code::kUnreachable);
}

TEST_F(EventStream, IsCancelledLikeAnythingElse) {
  offer_stream();
  const auto bmc = open();
  const auto events = subscribed(*bmc);

  const auto stopped = run(with_deadline(Deadline::in(30ms), events->next(soon())));

  EXPECT_EQ(stopped.error().code, Code::kTimeout);
  EXPECT_TRUE(run(bmc->power.state(soon())));
}

TEST_F(EventStream, IsReplacedByLookingWhereTheServiceNamesNone) {
  const auto bmc = open();
  EXPECT_EQ(subscribed(*bmc)->way(), "polling");
}

TEST_F(EventStream, IsReplacedByLookingWhereItIsAdvertisedAndNotGiven) {
  offer_stream();
  server.set("/redfish/v1/EventService", {{"ServerSentEventUri", "/redfish/v1/Nothing"}});
  const auto bmc = open();
  EXPECT_EQ(subscribed(*bmc)->way(), "polling");
}

TEST_F(EventStream, IsNeverOffTheBmc) {
  offer_stream();
  server.set("/redfish/v1/EventService",
             {{"ServerSentEventUri", "https://elsewhere.example/stream"}});
  const auto bmc = open();
  EXPECT_EQ(subscribed(*bmc)->way(), "polling");
}

class PolledStream : public EventStream {
 protected:
  static constexpr const char* kLogs = "/redfish/v1/Systems/1/LogServices";

  void add_log() {
    const std::string log = std::string{kLogs} + "/SEL", entries = log + "/Entries";
    system.as_object()["LogServices"] = {{"@odata.id", kLogs}};
    server.set(kSystem, system);
    server.set(kLogs, {{"Members", json::array{{{"@odata.id", log}}}}});
    server.set(log, {{"Id", "SEL"}, {"Entries", {{"@odata.id", entries}}}});
    server.set(entries, {{"Members", json::array{}}});
  }
  std::unique_ptr<Events> polled(Bmc& bmc) {
    auto events = run(redfish::subscribe(asked, bmc, 1ms, soon()));
    EXPECT_TRUE(events) << events.error().what;
    return events ? *std::move(events) : nullptr;
  }
  void TearDown() override { run(asked.log_out()); }

  redfish::Client asked = client();
};

TEST_F(PolledStream, TellsAChangeOfPower) {
  const auto bmc = open();
  const auto events = polled(*bmc);
  ASSERT_TRUE(events);
  look_at_first(*events);
  turn_off();

  const auto reported = run(events->next(soon()));

  ASSERT_TRUE(reported) << reported.error().what;
  ASSERT_EQ(reported->size(), 1u);
  EXPECT_EQ((*reported)[0].kind, Event::Kind::power);
  EXPECT_EQ((*reported)[0].entry.message, "power: on, then off");
}

TEST_F(PolledStream, TellsAChangeOfPowerThatItSawBeforeItWasCancelledInTheLog) {
  add_log();
  const auto bmc = open();
  const auto events = polled(*bmc);
  ASSERT_TRUE(events);
  look_at_first(*events);
  turn_off();
  // After the power state of the system: the way to its log begins at the list of systems.
  server.misbehave({.method = "GET",
                    .path = "/redfish/v1/Systems",
                    .kind = test::Habit::Kind::never_answer,
                    .skip = 1});
  const auto way_to_log = server.asked().requests + 3;
  const auto cancelled = cancelled_at_request(way_to_log, events->next(soon()));

  const auto reported = run(events->next(soon()));

  EXPECT_EQ(cancelled.error().code, Code::kCancelled);
  ASSERT_TRUE(reported) << reported.error().what;
  ASSERT_EQ(reported->size(), 1u);
  EXPECT_EQ((*reported)[0].entry.message, "power: on, then off");
}

}  // namespace
}  // namespace cupel::bmc
