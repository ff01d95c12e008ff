// Clients that are broken, slow or hostile: each is answered with a problem or cut off, and the
// service goes on.
#include <poll.h>
#include <sqlite3.h>

#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;

class ApiHostile : public ApiTest {
 protected:
  void expect_well() { EXPECT_EQ(get("/healthz").status, 200); }
  Heard plan(const std::string& body) { return post("/api/v1/plans", body, "k1"); }
};

TEST_F(ApiHostile, AnswersBrokenRequestsWithAProblem) {
  serve();

  for (const auto* text : {"GET\r\n\r\n", "\x16\x03\x01\x02", "GET /api/v1/runs HTTP/9.9\r\n\r\n",
                           "GET api HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           "GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           "GET /%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           "GET /api/../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    asio::io_context io;
    asio::local::stream_protocol::socket socket{io};
    socket.connect({file("s")});
    asio::write(socket, asio::buffer(std::string{text}));
    socket.shutdown(asio::socket_base::shutdown_send);
    const auto heard = heard_of(exchanged(socket, ""));
    // What is no whole head may still become one: it is cut off without an answer.
    const bool is_whole = std::string_view{text}.ends_with("\r\n\r\n");
    if (is_whole || !heard.head.empty()) EXPECT_EQ(heard.status, 400) << text << heard.head;
  }
  expect_well();
}

TEST_F(ApiHostile, ListsEveryFaultOfABodyAtOnce) {
  serve();

  const auto heard = plan(R"({"playbook":7,"set":{"a":1},"nodez":"all"})");

  EXPECT_EQ(heard.status, 422);
  EXPECT_EQ(heard.field("Content-Type"), "application/problem+json");
  EXPECT_THAT(heard.body, HasSubstr("body.playbook"));
  EXPECT_THAT(heard.body, HasSubstr("body.set"));
  EXPECT_THAT(heard.body, HasSubstr("did you mean 'nodes'?"));
  EXPECT_EQ(heard.json().at("errors").as_array().size(), 4u) << heard.body;
}

TEST_F(ApiHostile, AcceptsJsonAloneAndNoOtherForm) {
  serve();

  EXPECT_EQ(plan("{\"playbook\":").status, 400);
  EXPECT_EQ(plan("[]").status, 422);
  EXPECT_EQ(plan(std::string(1000, '[')).status, 400);
  EXPECT_EQ(plan("{\"playbook\":\"\xff\"}").status, 400);
  const auto form =
      ask({.method = "POST",
           .target = "/api/v1/plans",
           .fields = {"Idempotency-Key: k", "Content-Type: text/plain", "Content-Length: 0"}});
  EXPECT_EQ(form.status, 415);
  expect_well();
}

TEST_F(ApiHostile, RefusesALargeBodyBeforeItIsRead) {
  serve();

  const auto heard = heard_of(
      raw("POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          "Content-Length: 104857600\r\n\r\n{"));

  EXPECT_EQ(heard.status, 413);
  expect_well();
}

TEST_F(ApiHostile, RefusesALargeBodyThatDoesNotSayHowLargeItIs) {
  serve();
  constexpr int kPieces = 100;
  const std::string piece(1u << 20, ' ');

  asio::io_context io;
  asio::local::stream_protocol::socket socket{io};
  socket.connect({file("s")});
  asio::write(
      socket,
      asio::buffer(std::string{
          "POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          "Transfer-Encoding: chunked\r\n\r\n"}));
  boost::system::error_code cut_off;
  int sent = 0;
  for (; sent < kPieces && !cut_off; ++sent)
    asio::write(socket, asio::buffer("100000\r\n" + piece + "\r\n"), cut_off);

  EXPECT_TRUE(cut_off) << "it read all of them";
  EXPECT_LT(sent, kPieces / 10);
  expect_well();
}

/// A client that sends its whole request before it reads the answer.
class ApiLinger : public ApiTest {
 protected:
  static std::string large_request(std::size_t bytes) {
    return "POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, ' ');
  }
  /// What it read, and how that and its sending ended.
  struct Exchange {
    Heard heard{};
    boost::system::error_code sent{}, ended{};
  };
  template <class Stream>
  static Exchange exchange(Stream& stream, const std::string& request) {
    Exchange exchange;
    asio::write(stream, asio::buffer(request), exchange.sent);
    asio::streambuf read;
    asio::read(stream, read, exchange.ended);
    exchange.heard = heard_of({asio::buffers_begin(read.data()), asio::buffers_end(read.data())});
    return exchange;
  }
  Exchange over_unix(const std::string& request) {
    asio::local::stream_protocol::socket socket{io_};
    socket.connect({file("s")});
    return exchange(socket, request);
  }
  Exchange over_tls(const std::string& request) {
    asio::ssl::context context{asio::ssl::context::tls_client};
    asio::ssl::stream<asio::ip::tcp::socket> stream{io_, context};
    stream.lowest_layer().connect(endpoint());
    stream.handshake(asio::ssl::stream_base::client);
    return exchange(stream, request);
  }

  asio::io_context io_{};
};

TEST_F(ApiLinger, AClientThatSendsItsWholeLargeBodyReadsTheAnswer) {
  serve();

  for (const auto& got : {over_unix(large_request(3u << 20)), over_tls(large_request(3u << 20))}) {
    EXPECT_FALSE(got.sent) << got.sent.message();
    EXPECT_EQ(got.heard.status, 413);
    EXPECT_EQ(got.heard.json().at("code"), "too-large");
    EXPECT_EQ(got.ended, asio::error::eof) << got.ended.message();
  }
}

TEST_F(ApiLinger, ATlsConnectionEndsWithAClosureAlert) {
  serve();

  const auto got =
      over_tls("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

  EXPECT_EQ(got.heard.status, 200);
  EXPECT_EQ(got.ended, asio::error::eof) << got.ended.message();
}

TEST_F(ApiLinger, EndsBehindItsBytes) {
  auto options = usual();
  options.limits.linger = 64u << 10;
  serve(options);

  EXPECT_TRUE(over_unix(large_request(16u << 20)).sent) << "it read all of them";
  EXPECT_TRUE(over_tls(large_request(64u << 20)).sent) << "it read all of them";
}

TEST_F(ApiLinger, EndsWhenItsTimeIsOver) {
  auto options = usual();
  options.limits.linger_patience = std::chrono::milliseconds{100};
  serve(options);
  asio::local::stream_protocol::socket socket{io_};
  socket.connect({file("s")});

  const auto got = exchange(socket, "GET / HTTP/9.9\r\n\r\n");

  EXPECT_EQ(got.heard.status, 400);
  EXPECT_EQ(got.ended, asio::error::eof);
  // Both directions are closed, although the client has closed neither.
  pollfd closed{socket.native_handle(), 0, 0};
  EXPECT_EQ(::poll(&closed, 1, 60'000), 1);
  EXPECT_TRUE(closed.revents & POLLHUP);
}

TEST_F(ApiHostile, RefusesALargeHead) {
  serve();

  const auto heard = heard_of(raw(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n"));

  EXPECT_EQ(heard.status, 431);
  expect_well();
}

TEST_F(ApiHostile, CutsOffWhoSendsTooSlowly) {
  auto options = usual();
  options.limits.head_patience = std::chrono::milliseconds{100};
  options.limits.body_patience = std::chrono::milliseconds{100};
  serve(options);

  const auto head = raw("GET /healthz HTTP/1.1\r\nHost: loc");
  const auto body =
      raw("POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          "Content-Length: 10\r\n\r\n{");

  EXPECT_EQ(head, "");
  EXPECT_EQ(body, "");
  // On a machine that has no time for us, a request of ours may be too slow as well.
  const auto enough = Deadline::in(std::chrono::minutes{1});
  while (get("/healthz").status != 200) ASSERT_FALSE(enough.passed());
}

TEST_F(ApiHostile, HoldsOutAThousandHalfOpenConnections) {
  serve();
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> open;
  for (int i = 0; i < 1000; ++i) {
    boost::system::error_code failure;
    open.emplace_back(io).connect(endpoint(), failure);
    if (failure) break;
  }

  EXPECT_EQ(get("/healthz").status, 200) << "the Unix socket is not theirs";
  EXPECT_LE(service().connections(), 65u);
}

TEST_F(ApiHostile, UnknownClientsOfManyAddressesShutOutNoKnownUser) {
  auto options = usual();
  options.limits.connections = 12;
  options.limits.strangers = 8;
  options.limits.strangers_per_address = 2;
  serve(options);
  asio::io_context io;
  asio::ssl::context context{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket> known{io, context};
  known.lowest_layer().connect(endpoint());
  known.handshake(asio::ssl::stream_base::client);
  const auto request = "GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                       token("alice", "viewer") + "\r\n\r\n";
  const auto ask_again = [&] {
    asio::write(known, asio::buffer(request));
    asio::streambuf read;
    boost::system::error_code failure;
    asio::read_until(known, read, "}", failure);
    return failure;
  };
  ASSERT_FALSE(ask_again());
  // What needs no login makes nobody known.
  using Stream = asio::ssl::stream<asio::ip::tcp::socket>;
  std::vector<std::unique_ptr<Stream>> lookers;
  for (int i = 0; i < 3; ++i) {
    auto& looker = *lookers.emplace_back(std::make_unique<Stream>(io, context));
    auto& socket = looker.lowest_layer();
    socket.open(asio::ip::tcp::v4());
    socket.bind({asio::ip::make_address("127.0.0.20"), 0});
    socket.connect(endpoint());
    boost::system::error_code failure;
    looker.handshake(asio::ssl::stream_base::client, failure);
    EXPECT_EQ(static_cast<bool>(failure), i == 2) << failure.message();
    if (failure) continue;
    asio::write(looker,
                asio::buffer(std::string{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"}));
    asio::streambuf read;
    asio::read_until(looker, read, "}", failure);
    EXPECT_FALSE(failure) << failure.message();
  }

  std::vector<asio::ip::tcp::socket> open;
  for (int address = 2; address < 12; ++address)
    for (int i = 0; i < 4; ++i) {
      auto& socket = open.emplace_back(io, asio::ip::tcp::v4());
      socket.bind({asio::ip::make_address("127.0.0." + std::to_string(address)), 0});
      boost::system::error_code failure;
      socket.connect(endpoint(), failure);
    }

  EXPECT_EQ(get("/healthz").status, 200) << "the Unix socket has a budget of its own";
  EXPECT_LE(service().connections(), 10u);
  EXPECT_FALSE(ask_again());
}

/// Holds what the service writes to, for as long as it lives; reads go on.
class HeldStore {
 public:
  explicit HeldStore(const std::filesystem::path& state) {
    EXPECT_EQ(sqlite3_open((state / "cupel.db").c_str(), &database_), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  HeldStore(const HeldStore&) = delete;
  HeldStore& operator=(const HeldStore&) = delete;
  ~HeldStore() { sqlite3_close(database_); }

 private:
  sqlite3* database_ = nullptr;
};

TEST_F(ApiHostile, OnePersonFillsAShareOfTheLineOfWhatTakesLong) {
  auto options = usual();
  options.heavy_of_one = 2;
  serve(options);
  asio::io_context io;
  std::vector<asio::local::stream_protocol::socket> asked;
  const auto ask_of = [&](const std::string& secret) {
    asked.emplace_back(io).connect({file("s")});
    asio::write(asked.back(),
                asio::buffer(request_text({.target = "/api/v1/playbooks", .token = secret})));
  };
  const auto alice = token("alice", "viewer"), alices_other = token("alice", "viewer");
  const auto bob = token("bob", "viewer");

  std::optional<HeldStore> held{state()};  // the first request waits to note its token's use
  for (const auto& secret : {alice, alice, alices_other}) ask_of(secret);
  std::array<pollfd, 3> answered{};
  for (std::size_t i = 0; i < answered.size(); ++i)
    answered[i] = {asked[i].native_handle(), POLLIN, 0};
  ASSERT_EQ(::poll(answered.data(), answered.size(), 9'000), 1);
  ask_of(bob);
  held.reset();
  std::vector<Heard> heard;
  for (auto& socket : asked) heard.push_back(heard_of(exchanged(socket, "")));

  for (std::size_t i = 0; i < answered.size(); ++i) {
    EXPECT_EQ(heard[i].status, answered[i].revents != 0 ? 503 : 200) << heard[i].body;
    EXPECT_EQ(heard[i].field("Retry-After"), answered[i].revents != 0 ? "2" : "");
  }
  EXPECT_EQ(heard.back().status, 200) << "bob has a share of his own: " << heard.back().body;
  EXPECT_EQ(get("/api/v1/playbooks").status, 200) << "the places are free again";
}

TEST_F(ApiHostile, WithoutALoginNoPlaceIsTakenInTheLineOfWhatTakesLong) {
  auto options = usual();
  options.heavy_of_one = 0;
  serve(options);

  EXPECT_EQ(ask_tls({.target = "/api/v1/playbooks"}).status, 401);
  EXPECT_EQ(ask_tls({.target = "/api/v1/playbooks", .token = "cupel_0_0"}).status, 401);
  EXPECT_EQ(get("/api/v1/playbooks").status, 503);
}

TEST_F(ApiHostile, SpeaksNoOlderTls) {
  serve();
  asio::io_context io;
  asio::ssl::context context{asio::ssl::context::tls_client};
  SSL_CTX_set_max_proto_version(context.native_handle(), TLS1_2_VERSION);
  asio::ssl::stream<asio::ip::tcp::socket> stream{io, context};
  stream.lowest_layer().connect(endpoint());

  boost::system::error_code refused;
  stream.handshake(asio::ssl::stream_base::client, refused);

  EXPECT_TRUE(refused);
}

TEST_F(ApiHostile, SpeaksNoHttpInClearOverTcp) {
  serve();
  asio::io_context io;
  asio::ip::tcp::socket socket{io};
  socket.connect(endpoint());

  EXPECT_THAT(exchanged(socket, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              ::testing::Not(HasSubstr("HTTP/1.1")));
}

TEST_F(ApiHostile, RefusesOtherSitesPages) {
  serve();
  const auto secret = token("alice", "admin");
  const auto with = [&](std::vector<std::string> fields, std::string host = "localhost") {
    return ask_tls({.target = "/api/v1/runs",
                    .token = secret,
                    .fields = std::move(fields),
                    .host = std::move(host)})
        .status;
  };

  EXPECT_EQ(with({}), 200);
  EXPECT_EQ(with({"Origin: https://localhost"}), 200);
  EXPECT_EQ(with({"Origin: https://evil.example"}), 403);
  EXPECT_EQ(with({"Origin: null"}), 403);
  EXPECT_EQ(with({"Sec-Fetch-Site: cross-site"}), 403);
  EXPECT_EQ(with({}, "evil.example"), 403) << "DNS rebinding";
}

}  // namespace
}  // namespace cupel::test
