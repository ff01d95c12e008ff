// What the API returns of a journal: the same to everybody who may see it, and nothing of racks
// that are not theirs.
#include "orchestrator/api/event_text.h"
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/controller/run_view.h"
#include "orchestrator/store/step_secrets.h"
#include "tests/orchestrator/api/api_fixture.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using ApiReads = ApiTest;

TEST_F(ApiReads, ListsRunsWithWhatBecameOfTheirNodes) {
  const auto run = run_of_two();
  serve();

  const auto heard = get("/api/v1/runs");

  ASSERT_EQ(heard.status, 200) << heard.body;
  const auto body = heard.json();
  const auto& row = body.at("items").at(0);
  EXPECT_EQ(row.at("run"), run);
  EXPECT_EQ(row.at("state"), "running");
  EXPECT_EQ(row.at("by"), "alice");
  EXPECT_EQ(row.at("fail"), 1);
  EXPECT_EQ(row.at("in_work"), 1);
  EXPECT_EQ(row.at("nodes"), 2);
}

// Its journal cannot be read; the others are listed as they stand.
TEST_F(ApiReads, ListsTheOtherRunsBesideADamagedOne) {
  const auto whole = run_of_two();
  store::Run run;
  run.playbook = "torn";
  run.nodes = {"a01-n02"};
  const auto torn = store().begin_run(run).value();
  append(torn, engine::EventKind::run_started, "", "",
         R"({"nodes":[{"name":"a01-n02","rack":"a01"}],"steps":[]})");
  struct Behind : store::StoreTest {
    using StoreTest::sql_in;
  };
  Behind::sql_in(state(), "UPDATE event SET data = '{' WHERE run = " + std::to_string(torn));
  serve();

  const auto heard = get("/api/v1/runs");

  ASSERT_EQ(heard.status, 200) << heard.body;
  const auto body = heard.json();
  ASSERT_EQ(body.at("items").as_array().size(), 2u);
  const auto& row = body.at("items").at(0);
  EXPECT_EQ(row.at("run"), torn);
  EXPECT_EQ(row.at("playbook"), "torn");
  EXPECT_EQ(row.at("range"), "a01-n02");
  EXPECT_THAT(std::string{row.at("error").as_string()}, HasSubstr("cupel store repair"));
  EXPECT_EQ(row.as_object().if_contains("pass"), nullptr);
  EXPECT_EQ(body.at("items").at(1).at("run"), whole);
  EXPECT_EQ(body.at("items").at(1).at("fail"), 1);
}

TEST_F(ApiReads, ShowsHowEachNodeStands) {
  run_of_two();
  serve();

  const auto body = get("/api/v1/runs/1/nodes").json();

  const auto& first = body.at("items").at(0);
  EXPECT_EQ(first.at("node"), "a01-n01");
  EXPECT_EQ(first.at("state"), "fail");
  EXPECT_EQ(first.at("unit"), 1);
  EXPECT_THAT(std::string{first.at("cause").as_string()}, HasSubstr("gpu3"));
  const auto& second = body.at("items").at(1);
  EXPECT_EQ(second.at("state"), "running");
  EXPECT_EQ(second.at("step"), "bmc-facts");
}

TEST_F(ApiReads, ReturnTheStatusThatTheServicesMachineShows) {
  const auto run = run_of_two();
  const auto here = controller::run_view_with_steps(store(), store().run(run).value(), {}, "test");
  serve();

  const auto heard = get("/api/v1/runs/1/status");

  ASSERT_EQ(heard.status, 200) << heard.body;
  EXPECT_EQ(heard.json(), here.value());
  const auto body = heard.json();
  EXPECT_EQ(body.at("state"), "interrupted");
  EXPECT_THAT(std::string{body.at("range").as_string()}, HasSubstr("n01"));
  EXPECT_EQ(body.at("in_work"), 1);
  EXPECT_EQ(body.at("inconclusive"), 0);
  EXPECT_EQ(body.at("nodes").at(1).at("verdict"), "in work");
  EXPECT_EQ(body.at("steps").at(0).at("step"), "bmc-facts");
  EXPECT_EQ(body.at("steps").at(0).at("running"), 1);
  EXPECT_FALSE(get("/api/v1/runs/1/status?steps=false").json().as_object().contains("steps"));
  EXPECT_EQ(get("/api/v1/runs/7/status").status, 404);
}

