// UFM's REST API by a server that replays it: what is sent, whom it trusts, and what it makes of
// answers that are none.
#include "orchestrator/handoff/ufm_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/base64.h"
#include "burnin/fabric/discovery/ufm_rest.h"
#include "tests/support/captures.h"
#include "tests/support/replay_server.h"

namespace cupel::handoff {
namespace {
using namespace std::chrono_literals;
using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVariable = "CUPEL_TEST_UFM_SECRET";
constexpr const char* kSecret = "sekret-Kx93";

constexpr std::string_view kLinks = R"([{"source_guid": "0c42a103001b7ab6", "source_port": "1",
  "destination_guid": "900a840300ac8c40", "destination_port": "13", "source_port_dname": "HCA-2/1",
  "destination_port_dname": "1/7/1", "width": "4x",
  "source_port_name": "0c42a103001b7ab6_1", "destination_port_name": "900a840300ac8c40_13",
  "source_port_node_description": "n05 mlx5_3",
  "destination_port_node_description": "leaf1-r3:1/7/1"}])";
constexpr std::string_view kPorts =
    R"([{"name": "900a840300ac8c40_13", "guid": "900a840300ac8c40", "number": 13,
         "active_speed": "NDR", "logical_state": "Active", "node_description": "leaf1-r3:1/7/1"}])";
constexpr std::string_view kSystems = R"([{"guid": "900a840300ac8c40", "type": "switch"}])";

ReplayAnswer replayed(const ReplayRequest& asked) {
  if (asked.path.ends_with("/resources/links")) return {.body = std::string{kLinks}};
  if (asked.path.ends_with("/resources/ports")) return {.body = std::string{kPorts}};
  return {.body = std::string{kSystems}};
}

class UfmClientTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv(kVariable, kSecret, 1); }
  void TearDown() override { ::unsetenv(kVariable); }

  static inventory::UfmSite site(const std::string& url, const std::string& user = {}) {
    return {.url = url,
            .user = user,
            .secret = {inventory::SecretRef::Kind::env, kVariable},
            .ca = {},
            .where = {}};
  }
  Result<UfmAnswers> ask(const inventory::UfmSite& of, std::chrono::milliseconds patience = 60s) {
    UfmClient client{of};
    return run_to_end(io, client.ask(Deadline::in(patience)));
  }

  asio::io_context io{1};
};

TEST_F(UfmClientTest, ReadsLinksPortsAndSystemsByGetWithAToken) {
  ReplayServer replay{replayed};

  const auto answers = ask(site(replay.url()));

  ASSERT_TRUE(answers) << answers.error().what;
  EXPECT_THAT(replay.lines(),
              ElementsAre("GET /ufmRestV3/resources/links", "GET /ufmRestV3/resources/ports",
                          "GET /ufmRestV3/resources/systems"));
  EXPECT_THAT(replay.asked().front().head,
              HasSubstr(fmt::format("Authorization: Basic {}\r\n", kSecret)));
  const auto seen = burnin::parse_ufm_rest(answers->links, answers->ports, answers->systems);
  ASSERT_TRUE(seen) << seen.error().what;
  ASSERT_EQ(seen->links.size(), 1u);
  EXPECT_EQ(seen->links[0].speed, "NDR");
  EXPECT_EQ(seen->devices[0].name, "n05");
}

TEST_F(UfmClientTest, PresentsUserAndPasswordAtThePathForThem) {
  ReplayServer replay{replayed};

  ASSERT_TRUE(ask(site(replay.url(), "admin")));

  EXPECT_EQ(replay.lines().front(), "GET /ufmRest/resources/links");
  EXPECT_THAT(replay.asked().front().head,
              HasSubstr("Authorization: Basic " + base64(fmt::format("admin:{}", kSecret))));
}

TEST_F(UfmClientTest, TrustsNoCertificateButThatOfItsAuthority) {
  ReplayServer replay{replayed, true};
  auto trusting = site(replay.url());
  const test::TemporaryFolder folder;
  trusting.ca = (folder.path() / "ca.pem").string();
  std::ofstream{trusting.ca} << replay.certificate_pem();

  const auto refused = ask(site(replay.url()));
  const auto trusted = ask(trusting);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUntrusted);
  EXPECT_THAT(refused.error().what, HasSubstr("ca in fabric: ufm"));
  EXPECT_TRUE(trusted) << trusted.error().what;
  EXPECT_EQ(replay.asked().size(), 3u) << "the token went to a server that nothing vouches for";
}

TEST_F(UfmClientTest, NamesWhatIsWrongAndNeverShowsTheSecret) {
  const auto sent_back = [](int status) {
    return [status](const ReplayRequest& asked) {
      const auto at = asked.head.find("Authorization: ");
      return ReplayAnswer{.status = status, .body = "no: " + asked.head.substr(at, 60) + kSecret};
    };
  };
  const std::map<int, Code> codes{{200, Code::kMalformed},
                                  {401, Code::kRefused},
                                  {404, Code::kUnsupported},
                                  {503, Code::kBusy}};
  for (const auto& user : {std::string{}, std::string{"admin"}})
    for (const auto& [status, code] : codes) {
      ReplayServer replay{sent_back(status)};

      const auto answers = ask(site(replay.url(), user));

      ASSERT_FALSE(answers) << status;
      EXPECT_EQ(answers.error().code, code) << answers.error().what;
      EXPECT_THAT(answers.error().what,
                  AllOf(HasSubstr("UFM at " + replay.url()), Not(HasSubstr(kSecret)),
                        Not(HasSubstr(base64(fmt::format("admin:{}", kSecret))))));
    }
}

TEST_F(UfmClientTest, EndsWhereTheServerDoesNotAnswerOrASecretIsNotSet) {
  ReplayServer silent{[](const ReplayRequest&) { return ReplayAnswer{.silent = true}; }};

  const auto late = ask(site(silent.url()), 300ms);
  ::unsetenv(kVariable);
  const auto unset = ask(site(silent.url()));

  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kTimeout);
  ASSERT_FALSE(unset);
  EXPECT_EQ(unset.error().code, Code::kInvalid);
  EXPECT_THAT(unset.error().what, HasSubstr("token of fabric: ufm"));
}

}  // namespace
}  // namespace cupel::handoff
