// Logins by an identity provider on loopback: one that behaves, and what a bad one is let do.
#include "orchestrator/api/device_login.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/base64.h"
#include "orchestrator/api/kept_login.h"
#include "orchestrator/api/service_client.h"
#include "tests/support/replay_server.h"

namespace cupel::api {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::ReplayAnswer;
using test::ReplayRequest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kFar = 4'000'000'000;  // the year 2096
constexpr PollPace kFast{10ms};

std::string part(const std::string& text) {
  auto encoded = base64(text);
  std::erase(encoded, '=');
  std::ranges::replace(encoded, '+', '-');
  std::ranges::replace(encoded, '/', '_');
  return encoded;
}

std::string id_token(const std::string& issuer, const std::string& client, std::int64_t expires) {
  return part(R"({"alg":"RS256"})") + "." +
         part(fmt::format(R"({{"iss":"{}","aud":["other","{}"],"exp":{}}})", issuer, client,
                          expires)) +
         ".c2lnbmF0dXJl";
}

ReplayAnswer refusal(const std::string& code, int status = 400) {
  return {.status = status, .body = fmt::format(R"({{"error":"{}"}})", code)};
}

/// A provider whose answers to a request for tokens are those of `tokens`, each once, the last
/// again.
class DeviceLogin : public ::testing::Test {
 protected:
  std::string good_tokens(std::int64_t expires = kFar) const {
    return fmt::format(R"({{"id_token":"{}","refresh_token":"r-1","token_type":"Bearer"}})",
                       id_token(server.url(), "cupel", expires));
  }
  ReplayAnswer answer(const ReplayRequest& asked) {
    if (asked.path.ends_with("/openid-configuration"))
      return {.body = discovery.empty()
                          ? fmt::format(R"({{"issuer":"{0}","device_authorization_endpoint":
                              "{0}/device","token_endpoint":"{0}/token"}})",
                                        server.url())
                          : discovery};
    if (asked.path == "/device") return device;
    if (asked.path != "/token" || tokens.empty()) return {.status = 404, .body = "{}"};
    const auto next = tokens.front();
    if (tokens.size() > 1) tokens.pop_front();
    return next;
  }
  Provider provider() const { return {server.url(), "cupel", "openid offline_access", ""}; }

  template <class T>
  static Result<T> done(Task<Result<T>> work) {
    asio::io_context io{1};
    return run_to_end(io, std::move(work));
  }
  Task<Result<ProviderTokens>> all_of_it() {
    const auto deadline = Deadline::in(120s);
    CO_TRY(const auto endpoints, co_await find_endpoints(provider(), deadline));
    CO_TRY(const auto code, co_await ask_device_code(provider(), endpoints, deadline));
    co_return co_await wait_for_login(provider(), endpoints, code, kFast, deadline);
  }
  Result<ProviderTokens> logged_in() { return done(all_of_it()); }
  long asked_for_tokens() const {
    return std::ranges::count(server.lines(), std::string{"POST /token"});
  }

  std::string discovery{};  // empty: a good one
  ReplayAnswer device{.body = R"({"device_code":"d-1","user_code":"WDJB-MJHT",
      "verification_uri":"https://id.example/device","expires_in":3600,"interval":1})"};
  std::deque<ReplayAnswer> tokens{};
  test::ReplayServer server{[this](const ReplayRequest& asked) { return answer(asked); }};
};

TEST_F(DeviceLogin, WaitsUntilThePersonHasLoggedIn) {
  tokens = {refusal("authorization_pending"),
            refusal("authorization_pending", 403),
            {.body = good_tokens()}};

  const auto got = logged_in();

  ASSERT_TRUE(got) << got.error().what;
  EXPECT_EQ(got->id, id_token(server.url(), "cupel", kFar));
  EXPECT_EQ(got->refresh, "r-1");
  EXPECT_EQ(got->expires.time_since_epoch().count(), kFar);
  EXPECT_EQ(asked_for_tokens(), 3);
  const auto asked = server.asked();
  EXPECT_EQ(asked[1].body, "client_id=cupel&scope=openid%20offline_access");
  EXPECT_EQ(asked[2].body,
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=d-1&"
            "client_id=cupel");
  EXPECT_THAT(asked[2].head, HasSubstr("application/x-www-form-urlencoded"));
}