TEST_F(ApiReads, TheStatusOfADrivenRunHasWhatItsControllerSays) {
  auto run = store().run(run_of_two()).value();
  run.playbook_text =
      "playbook: small\nsteps:\n  - {step: approval, as: go, with: {message: look at a01}}\n"
      "  - {step: approval, as: later, with: {message: not yet}}\n";
  const controller::RunStatus status{.run = run.id,
                                     .ends = report::wall_now() + std::chrono::hours{2},
                                     .held = {{"a slot", 1, "a01-n01", {"a01-n01"}}},
                                     .approvals = {{"approval@go", 1}}};

  const auto view = controller::run_view(
      store(), run, controller::ControllerStatus{.pid = 4711, .runs = {status}}, "test");

  ASSERT_TRUE(view) << view.error().what;
  EXPECT_EQ(view->at("state"), "running");
  EXPECT_EQ(view->at("driven_by"), 4711);
  EXPECT_GT(view->at("eta_s").as_int64(), 7000);
  EXPECT_EQ(view->at("messages"), (json::object{{"approval@go", "look at a01"}}));
  const auto read = controller::run_status_from(*view);
  EXPECT_EQ(read.run, status.run);
  EXPECT_EQ(read.held, status.held);
  EXPECT_EQ(read.approvals, status.approvals);
}

TEST_F(ApiReads, AConsoleShowsNoBootTicket) {
  const auto folder = console::console_folder(state(), run_of_two());
  std::filesystem::create_directories(folder);
  const std::string ticket = "0123456789abcdef0123456789abcdef";
  ASSERT_TRUE(
      console::BoundedLog(folder, "a01-n01")
          .append("  URI: http://10.0.0.1/boot/" + ticket +
                  "/ram.efi\r\nKernel command line: quiet cupel.boot=http://10.0.0.1/boot/" +
                  ticket + "/\r\nFailed to post to http://10.0.0.1/home/" + ticket + "\r\n"));
  serve();

  const auto heard = get("/api/v1/runs/1/nodes/a01-n01/console");

  ASSERT_EQ(heard.status, 200) << heard.body;
  EXPECT_THAT(heard.body, HasSubstr("Kernel command line: quiet"));
  EXPECT_THAT(heard.body, Not(HasSubstr(ticket)));
}

TEST_F(ApiReads, PagesEndWhereThereIsNoMore) {
  run_of_two();
  serve();

  const auto first = get("/api/v1/runs/1/events?limit=4").json();
  const auto next = std::string{first.at("next").as_string()};
  const auto rest = get("/api/v1/runs/1/events?limit=4&cursor=" + next).json();

  EXPECT_EQ(first.at("items").as_array().size(), 4u);
  EXPECT_EQ(rest.at("items").as_array().size(), 2u);
  EXPECT_EQ(rest.at("items").at(0).at("sequence"), 5);
  EXPECT_FALSE(rest.as_object().contains("next"));
}

TEST_F(ApiReads, RefusesAnInvalidCursor) {
  run_of_two();
  serve();

  for (const auto* target : {"/api/v1/runs?cursor=x", "/api/v1/runs/1/events?cursor=1:2",
                             "/api/v1/runs/1/nodes?cursor=-1", "/api/v1/audit?cursor=99e9"})
    EXPECT_EQ(get(target).status, 422) << target;
}

