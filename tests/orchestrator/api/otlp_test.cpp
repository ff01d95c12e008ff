// Runs as OpenTelemetry's traces, logs and metrics: what is made of a journal, what is made of a
// receiver's answers, and what the service sends.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/utc.h"
#include "orchestrator/api/notice_book.h"
#include "orchestrator/api/notices.h"
#include "orchestrator/api/otlp_run.h"
#include "orchestrator/api/otlp_sender.h"
#include "orchestrator/api/site_files.h"
#include "tests/orchestrator/api/api_fixture.h"
#include "tests/support/proto_json.h"
#include "tests/support/replay_server.h"

namespace cupel::test {
namespace {

using api::OtlpSignal;
using engine::EventKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;

constexpr const char* kSecret = "s3cr3t-0123456789";

std::string message_of(const std::string& path) {
  return path == "/v1/traces" ? "ExportTraceServiceRequest"
         : path == "/v1/logs" ? "ExportLogsServiceRequest"
                              : "ExportMetricsServiceRequest";
}

/// The items of all requests of one signal.
std::vector<json::value> items_of(const std::vector<api::OtlpRequest>& requests,
                                  OtlpSignal signal) {
  std::vector<json::value> items;
  const std::string lists[] = {"resourceSpans scopeSpans spans",
                               "resourceLogs scopeLogs logRecords",
                               "resourceMetrics scopeMetrics metrics"};
  const auto names = words(lists[static_cast<std::size_t>(signal)]);
  for (const auto& request : requests) {
    if (request.signal != signal) continue;
    const auto body = parse_json(request.body).value();
    const auto& resource = body.at(names[0]).at(0);
    for (const auto& item : resource.at(names[1]).at(0).at(names[2]).as_array())
      items.push_back(item);
  }
  return items;
}

/// Of an attribute; empty where there is none.
std::string attribute(const json::value& item, std::string_view key) {
  for (const auto& each : item.at("attributes").as_array())
    if (text_at(each, "key") == key)
      return text_at(each, "value/stringValue")
          .value_or(text_at(each, "value/intValue").value_or(""));
  return {};
}

json::value named(const std::vector<json::value>& items, std::string_view name) {
  for (const auto& each : items)
    if (text_at(each, "name") == name) return each;
  ADD_FAILURE() << "there is no " << name;
  return json::object{};
}

class OtlpRunTest : public ApiTest {
 protected:
  Result<std::vector<api::OtlpRequest>> made(engine::RunId run, api::OtlpLimits limits = {},
                                             std::size_t dropped = 0) {
    const auto journal = store::JournalReader::open(state()).value();
    return api::otlp_of_run(store().run(run).value(), journal, "1.2.3", dropped, limits);
  }
  engine::RunId ended_run() {
    const auto run = run_of_two();
    append(run, EventKind::run_ended, "", "", "{}");
    return run;
  }
};

TEST_F(OtlpRunTest, WritesWhatTheProtocolsMessagesSay) {
  const auto run = run_of_two();
  append(run, EventKind::step_overdue, "a02-n01", "bmc-facts", "{}");
  append(run, EventKind::step_ended, "a02-n01", "bmc-facts",
         R"({"outcome":"done","detail":"\u001b[2J\"read\"\n","ticket":"s3cr3t-0123456789",
         "measurements":[{"name":"gemm.bf16.rate","part":"gpu3","value":612.5,"unit":"TFLOP/s"},
         {"name":"no.value"}]})");
  append(run, EventKind::run_ended, "", "", "{}");

  const auto requests = made(run);

  ASSERT_TRUE(requests) << requests.error().what;
  ASSERT_THAT(*requests, SizeIs(3));
  for (const auto& each : *requests) {
    EXPECT_THAT(proto_faults(parse_json(each.body).value(), message_of(each.path())), IsEmpty());
    EXPECT_THAT(each.body, AllOf(Not(HasSubstr(kSecret)), Not(HasSubstr("u001b")),
                                 HasSubstr(R"("stringValue":"here")")));
  }
  const auto metric =
      named(items_of(*requests, OtlpSignal::metrics), "cupel.measure.gemm.bf16.rate");
  EXPECT_EQ(text_at(metric, "unit"), "TFLOP/s");
  const auto& points = metric.at("gauge").at("dataPoints").as_array();
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].at("asDouble").to_number<double>(), 612.5);
  EXPECT_EQ(attribute(points[0], "cupel.part"), "gpu3");
  EXPECT_EQ(attribute(points[0], "cupel.rack"), "a02");
  const auto spans = items_of(*requests, OtlpSignal::traces);
  EXPECT_EQ(std::ranges::count_if(
                spans, [](const auto& each) { return each.as_object().contains("events"); }),
            1)
      << "it was overdue";
}