TEST_F(DeviceLogin, AsksLessOftenWhereItIsToSlowDownOrTheProviderIsBusy) {
  tokens = {refusal("slow_down"), {.status = 503, .body = "busy"}, {.body = good_tokens()}};
  const auto before = std::chrono::steady_clock::now();

  const auto got = logged_in();

  ASSERT_TRUE(got) << got.error().what;
  // One, then six, then eleven seconds of the protocol, at 10 ms each.
  EXPECT_GE(std::chrono::steady_clock::now() - before, 180ms);
}

TEST_F(DeviceLogin, EndsWhereItIsDeniedExpiredOrNotAllowed) {
  const auto ended = [&](const std::string& code) {
    tokens = {refusal(code)};
    const auto got = logged_in();
    return got ? Error{Code::kFailed, "it was let in"} : got.error();
  };

  EXPECT_EQ(ended("access_denied").code, Code::kRefused);
  EXPECT_EQ(ended("expired_token").code, Code::kTimeout);
  EXPECT_THAT(ended("unauthorized_client").what,
              AllOf(HasSubstr("refuses: unauthorized_client"), HasSubstr("device flow")));
}

TEST_F(DeviceLogin, AsksNoMoreOnceTheCodeHasExpired) {
  device.body = R"({"device_code":"d-1","user_code":"A","verification_uri":"https://id.example",
      "expires_in":1,"interval":5})";

  const auto got = logged_in();

  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kTimeout);
  EXPECT_EQ(asked_for_tokens(), 0);
}

TEST_F(DeviceLogin, TakesNoDiscoveryOfAnotherIssuerOrWithoutADeviceFlow) {
  discovery = R"({"issuer":"https://evil.example","device_authorization_endpoint":
      "https://evil.example/d","token_endpoint":"https://evil.example/t"})";
  const auto other = logged_in();
  discovery = fmt::format(R"({{"issuer":"{0}","token_endpoint":"{0}/token"}})", server.url());
  const auto none = logged_in();
  discovery = fmt::format(
      R"({{"issuer":"{0}","device_authorization_endpoint":"http://192.0.2.1/d","token_endpoint":
      "{0}/token"}})",
      server.url());
  const auto plain = logged_in();

  ASSERT_FALSE(other || none || plain);
  EXPECT_THAT(other.error().what, HasSubstr("names another issuer"));
  EXPECT_THAT(none.error().what, HasSubstr("offers no device flow"));
  EXPECT_THAT(plain.error().what, HasSubstr("offers no device flow"));
  EXPECT_THAT(server.lines(), Not(::testing::Contains(std::string{"POST /device"})));
}

TEST_F(DeviceLogin, TakesNoTokenThatIsNotItsOwn) {
  const auto refused_with = [&](const std::string& token) {
    tokens = {{.body = fmt::format(R"({{"id_token":"{}"}})", token)}};
    const auto got = logged_in();
    return got ? std::string{"it was taken"} : got.error().what;
  };

  EXPECT_THAT(refused_with(id_token("https://evil.example", "cupel", kFar)),
              HasSubstr("of another issuer"));
  EXPECT_THAT(refused_with(id_token(server.url(), "x", kFar)), HasSubstr("for another client"));
  EXPECT_THAT(refused_with(id_token(server.url(), "cupel", 1)), HasSubstr("has expired"));
  EXPECT_THAT(refused_with("a.b"), HasSubstr("cannot be read"));
  EXPECT_THAT(refused_with(""), HasSubstr("--scope is to have openid in it"));
}

TEST_F(DeviceLogin, BoundsEveryAnswerAndShowsNoSecretOfOne) {
  device.body = std::string(300'000, ' ') + "{}";
  const auto huge = logged_in();
  device.body = R"({"device_code":"d-1","user_code":"A","verification_uri":"javascript:x",
      "expires_in":600})";
  const auto no_page = logged_in();
  device.body = R"({"device_code":"d-1","user_code":"A","verification_uri":"https://id.example",
      "expires_in":3600,"interval":1})";
  tokens = {{.status = 400, .body = R"({"error":"d-1 IS BAD","error_description":"d-1"})"}};
  const auto echoed = logged_in();

  ASSERT_FALSE(huge || no_page || echoed);
  EXPECT_EQ(huge.error().code, Code::kMalformed);
  EXPECT_THAT(no_page.error().what, HasSubstr("no code that can be entered"));
  EXPECT_THAT(echoed.error().what, AllOf(HasSubstr("refuses: HTTP 400"), Not(HasSubstr("d-1"))));
}