TEST_F(ApiReads, SendsWhatAClientHasOnlyOnceUntilItChanges) {
  run_of_two();
  serve();
  const auto first = get("/api/v1/runs/1/nodes");
  const auto tag = first.field("ETag");
  ASSERT_FALSE(tag.empty());

  const auto same = get("/api/v1/runs/1/nodes", {"If-None-Match: " + tag});
  append(1, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
  const auto changed = get("/api/v1/runs/1/nodes", {"If-None-Match: " + tag});

  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(changed.status, 200);
  EXPECT_NE(changed.field("ETag"), tag);
}

TEST_F(ApiReads, KeepAWholePageOfEventsAndReadTheLastOneAnew) {
  const auto run = run_of_two();
  serve();
  const auto page = [&](const std::string& query) {
    return get("/api/v1/runs/1/events?" + query).json();
  };
  const auto first = page("limit=2");
  const auto next = std::string{first.at("next").as_string()};
  const auto rest = page("limit=100&cursor=" + next).at("items").as_array().size();

  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");

  EXPECT_EQ(page("limit=2"), first);
  EXPECT_EQ(page("limit=100&cursor=" + next).at("items").as_array().size(), rest + 1);
}

TEST_F(ApiReads, ShowAtOnceWhatWasWrittenBehindTheLastAnswer) {
  const auto run = run_of_two();
  serve();
  const auto now = [&](const std::string& target) { return get(target).json(); };
  ASSERT_EQ(now("/api/v1/runs").at("items").at(0).at("in_work"), 1);
  ASSERT_EQ(now("/api/v1/runs/1").at("standing").at("running").at("bmc-facts"), 1);
  const auto events = get("/api/v1/runs/1/events").json().at("items").as_array().size();

  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
  append(run, engine::EventKind::step_began, "a02-n01", "verdict", R"({"attempt":1})");

  EXPECT_EQ(now("/api/v1/runs/1").at("standing").at("running"), (json::object{{"verdict", 1}}));
  EXPECT_EQ(get("/api/v1/runs/1/events").json().at("items").as_array().size(), events + 2);
  append(run, engine::EventKind::step_ended, "a02-n01", "verdict",
         R"({"outcome":"done","verdict":"pass"})");
  EXPECT_EQ(now("/api/v1/runs").at("items").at(0).at("in_work"), 0);
  append(run, engine::EventKind::run_ended, "", "", "{}");
  EXPECT_EQ(now("/api/v1/runs").at("items").at(0).at("state"), "ended");
  EXPECT_EQ(now("/api/v1/runs/1").at("state"), "ended");
}

/// The run of two, and behind it an event as a step with large findings leaves it: its data.
class ApiLargeEvents : public ApiTest {
 protected:
  static std::string text_of(std::size_t bytes) {
    return R"({"outcome":"failed","detail":"2 of 8 GPUs are missing","count":6,"found":[")" +
           std::string(bytes, 'x') + R"("],"stderr":")" + std::string(2000, 'y') +
           R"(","ok":false})";
  }
  std::string run_with_large_event(std::size_t bytes = 100'000) {
    run_of_two();
    append(1, engine::EventKind::step_ended, "a02-n01", "bmc-facts", text_of(bytes));
    return text_of(bytes);
  }
};

TEST_F(ApiLargeEvents, AListShowsTheirShortMembersAndWhereAllOfThemIs) {
  const auto data = run_with_large_event();
  serve();

  const auto heard = get("/api/v1/runs/1/events");

  ASSERT_EQ(heard.status, 200) << heard.body;
  EXPECT_LT(heard.body.size(), 8000u);
  const auto body = heard.json();
  const auto& event = body.at("items").at(6);
  EXPECT_EQ(event.at("data"), (json::object{{"outcome", "failed"},
                                            {"detail", "2 of 8 GPUs are missing"},
                                            {"count", 6},
                                            {"ok", false}}));
  EXPECT_EQ(event.at("truncated"),
            (json::object{{"bytes", data.size()}, {"href", "/api/v1/runs/1/events/7"}}));
}