TEST_F(OtlpRunTest, IsATraceOfNodesAndTheirStepsWithTheirCauses) {
  const auto run = ended_run();

  const auto requests = made(run).value();

  const auto spans = items_of(requests, OtlpSignal::traces);
  ASSERT_THAT(spans, SizeIs(6)) << "the run, two nodes, three steps";
  const auto root = named(spans, "run small"), failed = named(spans, "a01-n01"),
             open = named(spans, "a02-n01"), verdict = named(spans, "verdict");
  EXPECT_EQ(root.as_object().if_contains("parentSpanId"), nullptr);
  EXPECT_EQ(text_at(root, "status/message"), "2 of 2 nodes did not pass");
  EXPECT_EQ(text_at(failed, "parentSpanId"), text_at(root, "spanId"));
  EXPECT_EQ(text_at(verdict, "parentSpanId"), text_at(failed, "spanId"));
  EXPECT_EQ(failed.at("status").at("code").as_int64(), 2);
  EXPECT_THAT(text_at(failed, "status/message").value_or(""), HasSubstr("gpu3"));
  EXPECT_THAT(text_at(verdict, "status/message").value_or(""), HasSubstr("verdict: fail: "));
  EXPECT_EQ(text_at(open, "status/message"), "inconclusive");
  for (const auto& each : spans) EXPECT_EQ(text_at(each, "traceId"), text_at(root, "traceId"));
}

TEST_F(OtlpRunTest, HasARecordForEachEventWithItsSeverity) {
  const auto run = ended_run();

  const auto records = items_of(made(run).value(), OtlpSignal::logs);

  ASSERT_THAT(records, SizeIs(7));
  EXPECT_EQ(text_at(records[0], "body/stringValue"), "run started");
  EXPECT_EQ(text_at(records[2], "body/stringValue"), "a01-n01 bmc-facts: done: read");
  EXPECT_EQ(text_at(records[2], "severityText"), "INFO");
  EXPECT_EQ(attribute(records[2], "cupel.node"), "a01-n01");
  EXPECT_EQ(attribute(records[2], "cupel.event.sequence"), "3");
  EXPECT_EQ(text_at(records[4], "severityText"), "ERROR");
  EXPECT_EQ(records[4].at("severityNumber").as_int64(), 17);
}

TEST_F(OtlpRunTest, MadeAgainIsTheSame) {
  const auto run = ended_run();

  const auto once = made(run).value(), again = made(run).value();

  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].body, again[i].body);
}

TEST_F(OtlpRunTest, SaysWhatItsLimitsLeftOut) {
  const auto run = ended_run();

  const auto requests = made(run, {.spans = 2, .records = 3, .points = 0}, 9).value();

  const auto spans = items_of(requests, OtlpSignal::traces);
  ASSERT_THAT(spans, SizeIs(2));
  const auto root = named(spans, "run small");
  EXPECT_EQ(attribute(root, "cupel.left_out.spans"), "4");
  EXPECT_EQ(attribute(root, "cupel.left_out.records"), "4");
  EXPECT_EQ(attribute(root, "cupel.dropped_runs"), "9");
  EXPECT_THAT(items_of(requests, OtlpSignal::logs), SizeIs(3));
}

TEST_F(OtlpRunTest, OfARunThatGoesOnThereIsNone) {
  const auto run = run_of_two();

  const auto requests = made(run);

  ASSERT_FALSE(requests);
  EXPECT_EQ(requests.error().code, Code::kConflict);
  EXPECT_EQ(requests.error().what, "run 1 is not over: cupel status 1");
}

