// One request to slurmrestd or Kubernetes: whom it trusts, what it shows of a token, and what it
// makes of servers that answer wrongly.
#include "orchestrator/handoff/api_client.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/base64.h"
#include "orchestrator/handoff/token_claims.h"
#include "tests/support/captures.h"
#include "tests/support/damage.h"
#include "tests/support/replay_server.h"

namespace cupel::handoff {
namespace {
using namespace std::chrono_literals;
using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVariable = "CUPEL_TEST_API_TOKEN";

std::string token_of(const std::string& claims) {
  auto middle = base64(claims);
  for (char& c : middle) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (middle.ends_with('=')) middle.pop_back();
  return "eyJhbGciOiJIUzI1NiJ9." + middle + ".c2lnbmF0dXJl";
}

class ApiClientTest : public ::testing::Test {
 protected:
  void SetUp() override { set_token(token_of(R"({"exp":4102444800,"sun":"cupel"})")); }
  void TearDown() override { ::unsetenv(kVariable); }

  void set_token(const std::string& text) {
    token = text;
    ::setenv(kVariable, text.c_str(), 1);
  }
  static ApiServer server(const std::string& url) {
    return {.name = "slurmrestd",
            .section = "slurm: rest",
            .url = url,
            .token = inventory::SecretRef{inventory::SecretRef::Kind::env, kVariable},
            .present = [](const std::string& one) {
              return std::vector<std::string>{"X-Token: " + one};
            }};
  }
  Result<ApiAnswer> ask(ApiServer to, ApiRequest request = {},
                        std::chrono::seconds patience = 60s) {
    if (request.path.empty()) request.path = "/ping";
    ApiClient client{std::move(to)};
    return run_to_end(io, client.ask(std::move(request), Deadline::in(patience)));
  }

  asio::io_context io{1};
  std::string token{};
};

TEST_F(ApiClientTest, SendsTheTokenInAHeaderAndReadsJson) {
  ReplayServer replay{[](const ReplayRequest&) { return ReplayAnswer{.body = R"({"a":1})"}; }};
  ApiRequest request{.method = "POST", .path = "/x?y=1", .body = "{}"};

  const auto answer = ask(server(replay.url()), request);

  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(number_at(answer->body, "a"), 1);
  EXPECT_THAT(replay.lines(), ElementsAre("POST /x?y=1"));
  EXPECT_THAT(replay.asked().front().head, HasSubstr("X-Token: " + token + "\r\n"));
  EXPECT_THAT(replay.asked().front().head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_EQ(replay.asked().front().body, "{}");
}

TEST_F(ApiClientTest, TrustsNoCertificateButThatOfItsAuthority) {
  ReplayServer replay{[](const ReplayRequest&) { return ReplayAnswer{.body = "{}"}; }, true};
  auto trusting = server(replay.url());
  const test::TemporaryFolder folder;
  trusting.ca = (folder.path() / "ca.pem").string();
  std::ofstream{trusting.ca} << replay.certificate_pem();

  const auto refused = ask(server(replay.url()));
  const auto trusted = ask(trusting);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUntrusted) << refused.error().what;
  EXPECT_THAT(refused.error().what, AllOf(HasSubstr(replay.url()), HasSubstr("slurm: rest")));
  EXPECT_TRUE(trusted) << trusted.error().what;
  EXPECT_EQ(replay.asked().size(), 1u) << "the token went to a server that nothing vouches for";
  std::filesystem::remove(trusting.ca);
}

TEST_F(ApiClientTest, NamesATokenThatHasExpired) {
  set_token(token_of(R"({"exp":1700000000,"sun":"cupel"})"));
  ReplayServer replay{
      [](const ReplayRequest&) { return ReplayAnswer{.status = 401, .body = "no"}; }};

  const auto answer = ask(server(replay.url()));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kRefused);
  EXPECT_THAT(answer.error().what,
              HasSubstr("the token of slurm: rest expired at 2023-11-14T22:13:20Z"));
}

TEST_F(ApiClientTest, NeverShowsTheTokenThatAServerSendsBack) {
  for (const int status : {200, 401, 403, 500, 503}) {
    ReplayServer replay{
        [&](const ReplayRequest&) { return ReplayAnswer{.status = status, .body = "x" + token}; }};

    const auto answer = ask(server(replay.url()));

    const auto shown = answer ? answer->text : answer.error().what;
    EXPECT_THAT(shown, Not(HasSubstr(token))) << status;
    EXPECT_THAT(shown, HasSubstr("(left out)")) << status;
  }
}

TEST_F(ApiClientTest, NeverShowsTheTokenOfAMessageNorHangsOnAShortOne) {
  for (const auto* each : {"abc.def.ghi", "left"}) {
    set_token(each);
    ReplayServer replay{[&](const ReplayRequest&) {
      return ReplayAnswer{.status = 403, .body = R"({"message": "no: )" + token + R"("})"};
    }};
    const auto answer = ask(server(replay.url()));
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("HTTP 403: no: (left out): check user"));
  }
}