TEST_F(ApiLargeEvents, AListBoundsDataOfManyShortMembersToo) {
  run_of_two();
  json::object data;
  for (int i = 0; i < 10'000; ++i) data["member" + std::to_string(i)] = i;
  append(1, engine::EventKind::step_ended, "a02-n01", "bmc-facts", json::serialize(data));
  serve();

  const auto heard = get("/api/v1/runs/1/events?after=6");

  const auto body = heard.json();
  const auto& event = body.at("items").at(0);
  EXPECT_GT(event.at("data").as_object().size(), 100u);
  EXPECT_LT(heard.body.size(), api::kMostListedData + 1000);
}

TEST_F(ApiLargeEvents, SmallerOnesAreListedAsTheyWereWritten) {
  run_with_large_event(api::kMostListedData - text_of(0).size());
  serve();

  const auto body = get("/api/v1/runs/1/events?after=6").json();

  EXPECT_FALSE(body.at("items").at(0).as_object().contains("truncated"));
  EXPECT_TRUE(body.at("items").at(0).at("data").as_object().contains("found"));
}

TEST_F(ApiLargeEvents, AreReadWholeOneByOne) {
  const auto data = run_with_large_event();
  serve();

  const auto heard = get("/api/v1/runs/1/events/7");

  ASSERT_EQ(heard.status, 200) << heard.body;
  EXPECT_THAT(heard.body, HasSubstr(data));
  EXPECT_FALSE(heard.json().as_object().contains("truncated"));
  const auto tag = heard.field("ETag");
  EXPECT_EQ(get("/api/v1/runs/1/events/7", {"If-None-Match: " + tag}).status, 304);
  EXPECT_EQ(get("/api/v1/runs/1/events/8").status, 404);
  EXPECT_EQ(get("/api/v1/runs/2/events/1").status, 404);
  EXPECT_EQ(get("/api/v1/runs/1/events/x").status, 404);
}

TEST_F(ApiLargeEvents, AreListedWholeOnRequest) {
  const auto data = run_with_large_event();
  serve();

  const auto heard = get("/api/v1/runs/1/events?whole=true");

  EXPECT_THAT(heard.body, HasSubstr(data));
  EXPECT_THAT(heard.body, Not(HasSubstr("truncated")));
}

TEST_F(ApiLargeEvents, OfAnotherRackAreNotThere) {
  run_with_large_event();
  serve();
  const auto alice = token("alice", "viewer", {"a01"}), bob = token("bob", "viewer", {"a02"});
  const auto status = [&](const std::string& secret, const std::string& sequence) {
    return ask_tls({.target = "/api/v1/runs/1/events/" + sequence, .token = secret}).status;
  };

  EXPECT_EQ(status(alice, "7"), 404);
  EXPECT_EQ(status(bob, "7"), 200);
  const auto first = ask_tls({.target = "/api/v1/runs/1/events/1", .token = bob});
  EXPECT_EQ(first.json().at("data"), json::object{});
}

/// A page also ends where it has read 8 MiB of data.
TEST_F(ApiLargeEvents, BehindAPageThatItsBytesEndedAreOnTheNextOne) {
  run_of_two();
  constexpr std::size_t kLarge = 5u << 20;
  for (int i = 0; i < 3; ++i)
    append(1, engine::EventKind::step_ended, "a02-n01", "bmc-facts", text_of(kLarge));
  serve();

  for (const auto* query : {"whole=true", "whole=false", "whole=false&node=a02-n01"}) {
    std::int64_t last = 0;
    std::string cursor;
    for (int pages = 0; pages < 10; ++pages) {
      const auto page = get(std::string{"/api/v1/runs/1/events?"} + query + cursor).json();
      last = page.at("items").as_array().back().at("sequence").as_int64();
      const auto* next = page.as_object().if_contains("next");
      if (next == nullptr) break;
      cursor = "&cursor=" + std::string{next->as_string()};
    }
    EXPECT_EQ(last, 9) << query;
  }
}

TEST_F(ApiReads, HidesWhatIsOfOtherRacks) {
  run_of_two();
  serve();
  const auto bounded = token("bob", "viewer", {"a02"});
  const auto of_bob = [&](const std::string& target) {
    return ask_tls({.target = target, .token = bounded});
  };

  const auto nodes = of_bob("/api/v1/runs/1/nodes");
  const auto events = of_bob("/api/v1/runs/1/events");
  const auto record = of_bob("/api/v1/runs/1/nodes/a01-n01");
  const auto verdicts = of_bob("/api/v1/runs/1/verdicts");
  const auto report = of_bob("/api/v1/runs/1/report");
  const auto found = of_bob("/api/v1/search?q=SER-77");
  const auto own = of_bob("/api/v1/runs/1/nodes/a02-n01");

  ASSERT_EQ(nodes.status, 200) << nodes.body;
  for (const auto* heard : {&nodes, &events, &verdicts, &found})
    EXPECT_THAT(heard->body, Not(HasSubstr("a01-n01")));
  EXPECT_EQ(record.status, 404);
  EXPECT_EQ(report.status, 403);
  EXPECT_EQ(own.status, 200) << own.body;
}

TEST_F(ApiReads, FindsPartsByTheirSerialNumber) {
  run_of_two();
  serve();

  const auto body = get("/api/v1/search?q=ser-77").json();

  ASSERT_EQ(body.at("items").as_array().size(), 1u);
  EXPECT_EQ(body.at("items").at(0).at("node"), "a01-n01");
  EXPECT_EQ(body.at("items").at(0).at("part"), "gpu3");
}

TEST_F(ApiReads, SaysWhereASearchEndedBeforeAllWasLookedAt) {
  store::Run run;
  run.playbook = "large";
  for (int i = 0; i < 2001; ++i) run.nodes.push_back("n" + std::to_string(10'000 + i));
  run_of_two();  // the first two nodes in the order of names
  serve();
  const auto whole = get("/api/v1/search?q=nowhere").json();
  const auto some = get("/api/v1/search?q=gpu3&limit=1").json();
  ASSERT_TRUE(store().begin_run(run));

  const auto part = get("/api/v1/search?q=nowhere").json();

  EXPECT_EQ(whole, (json::object{{"items", json::array{}}}));
  EXPECT_EQ(some.at("items").as_array().size(), 1u);
  EXPECT_EQ(some.at("incomplete"), true);
  EXPECT_EQ(part, (json::object{{"items", json::array{}}, {"incomplete", true}}));
}

TEST_F(ApiReads, GivesOutEvidenceThatARunNamesAndNoOther) {
  const auto run = run_of_two();
  const auto named = store().keep_evidence("raw output").value();
  const auto other = store().keep_evidence("of nobody").value();
  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts",
         R"({"outcome":"done","evidence":")" + named + R"("})");
  serve();

  const auto heard = get("/api/v1/runs/1/evidence/" + named);

  EXPECT_EQ(heard.status, 200);
  EXPECT_EQ(heard.body, "raw output");
  EXPECT_THAT(heard.field("Content-Disposition"), HasSubstr("attachment"));
  EXPECT_EQ(get("/api/v1/runs/1/evidence/" + other).status, 404);
  EXPECT_EQ(get("/api/v1/runs/1/evidence/..%2F..%2Fcupel.db").status, 400);
  EXPECT_EQ(get("/api/v1/runs/1/evidence/%2e%2e/x").status, 400);
}

TEST_F(ApiReads, EvidenceShowsNoBootTicket) {
  const auto run = run_of_two();
  const std::string ticket = "0123456789abcdef0123456789abcdef";
  const auto named = store().keep_evidence("Command line: quiet cupel.boot=http://10.0.0.1/boot/" +
                                           ticket + "/\n");
  ASSERT_TRUE(named);
  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts",
         R"({"outcome":"done","evidence":")" + *named + R"("})");
  serve();

  const auto heard = get("/api/v1/runs/1/evidence/" + *named);

  EXPECT_EQ(heard.status, 200);
  EXPECT_EQ(heard.body, "Command line: quiet cupel.boot=http://10.0.0.1/boot/" +
                            std::string(ticket.size(), store::kCut) + "/\n");
}

TEST_F(ApiReads, ServesThePageWithItsPolicyAndKeepsWhatNeverChanges) {
  auto options = usual();
  static constexpr api::StaticFile kPage[] = {
      {"/", "text/html; charset=utf-8", "<html></html>", "", false},
      {"/app-1.js", "text/javascript", "plain", "packed", true}};
  options.page = kPage;
  options.page_policy = "default-src 'none'";
  serve(options);

  const auto page = ask_tls({.target = "/"});
  const auto script = ask_tls({.target = "/app-1.js", .fields = {"Accept-Encoding: gzip"}});

  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.field("Content-Security-Policy"), "default-src 'none'");
  EXPECT_EQ(page.field("X-Frame-Options"), "DENY");
  EXPECT_EQ(script.body, "packed");
  EXPECT_EQ(script.field("Content-Encoding"), "gzip");
  EXPECT_THAT(script.field("Cache-Control"), HasSubstr("immutable"));
}

/// Late is a step that works; one that failed has its outcome, also where it was late before.
TEST_F(ApiReads, CallsNoStepOverdueThatIsOver) {
  const auto run = run_of_two();
  append(run, engine::EventKind::step_overdue, "a02-n01", "bmc-facts", R"({"expected_s":1})");
  serve();
  const auto late = get("/api/v1/runs/1/nodes").json().at("items").at(1);

  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts",
         R"({"outcome":"needs operator","detail":"no answer"})");
  const auto over = get("/api/v1/runs/1/nodes").json().at("items").at(1);

  EXPECT_EQ(late.at("state"), "running");
  EXPECT_TRUE(late.at("overdue").as_bool());
  EXPECT_EQ(over.at("state"), "needs-operator");
  EXPECT_FALSE(over.as_object().contains("overdue"));
}

}  // namespace
}  // namespace cupel::test
