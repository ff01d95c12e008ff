// `cupel login` and `cupel logout`, as a person uses them, with an identity provider on loopback.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/base64.h"
#include "base/file.h"
#include "tests/support/child.h"
#include "tests/support/replay_server.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Login : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "cupel-login-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_CONFIG_HOME");
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  static test::ReplayAnswer answer(const test::ReplayRequest& asked, const std::string& url) {
    if (asked.path.ends_with("/openid-configuration"))
      return {.body = fmt::format(
                  R"({{"issuer":"{0}","device_authorization_endpoint":"{0}/device",
                     "token_endpoint":"{0}/token"}})",
                  url)};
    if (asked.path == "/device")
      return {.body = R"({"device_code":"d-1","user_code":"WDJB-MJHT","verification_uri":
          "https://id.example/device","expires_in":600,"interval":1})"};
    auto claims = base64(fmt::format(R"({{"iss":"{}","aud":"cupel","exp":4000000000}})", url));
    std::erase(claims, '=');
    std::ranges::replace(claims, '+', '-');
    std::ranges::replace(claims, '/', '_');
    return {.body = fmt::format(R"({{"id_token":"e30.{}.c2ln","refresh_token":"r-1"}})", claims)};
  }
  Ran cupel(std::vector<std::string> words) const {
    words.insert(words.begin(), CUPEL_BINARY);
    return run(std::move(words));
  }
  std::vector<std::string> to_service(std::vector<std::string> words) const {
    words.insert(words.end(), {"--server", "https://127.0.0.1:9"});
    return words;
  }

  fs::path folder_{};
  test::ReplayServer server_{
      [this](const test::ReplayRequest& asked) { return answer(asked, server_.url()); }};
};

TEST_F(Login, IsKeptUntilItIsForgotten) {
  const auto first =
      cupel(to_service({"login", "--issuer", server_.url(), "--client-id", "cupel"}));
  const auto again = cupel(to_service({"login"}));
  const auto out = cupel(to_service({"logout"})), twice = cupel(to_service({"logout"}));
  const auto forgotten = cupel(to_service({"login"}));

  ASSERT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("login at " + server_.url() +
                              ": open https://id.example/device and enter WDJB-MJHT"),
                    HasSubstr("logged in until 2096-"), HasSubstr("it is renewed by itself")));
  EXPECT_THAT(first.out + first.err, Not(HasSubstr("r-1")));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(out.out, HasSubstr("the login is forgotten"));
  EXPECT_THAT(twice.out, HasSubstr("no login is kept for that service"));
  EXPECT_EQ(twice.status, 0);
  EXPECT_EQ(forgotten.status, 2);
  EXPECT_THAT(forgotten.err,
              AllOf(HasSubstr("--issuer is missing"), HasSubstr("--client-id is missing"),
                    HasSubstr("the service was asked for it: https://127.0.0.1:9: ")));
}

/// A provider and a service, both over TLS, with certificates that are signed by themselves.
class NamedLogin : public Login {
 protected:
  void SetUp() override {
    Login::SetUp();
    issuer_ = provider_.url();
    ASSERT_TRUE(write_file(folder_ / "provider.pem", provider_.certificate_pem()));
    ASSERT_TRUE(write_file(folder_ / "service.pem", service_.certificate_pem()));
  }
  Ran log_in(std::vector<std::string> more = {}, const std::string& ca = "service.pem") const {
    std::vector<std::string> words{CUPEL_BINARY,   "login", "--server",
                                   service_.url(), "--ca",  (folder_ / "provider.pem").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words), {"CUPEL_CA=" + (folder_ / ca).string()});
  }
  test::ReplayAnswer named() const {
    return {.body = fmt::format(R"({{"issuer":"{}","client_id":"{}","scope":"openid groups"}})",
                                issuer_, client_)};
  }

  std::string issuer_{}, client_ = "cupel";
  test::ReplayServer provider_{
      [this](const test::ReplayRequest& asked) { return answer(asked, provider_.url()); }, true};
  test::ReplayServer service_{[this](const test::ReplayRequest&) { return named(); }, true};
};

TEST_F(NamedLogin, TakesIssuerClientAndScopeFromTheServiceAndShowsThem) {
  const auto first = log_in();
  issuer_ = "https://id.elsewhere.example";
  const auto again = log_in();

  ASSERT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr(service_.url() + " names the issuer " + provider_.url() +
                                         " and the client cupel\n"),
                               HasSubstr("login at " + provider_.url() + ": open ")));
  EXPECT_EQ(service_.lines(), std::vector<std::string>{"GET /api/v1/login"})
      << "a later login goes where the first one went, whatever the service names by then";
  EXPECT_THAT(provider_.asked().at(1).body, HasSubstr("scope=openid%20groups"));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, Not(HasSubstr("names the issuer")));
}

TEST_F(NamedLogin, AsksNoProviderThatAServiceOfAnotherCertificateNames) {
  const auto ran = log_in({}, "provider.pem");

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("name its certificate authority with $CUPEL_CA"));
  EXPECT_TRUE(service_.asked().empty());
  EXPECT_TRUE(provider_.asked().empty());
}

TEST_F(NamedLogin, RefusesAnIssuerWithoutTlsAndTextThatHidesSomething) {
  for (const auto* issuer :
       {"http://127.0.0.1:9", "http://id.example", "https://a@id.example", ""}) {
    issuer_ = issuer;
    const auto ran = log_in();
    EXPECT_EQ(ran.status, 2) << issuer << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("it names no https:// issuer with a client")) << issuer;
  }
  issuer_ = provider_.url();
  client_ = "cup\\u200bel";
  EXPECT_EQ(log_in().status, 2);
  EXPECT_TRUE(provider_.asked().empty());
}

TEST_F(NamedLogin, TakesNoClientOfAnotherIssuer) {
  issuer_ = "https://id.elsewhere.example";

  const auto ran = log_in({"--issuer", provider_.url()});
  const auto with_client = log_in({"--issuer", provider_.url(), "--client-id", "cupel"});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("--client-id is missing"),
                             HasSubstr("it names another issuer, https://id.elsewhere.example")));
  EXPECT_EQ(with_client.status, 0) << with_client.err;
}

TEST_F(Login, ListsAllThatIsWrongAndAsksNothing) {
  const auto nowhere = cupel({"login"});
  const auto wrong = cupel(to_service({"login", "--issuer", "http://id.example.com"}));
  const auto socket = cupel({"login", "--server", "unix:/run/cupel/cupel.sock"});

  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--server https://HOST:PORT"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("--issuer must begin with https://"),
                               HasSubstr("--client-id is missing")));
  EXPECT_EQ(socket.status, 2);
  EXPECT_TRUE(server_.asked().empty());
}

}  // namespace
}  // namespace cupel::testing