TEST(OtlpRequests, PartItemsByTheirSize) {
  api::OtlpRequests requests{api::otlp_resource("1", "here"), "1"};
  for (int i = 0; i < 3; ++i)
    requests.add(OtlpSignal::logs, {{"body", {{"stringValue", std::string(600'000, 'x')}}}});

  const auto made = requests.finish();

  ASSERT_THAT(made, SizeIs(3));
  for (const auto& each : made) {
    EXPECT_EQ(each.items, 1u);
    EXPECT_THAT(proto_faults(parse_json(each.body).value(), message_of(each.path())), IsEmpty());
  }
}

TEST(ProtoJson, FindsWhatIsWrong) {
  const auto faults = [](const std::string& text) {
    return proto_faults(parse_json(text).value(), "Span");
  };

  EXPECT_THAT(faults(R"({"traceId":"0af7651916cd43dd8448eb211c80319c","kind":1})"), IsEmpty());
  for (const auto* wrong :
       {R"({"trace_id":"0af7651916cd43dd8448eb211c80319c"})",
        R"({"traceId":"CvdlGRbNQ92ESOshHIAxnA"})", R"({"spanId":"0000000000000000"})",
        R"({"startTimeUnixNano":1})", R"({"kind":"SPAN_KIND_INTERNAL"})", R"({"name":null})",
        R"({"attributes":{}})",
        R"({"attributes":[{"key":"x","value":{"stringValue":"a","intValue":"1"}}]})"})
    EXPECT_THAT(faults(wrong), SizeIs(1)) << wrong;
}

/// A receiver over TLS.
class OtlpSenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ca_ = (std::filesystem::temp_directory_path() /
           ("cupel-otlp-" + std::to_string(::getpid()) + ".pem"))
              .string();
    std::ofstream{ca_} << server_.certificate_pem();
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove(ca_, ignored);
  }
  Result<void> sent(bool trusted = true) {
    auto client = api::otlp_client(server_.url(), trusted ? ca_ : "", std::nullopt, "--url");
    const std::vector<api::OtlpRequest> requests{{OtlpSignal::traces, "{}", 5},
                                                 {OtlpSignal::logs, "{}", 7}};
    asio::io_context io;
    return run_to_end(io, api::send_otlp(client, requests, progress_, Deadline::in(60s)));
  }

  std::function<ReplayAnswer(const std::string& path)> answer_ = [](const std::string&) {
    return ReplayAnswer{.body = "{}"};
  };
  ReplayServer server_{[this](const ReplayRequest& asked) { return answer_(asked.path); }, true};
  api::OtlpProgress progress_{};
  std::string ca_{};
};

TEST_F(OtlpSenderTest, GoesOnWhereAReceiverPutItOff) {
  answer_ = [](const std::string& path) {
    return path == "/v1/logs"
               ? ReplayAnswer{.status = 429, .body = "{}", .lines = "Retry-After: 7\r\n"}
               : ReplayAnswer{.body = "{}"};
  };
  const auto put_off = sent();
  answer_ = [](const std::string&) { return ReplayAnswer{.body = "<html>"}; };
  const auto taken = sent();

  ASSERT_FALSE(put_off);
  EXPECT_EQ(put_off.error().code, Code::kBusy);
  EXPECT_EQ(put_off.error().retry_after, 7s);
  EXPECT_TRUE(taken) << "its status says that it has it";
  EXPECT_THAT(server_.lines(), ElementsAre("POST /v1/traces", "POST /v1/logs", "POST /v1/logs"));
}

TEST_F(OtlpSenderTest, TellsWhatMayBeSentAgainFromWhatMayNot) {
  const std::pair<int, Code> statuses[] = {
      {502, Code::kBusy},   {503, Code::kBusy},   {504, Code::kBusy},  {400, Code::kFailed},
      {401, Code::kFailed}, {500, Code::kFailed}, {307, Code::kFailed}};
  for (const auto& [status, code] : statuses) {
    answer_ = [status](const std::string&) {
      return ReplayAnswer{.status = status, .body = R"({"code":3,"message":"\u001b[2Jno span"})"};
    };
    const auto refused = sent();
    ASSERT_FALSE(refused) << status;
    EXPECT_EQ(refused.error().code, code) << status;
    EXPECT_THAT(refused.error().what,
                AllOf(HasSubstr(fmt::format("POST /v1/traces: HTTP {}: ", status)),
                      HasSubstr("no span"), Not(HasSubstr("\x1b"))));
  }
  EXPECT_EQ(progress_.next, 0u);
}

TEST_F(OtlpSenderTest, CountsWhatAReceiverRejectedAndSendsItNotAgain) {
  answer_ = [](const std::string& path) {
    return ReplayAnswer{
        .body = path == "/v1/traces"
                    ? R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})"
                    : R"({"partialSuccess":{"rejectedLogRecords":1e300}})"};
  };

  EXPECT_TRUE(sent());

  EXPECT_EQ(progress_.rejected, 2u + 7u) << "no more than there were";
  EXPECT_EQ(progress_.why, "too old");
  EXPECT_THAT(server_.lines(), SizeIs(2));
}

TEST_F(OtlpSenderTest, CutConnectionsHugeAnswersAndUnknownCertificatesAreErrors) {
  answer_ = [](const std::string&) { return ReplayAnswer{.gone = true}; };
  const auto cut = sent();
  answer_ = [](const std::string&) { return ReplayAnswer{.body = std::string(1u << 20, ' ')}; };
  const auto huge = sent();
  const auto asked = server_.asked().size();
  const auto untrusted = sent(false);

  ASSERT_FALSE(cut);
  EXPECT_TRUE(is_transient(cut.error().code)) << cut.error().what;
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, Code::kMalformed);
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().code, Code::kUntrusted);
  EXPECT_EQ(server_.asked().size(), asked) << "nothing goes to it";
}

/// The service with a receiver among its notices.
class OtlpServiceTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    ASSERT_TRUE(log::to_file(file("log")));
    write("secret", std::string{kSecret} + "\n");
    write("ca.pem", server_.certificate_pem());
    write("site.yaml",
          "site: here\ndefaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"file:" +
              file("secret") +
              "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") +
              "}\nnodes:\n  - {name: n01, bmc: {address: 127.64.99.1}, ssh: {address: "
              "127.64.99.2}}\n");
    settings();
  }
  /// `more`: of the entry.
  void settings(const std::string& more = {}) {
    write("service.yaml",
          fmt::format("inventory: site.yaml\nnotices:\n  - {{name: ops, otlp: \"{}/otlp/\", ca: "
                      "ca.pem, token: \"file:secret\"{}}}\n",
                      server_.url(), more));
    const auto files = api::read_site_files({state(), file("service.yaml")});
    ASSERT_TRUE(files) << files.error().what;
    shared_.state = state();
    shared_.version = "1.2.3";
    shared_.site.put(files->site);
    shared_.inventory.put(files->inventory);
  }
  void TearDown() override {
    log::off();
    notices_.reset();
    ApiTest::TearDown();
  }
  engine::WallTime turn(engine::WallTime now) {
    if (!notices_) notices_ = api::Notices::open(shared_).value();
    return notices_->turn(now);
  }
  void restart() { notices_.reset(); }
  engine::RunId ended_run() {
    const auto run = run_of_two();
    append(run, EventKind::run_ended, "", "", "{}");
    return run;
  }
  std::string log_text() const {
    std::ifstream stream{file("log")};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  std::function<ReplayAnswer(const std::string& path)> answer_ = [](const std::string&) {
    return ReplayAnswer{.body = "{}"};
  };
  ReplayServer server_{[this](const ReplayRequest& asked) { return answer_(asked.path); }, true};
  api::Shared shared_{};

 private:
  std::unique_ptr<api::Notices> notices_{};
};

