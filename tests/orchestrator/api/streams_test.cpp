// Event streams: they are the journal, also for a reader that was away.
#include <pwd.h>

#include <thread>

#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A stream that is read until a text was in it.
class Reader {
 public:
  Reader(const std::string& path, const std::string& target, const std::string& last = {},
         const std::string& token = {}) {
    socket_.connect({path});
    Ask asked{.target = target, .token = token};
    if (!last.empty()) asked.fields.push_back("Last-Event-ID: " + last);
    asio::write(socket_, asio::buffer(request_text(asked)));
  }
  /// Waits for what comes next; false: the stream has ended.
  bool read() {
    boost::system::error_code ended;
    std::array<char, 4096> piece{};
    const auto size = socket_.read_some(asio::buffer(piece), ended);
    read_.append(piece.data(), size);
    return !ended;
  }
  /// All that came so far; fails where the stream ends before.
  std::string until(const std::string& text) {
    while (read_.find(text) == read_.npos && read()) {
    }
    EXPECT_THAT(read_, HasSubstr(text));
    return read_;
  }

 private:
  asio::io_context io_{};
  asio::local::stream_protocol::socket socket_{io_};
  std::string read_{};
};

using ApiStreams = ApiTest;

TEST_F(ApiStreams, SendTheJournalAndThenWhatIsWritten) {
  const auto run = run_of_two();
  serve();
  Reader reader{file("s"), "/api/v1/runs/1/stream"};
  const auto before = reader.until("id: 1:6");
  EXPECT_THAT(before, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(before, HasSubstr("id: 1:1\nevent: run-started\ndata: {\"run\":1"));

  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
  service().front().announce(controller::Weight::information, "as the controller does");

  EXPECT_THAT(reader.until("id: 1:7"), HasSubstr("event: step-ended"));
}

TEST_F(ApiStreams, GoOnBehindTheLastEventAfterARestart) {
  const auto run = run_of_two();
  serve();
  {
    Reader{file("s"), "/api/v1/runs/1/stream"}.until("id: 1:6");
  }
  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
  serve();

  const auto text = Reader{file("s"), "/api/v1/runs/1/stream", "1:6"}.until("id: 1:7");

  EXPECT_THAT(text, Not(HasSubstr("id: 1:6")));
}

TEST_F(ApiStreams, OfAllRunsLoseNoRunThatBegan) {
  run_of_two();
  serve();
  const auto place = [&] {
    Reader reader{file("s"), "/api/v1/stream"};
    reader.until("retry: 2000");
    append(1, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
    service().front().announce(controller::Weight::information, "as the controller does");
    const auto text = reader.until("id: 1;1:7");
    EXPECT_THAT(text, Not(HasSubstr("\"sequence\":6")));
    return std::string{"1;1:7"};
  }();
  append(1, engine::EventKind::run_cancelled, "", "", "{}");
  run_of_two();

  const auto text = Reader{file("s"), "/api/v1/stream", place}.until("id: 2;2:6");

  EXPECT_THAT(text, HasSubstr("id: 2;1:8,2:0\nevent: run-cancelled"));
  EXPECT_THAT(text, HasSubstr("\"run\":2,\"sequence\":1,"));
}

TEST_F(ApiStreams, EndWithTheTokenThatOpenedThem) {
  run_of_two();
  serve();

  const auto text = raw_tls_until_token_ends("/api/v1/runs/1/stream", "id: 1:6");

  EXPECT_THAT(text, HasSubstr("id: 1:6"));
}

TEST_F(ApiStreams, EndWithTheirTokenHoweverBusyTheyAre) {
  const auto run = run_of_two();
  auto options = usual();
  options.heartbeat = std::chrono::milliseconds{50};
  serve(options);
  const auto secret = token("alice", "viewer");
  Reader reader{file("s"), "/api/v1/runs/1/stream", {}, secret};
  reader.until("id: 1:6");
  auto tokens = store::AccessTokens::open(state()).value();
  ASSERT_TRUE(tokens.revoke(store::token_id(secret), report::wall_now()));

  const auto enough = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  bool open = true;
  while (open && std::chrono::steady_clock::now() < enough) {
    append(run, engine::EventKind::step_retried, "a02-n01", "bmc-facts", R"({"why":"busy"})");
    service().front().announce(controller::Weight::information, "as the controller does");
    open = reader.read();
  }

  EXPECT_FALSE(open);
}

TEST_F(ApiStreams, EndWhereTheSettingsGiveTheirReaderFewerRacks) {
  run_of_two();
  const auto user =
      "users:\n  - {role: viewer, user: " + std::string{::getpwuid(::geteuid())->pw_name};
  write("service.yaml", user + "}\n");
  auto options = usual();
  options.settings = file("service.yaml");
  options.heartbeat = std::chrono::milliseconds{50};
  serve(options);
  Reader reader{file("s"), "/api/v1/runs/1/stream"};
  reader.until(": alive");

  write("service.yaml", user + ", racks: [a01]}\n");
  ASSERT_TRUE(service().reload());
  bool open = true;
  for (int beats = 0; open && beats < 200; ++beats) open = reader.read();

  EXPECT_FALSE(open);
}

TEST_F(ApiStreams, PassOverPagesOfHiddenEventsAtOnce) {
  const auto run = run_of_two();
  std::vector<engine::Event> hidden(1200);
  for (auto& event : hidden) {
    event.kind = engine::EventKind::step_retried;
    event.node = "a01-n01";
    event.step = "bmc-facts";
  }
  ASSERT_TRUE(store().append(run, hidden));
  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
  serve();

  Reader reader{file("s"), "/api/v1/runs/1/stream", {}, token("bob", "viewer", {"a02"})};
  const auto text = reader.until("id: 1:1207");

  EXPECT_THAT(text, Not(HasSubstr(": alive"))) << "it waited";
  EXPECT_THAT(text, Not(HasSubstr("a01-n01")));
}

TEST_F(ApiStreams, LiveWhileOthersSeeEvents) {
  const auto run = run_of_two();
  auto options = usual();
  options.heartbeat = std::chrono::milliseconds{50};
  serve(options);
  Reader bounded{file("s"), "/api/v1/runs/1/stream", "1:6", token("bob", "viewer", {"a02"})};
  Reader other{file("s"), "/api/v1/runs/1/stream", "1:6"};
  bounded.until("retry: 2000");

  {
    const std::jthread busy{[&](const std::stop_token& enough) {
      while (!enough.stop_requested()) {
        append(run, engine::EventKind::step_retried, "a01-n01", "bmc-facts", R"({"why":"busy"})");
        service().front().announce(controller::Weight::information, "as the controller does");
        other.read();
      }
    }};
    bounded.until(": alive");
  }

  append(run, engine::EventKind::step_ended, "a02-n01", "bmc-facts", R"({"outcome":"done"})");
  service().front().announce(controller::Weight::information, "as the controller does");

  EXPECT_THAT(bounded.until("event: step-ended"), Not(HasSubstr("a01-n01")));
}

TEST_F(ApiStreams, BeyondTheirNumberAreRefusedAndTheRestOfTheApiIsNot) {
  run_of_two();
  auto options = usual();
  options.streams = 1;
  options.heartbeat = std::chrono::milliseconds{20};
  serve(options);
  {
    Reader first{file("s"), "/api/v1/runs/1/stream"};
    first.until("id: 1:6");

    const auto second = get("/api/v1/runs/1/stream");

    EXPECT_EQ(second.status, 503);
    EXPECT_NE(second.field("Retry-After"), "");
    EXPECT_EQ(get("/api/v1/runs").status, 200);
  }
  // The service notices at its next heartbeat that the first one is gone.
  std::string head = "HTTP/1.1 503";
  for (int i = 0; i < 10'000 && head.starts_with("HTTP/1.1 503"); ++i)
    head = Reader{file("s"), "/api/v1/runs/1/stream"}.until("\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
}

TEST_F(ApiStreams, OfOnePersonAreAShareOfAll) {
  run_of_two();
  auto options = usual();
  options.streams_of_one = 1;
  serve(options);
  Reader first{file("s"), "/api/v1/runs/1/stream"};
  first.until("id: 1:6");
  const std::string target = "/api/v1/runs/1/stream";

  const auto second = get(target);
  const auto other = Reader{file("s"), target, {}, token("bob", "viewer")}.until("\r\n");

  EXPECT_EQ(second.status, 503);
  EXPECT_TRUE(other.starts_with("HTTP/1.1 200")) << other;
}

TEST_F(ApiStreams, ShowTheNextRunsOfAStoreThatWasPutBack) {
  const auto before = run_of_two();
  append(before, engine::EventKind::run_ended, "", "", "{}");
  serve();

  Reader reader{file("s"), "/api/v1/stream", "14;14:345"};
  reader.until("retry: 2000");
  run_of_two();
  service().front().announce(controller::Weight::information, "as the controller does");

  EXPECT_THAT(reader.until("\"sequence\":6"), HasSubstr("\"run\":2,\"sequence\":1,"));
}

TEST_F(ApiStreams, RefuseAPlaceOfNoStream) {
  run_of_two();
  serve();

  EXPECT_EQ(get("/api/v1/runs/1/stream", {"Last-Event-ID: <x>"}).status, 422);
  EXPECT_EQ(get("/api/v1/runs/1/stream", {"Last-Event-ID: 2:5"}).status, 422);
  EXPECT_EQ(get("/api/v1/stream?after=1:5").status, 422);
  EXPECT_EQ(get("/api/v1/runs/9/stream").status, 404);
}

}  // namespace
}  // namespace cupel::test
