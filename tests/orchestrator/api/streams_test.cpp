// Event streams: they are the journal, also for a reader that was away.
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A stream that is read until a text was in it.
class Reader {
 public:
  Reader(const std::string& path, const std::string& target, const std::string& last = {}) {
    socket_.connect({path});
    Ask asked{.target = target};
    if (!last.empty()) asked.fields.push_back("Last-Event-ID: " + last);
    asio::write(socket_, asio::buffer(request_text(asked)));
  }
  /// All that came so far; fails where the stream ends before.
  std::string until(const std::string& text) {
    boost::system::error_code ended;
    while (read_.find(text) == read_.npos && !ended) {
      std::array<char, 4096> piece{};
      const auto size = socket_.read_some(asio::buffer(piece), ended);
      read_.append(piece.data(), size);
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
  const auto secret = token("alice", "viewer", {}, std::chrono::milliseconds{300});

  const auto text = raw_tls(request_text({.target = "/api/v1/runs/1/stream", .token = secret}));

  EXPECT_THAT(text, HasSubstr("id: 1:6"));
}

TEST_F(ApiStreams, RefuseAPlaceOfNoStream) {
  run_of_two();
  serve();

  EXPECT_EQ(get("/api/v1/runs/1/stream", {"Last-Event-ID: <x>"}).status, 422);
  EXPECT_EQ(get("/api/v1/runs/9/stream").status, 404);
}

}  // namespace
}  // namespace cupel::test