/// With a folder of logins of its own.
class KeptLogins : public DeviceLogin {
 protected:
  KeptLogins() {
    std::string made = (fs::temp_directory_path() / "cupel-login-XXXXXX").string();
    folder = ::mkdtemp(made.data());
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  }
  ~KeptLogins() override {
    ::unsetenv("XDG_CONFIG_HOME");
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  fs::path file() const { return login_file(service).value(); }
  KeptLogin login(std::int64_t expires, const std::string& refresh) const {
    return {provider(),
            {server.url(), "", server.url() + "/token"},
            {id_token(server.url(), "cupel", expires), refresh,
             std::chrono::sys_seconds{std::chrono::seconds{expires}}}};
  }
  static std::int64_t soon() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
               .count() +
           5;
  }

  fs::path folder{};
  const ServerAddress service = server_address("https://Cupel.example:8443", "it").value();
};

TEST_F(KeptLogins, AreReadByTheirOwnerAlone) {
  ASSERT_TRUE(write_login(file(), login(kFar, "r-1")));

  const auto read = read_login(file());
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  ASSERT_EQ(::chmod(file().c_str(), 0644), 0);
  const auto open = read_login(file());

  ASSERT_TRUE(read && *read) << (read ? "nothing" : read.error().what);
  EXPECT_EQ((*read)->tokens.refresh, "r-1");
  EXPECT_EQ((*read)->provider.client, "cupel");
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_FALSE(open);
  EXPECT_EQ(file(),
            login_file(server_address("https://cupel.EXAMPLE:8443/", "it").value()).value());
}

TEST_F(KeptLogins, GiveTheirTokenWhileItIsValid) {
  EXPECT_EQ(token_of_login(service).value(), "") << "none is kept";
  ASSERT_TRUE(write_login(file(), login(kFar, "r-1")));

  EXPECT_EQ(token_of_login(service).value(), id_token(server.url(), "cupel", kFar));
  EXPECT_EQ(asked_for_tokens(), 0);
}

TEST_F(KeptLogins, AreRenewedBeforeTheyEnd) {
  ASSERT_TRUE(write_login(file(), login(soon(), "r-0")));
  tokens = {{.body = fmt::format(R"({{"id_token":"{}"}})", id_token(server.url(), "cupel", kFar))}};

  const auto token = token_of_login(service);
  const auto again = token_of_login(service);

  ASSERT_TRUE(token) << token.error().what;
  EXPECT_EQ(*token, id_token(server.url(), "cupel", kFar));
  EXPECT_EQ(*again, *token);
  EXPECT_EQ(asked_for_tokens(), 1);
  EXPECT_EQ(server.asked().back().body,
            "grant_type=refresh_token&refresh_token=r-0&client_id=cupel");
  EXPECT_EQ(read_login(file()).value()->tokens.refresh, "r-0") << "it stays valid";
}

TEST_F(KeptLogins, AreRenewedOnceByCommandsThatRunSideBySide) {
  ASSERT_TRUE(write_login(file(), login(soon(), "r-0")));
  tokens = {{.body = good_tokens()}, refusal("invalid_grant")};

  const auto ask = [this] { return token_of_login(service); };
  auto first = std::async(std::launch::async, ask), second = std::async(std::launch::async, ask);
  const auto one = first.get(), other = second.get();

  ASSERT_TRUE(one && other);
  EXPECT_EQ(*one, id_token(server.url(), "cupel", kFar));
  EXPECT_EQ(*other, *one);
  EXPECT_EQ(asked_for_tokens(), 1) << "a refresh token that is shown twice may end the login";
}

TEST_F(KeptLogins, SayWhatToDoOnceTheyHaveEnded) {
  ASSERT_TRUE(write_login(file(), login(soon(), "")));
  const auto without = token_of_login(service);
  ASSERT_TRUE(write_login(file(), login(soon(), "r-0")));
  tokens = {refusal("invalid_grant")};
  const auto refused = token_of_login(service);

  for (const auto* each : {&without, &refused}) {
    ASSERT_FALSE(*each);
    EXPECT_EQ(each->error().code, Code::kRefused);
    EXPECT_THAT(
        each->error().what,
        AllOf(HasSubstr("cupel login --server https://cupel.example:8443"), Not(HasSubstr("r-0"))));
  }
}

TEST_F(KeptLogins, OfAnotherShapeAreNotTaken) {
  ASSERT_TRUE(write_login(file(), login(kFar, "")));
  std::ofstream{file()} << "{}";
  const auto read = read_login(file());

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kMalformed);
  EXPECT_FALSE(login_file(server_address("unix:/run/x", "it").value()));
}

}  // namespace
}  // namespace cupel::api
