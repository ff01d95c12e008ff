// `cupel login` and `cupel logout`, as a person uses them, with an identity provider on loopback.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/base64.h"
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
  test::ReplayAnswer answer(const test::ReplayRequest& asked) const {
    const auto url = server_.url();
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
  test::ReplayServer server_{[this](const test::ReplayRequest& asked) { return answer(asked); }};
};

TEST_F(Login, IsKeptUntilItIsForgotten) {
  const auto first =
      cupel(to_service({"login", "--issuer", server_.url(), "--client-id", "cupel"}));
  const auto again = cupel(to_service({"login"}));
  const auto out = cupel(to_service({"logout"})), twice = cupel(to_service({"logout"}));
  const auto forgotten = cupel(to_service({"login"}));

  ASSERT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("open https://id.example/device and enter WDJB-MJHT"),
                    HasSubstr("logged in until 2096-"), HasSubstr("it is renewed by itself")));
  EXPECT_THAT(first.out + first.err, Not(HasSubstr("r-1")));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(out.out, HasSubstr("the login is forgotten"));
  EXPECT_THAT(twice.out, HasSubstr("no login is kept for that service"));
  EXPECT_EQ(twice.status, 0);
  EXPECT_EQ(forgotten.status, 2);
  EXPECT_THAT(forgotten.err,
              AllOf(HasSubstr("--issuer is missing"), HasSubstr("--client-id is missing")));
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