TEST_F(ApiClientTest, AsksAgainWithANewTokenAfterARefusal) {
  ReplayServer replay{[](const ReplayRequest& asked) {
    return ReplayAnswer{.status = asked.head.contains("second") ? 200 : 401, .body = "{}"};
  }};
  ApiClient client{server(replay.url())};
  const auto again = [&] {
    return run_to_end(io, client.ask(ApiRequest{.path = "/ping"}, Deadline::in(60s)));
  };

  const auto first = again();
  set_token("second");
  const auto second = again();

  EXPECT_EQ(first.error().code, Code::kRefused);
  EXPECT_TRUE(second) << second.error().what;
}

TEST_F(ApiClientTest, RefusesATokenThatWouldChangeTheHead) {
  ReplayServer replay{[](const ReplayRequest&) { return ReplayAnswer{.body = "{}"}; }};
  for (const auto& bad :
       {std::string{"a\r\nHost: x"}, std::string{"a b"}, std::string(20'000, 'a')}) {
    set_token(bad);
    EXPECT_EQ(ask(server(replay.url())).error().code, Code::kInvalid);
  }
  EXPECT_TRUE(replay.asked().empty());
}

TEST_F(ApiClientTest, TakesWhatScontrolPrintsAsAToken) {
  ReplayServer replay{[](const ReplayRequest&) { return ReplayAnswer{.body = "{}"}; }};
  set_token("SLURM_JWT=abc.def.ghi");

  EXPECT_TRUE(ask(server(replay.url())));

  EXPECT_THAT(replay.asked().front().head, HasSubstr("X-Token: abc.def.ghi\r\n"));
}

TEST_F(ApiClientTest, BoundsWhatItReadsAndHowLongItWaits) {
  ReplayServer large{
      [](const ReplayRequest&) { return ReplayAnswer{.body = std::string(5000, ' ')}; }};
  ReplayServer silent{[](const ReplayRequest&) { return ReplayAnswer{.silent = true}; }};
  ReplayServer elsewhere{
      [](const ReplayRequest&) { return ReplayAnswer{.status = 302, .body = "{}"}; }};

  EXPECT_EQ(ask(server(large.url()), {.most = 4096}).error().code, Code::kMalformed);
  EXPECT_EQ(ask(server(silent.url()), {}, 1s).error().code, Code::kTimeout);
  EXPECT_EQ(ask(server(elsewhere.url()))->status, 302);
  EXPECT_EQ(ask(server("http://127.0.0.1:1")).error().code, Code::kUnreachable);
  EXPECT_EQ(ask(server("unix:/nonexistent/socket")).error().code, Code::kUnreachable);
}

TEST(TokenClaims, ReadsWhenATokenExpiresAndForWhomItIs) {
  const auto claims = token_claims(token_of(R"({"exp":1700000000,"iat":1,"sun":"cupel"})"));

  ASSERT_TRUE(claims.expires);
  EXPECT_EQ(utc_text(*claims.expires), "2023-11-14T22:13:20Z");
  EXPECT_EQ(claims.user, "cupel");
}

TEST(TokenClaims, ReadsNothingOfWhatIsNoToken) {
  for (const auto& text : {std::string{}, std::string{"a.b"}, std::string{"a.!.c"}, token_of("[]"),
                           token_of("{"), token_of(R"({"exp":-1})"), token_of(R"({"exp":1e300})"),
                           "a." + std::string(90'000, 'A') + ".c"})
    EXPECT_FALSE(token_claims(text).expires) << text.substr(0, 60);
}

TEST(TokenClaims, IsReadHoweverItsTextWasDamaged) {
  std::mt19937 random{20261126};
  const auto token = token_of(R"({"exp":1700000000,"iat":1,"sun":"cupel"})");
  for (int round = 0; round < 20'000; ++round) {
    const auto claims = token_claims(cupel::test::damaged(token, random));
    EXPECT_LE(claims.user.size(), token.size());
  }
}

}  // namespace
}  // namespace cupel::handoff