const engine::WallTime kNoon = utc_of("2026-12-10T12:00:00").value();

TEST_F(OtlpServiceTest, SendsARunOnceItIsOver) {
  turn(kNoon);
  const auto run = run_of_two();
  append(run, EventKind::run_interrupted, "", "", "{}");
  turn(kNoon + 1s);
  const auto before = server_.lines();
  append(run, EventKind::run_ended, "", "", "{}");
  turn(kNoon + 2s);
  restart();
  turn(kNoon + 1h);

  EXPECT_THAT(before, IsEmpty()) << "it can go on";
  EXPECT_THAT(server_.lines(),
              ElementsAre("POST /otlp/v1/traces", "POST /otlp/v1/logs", "POST /otlp/v1/metrics"));
  for (const auto& each : server_.asked()) {
    EXPECT_THAT(each.head, AllOf(HasSubstr(std::string{"Authorization: Bearer "} + kSecret),
                                 HasSubstr("Content-Type: application/json\r\n")));
    EXPECT_THAT(proto_faults(parse_json(each.body).value(), message_of(each.path.substr(5))),
                IsEmpty());
  }
  EXPECT_EQ(shared_.counters.notices_sent, 1u);
  EXPECT_THAT(log_text(), Not(HasSubstr(kSecret)));
}

TEST_F(OtlpServiceTest, SendsTheSameAgainAfterAsLongAsTheReceiverAskedForAndARestart) {
  turn(kNoon);
  ended_run();
  answer_ = [](const std::string&) {
    return ReplayAnswer{.status = 503, .lines = "Retry-After: 40\r\n"};
  };

  EXPECT_EQ(turn(kNoon), kNoon + 40s);
  restart();
  turn(kNoon + 39s);
  EXPECT_THAT(server_.asked(), SizeIs(1));
  answer_ = [](const std::string&) { return ReplayAnswer{.body = "{}"}; };
  turn(kNoon + 40s);

  ASSERT_THAT(server_.asked(), SizeIs(4));
  EXPECT_EQ(server_.asked()[0].body, server_.asked()[1].body) << "the same ids";
  EXPECT_THAT(log_text(), HasSubstr("HTTP 503"));
}

TEST_F(OtlpServiceTest, GivesUpWhatAReceiverRefusesAndGoesOnWithTheNextRun) {
  turn(kNoon);
  ended_run();
  answer_ = [](const std::string&) {
    return ReplayAnswer{.status = 400, .body = R"({"message":"no JSON here"})"};
  };
  turn(kNoon);
  answer_ = [](const std::string& path) {
    return ReplayAnswer{.body = path.ends_with("/v1/traces")
                                    ? R"({"partialSuccess":{"rejectedSpans":"1"}})"
                                    : "{}"};
  };
  store::Run other;
  other.playbook = "other";
  other.nodes = {"b01-n01"};
  const auto next = store().begin_run(other).value();
  append(next, EventKind::run_started, "", "", R"({"playbook":"other","nodes":[],"steps":[]})");
  append(next, EventKind::run_ended, "", "", "{}");
  turn(kNoon + 1s);

  EXPECT_THAT(server_.asked(), SizeIs(4));
  EXPECT_EQ(shared_.counters.notices_failed, 1u);
  EXPECT_EQ(shared_.counters.notices_sent, 1u);
  const auto tally = api::read_notice_book(state()).value().value().tallies.at("ops");
  EXPECT_EQ(tally.lost, 1u);
  EXPECT_THAT(tally.why, HasSubstr("HTTP 400: no JSON here"));
  EXPECT_THAT(log_text(), AllOf(HasSubstr("notice-given-up: notices ops: 1 notice given up"),
                                HasSubstr("of run 2 the receiver rejected 1")));
}

TEST_F(OtlpServiceTest, SendsWhatItCountsAsOftenAsTheSettingsSay) {
  settings(", metrics: 30s");
  run_of_two();
  shared_.counters.count(200, std::chrono::microseconds{700});
  shared_.started = kNoon - 1h;

  EXPECT_EQ(turn(kNoon), kNoon + 30s);
  turn(kNoon + 29s);
  answer_ = [](const std::string&) {
    return ReplayAnswer{.status = 429, .lines = "Retry-After: 50\r\n"};
  };
  EXPECT_EQ(turn(kNoon + 30s), kNoon + 80s);
  turn(kNoon + 79s);

  ASSERT_THAT(server_.lines(), ElementsAre("POST /otlp/v1/metrics", "POST /otlp/v1/metrics"));
  const api::OtlpRequest sent{OtlpSignal::metrics, server_.asked()[0].body, 0};
  EXPECT_THAT(proto_faults(parse_json(sent.body).value(), message_of(sent.path())), IsEmpty());
  const auto metrics = items_of({sent}, OtlpSignal::metrics);
  const auto counted = named(metrics, "cupel_api_requests_total").at("sum");
  EXPECT_EQ(counted.at("aggregationTemporality").as_int64(), 2);
  const auto& ok = counted.at("dataPoints").at(1);
  EXPECT_EQ(attribute(ok, "class"), "2xx");
  EXPECT_EQ(ok.at("asDouble").to_number<double>(), 1);
  EXPECT_EQ(text_at(ok, "startTimeUnixNano"), api::otlp_time(kNoon - 1h));
  const auto times = named(metrics, "cupel_api_request_seconds").at("histogram").at("dataPoints");
  EXPECT_EQ(times.at(0).at("bucketCounts").as_array().size(),
            times.at(0).at("explicitBounds").as_array().size() + 1);
  EXPECT_EQ(text_at(times.at(0), "count"), "1");
  EXPECT_FALSE(named(metrics, "cupel_nodes").at("gauge").at("dataPoints").as_array().empty());
  EXPECT_THAT(log_text(), HasSubstr("metrics-not-sent: notices ops: "));
}

}  // namespace
}  // namespace cupel::test
