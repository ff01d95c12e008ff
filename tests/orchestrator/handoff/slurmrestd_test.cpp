// slurmctld by slurmrestd: the real one of Debian (12: Slurm 22.05, whose API reads nodes and
// changes none; 13: 24.11), and the documented answers of versions that neither has.
#include "orchestrator/handoff/slurmrestd.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/handoff/slurm.h"
#include "tests/support/child.h"
#include "tests/support/damage.h"
#include "tests/support/real_part.h"
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

constexpr const char* kVariable = "CUPEL_TEST_SLURM_JWT";

// As slurmrestd 22.05.8 answers for a drained node, without the keys that nobody reads.
constexpr std::string_view kOf2205 = R"json({"errors": [], "nodes": [{"cpus": 224, "name": "n1",
  "features": "a,b", "active_features": "a", "gres": "gpu:h100:8", "hostname": "localhost",
  "state": "idle", "state_flags": ["DRAIN", "NOT_RESPONDING"], "real_memory": 1945600,
  "reason": "cupel: not qualified (run 3)", "reason_set_by_user": "root"}]})json";

// The same as v0.0.40 and later write it.
constexpr std::string_view kOf2311 = R"json({"nodes": [{"cpus": 224, "features": ["a", "b"],
  "active_features": ["a"], "gres": "gpu:h100:8", "name": "n1", "state": ["IDLE", "DRAIN",
  "NOT_RESPONDING"], "real_memory": 1945600, "reason": "cupel: not qualified (run 3)",
  "free_mem": {"set": true, "infinite": false, "number": 7}}], "last_update": {"number": 1},
  "meta": {"slurm": {"release": "23.11.4"}}, "errors": [], "warnings": []})json";

TEST(ParseRestNodes, ReadsTextsAndListsAlike) {
  for (const auto text : {kOf2205, kOf2311}) {
    const auto nodes = parse_rest_nodes(parse_json(text).value());

    ASSERT_TRUE(nodes) << nodes.error().what;
    ASSERT_EQ(nodes->size(), 1u);
    const auto& node = nodes->front();
    EXPECT_EQ(node.name, "n1");
    EXPECT_THAT(node.state, ElementsAre("IDLE", "DRAIN", "NOT_RESPONDING"));
    EXPECT_EQ(node.reason, "cupel: not qualified (run 3)");
    EXPECT_EQ(node.cpus, 224);
    EXPECT_EQ(node.memory_bytes, 1945600.0 * 1024 * 1024);
    EXPECT_EQ(node.gres, "gpu:h100:8");
    EXPECT_THAT(node.features, ElementsAre("a", "b"));
    EXPECT_TRUE(node.drained());
    EXPECT_FALSE(node.idle());
  }
}

TEST(ParseRestNodes, RefusesWhatIsNoNode) {
  for (const auto* text : {"{}", R"({"nodes": 3})", R"({"nodes": [3]})", R"({"nodes": [{}]})",
                           R"({"nodes": [{"name": "n1"}]})", R"({"nodes": [{"state": "idle"}]})"})
    EXPECT_EQ(parse_rest_nodes(parse_json(text).value()).error().code, Code::kMalformed) << text;
}

TEST(ParseRestNodes, IsReadOrRefusedHoweverItWasDamaged) {
  std::mt19937 random{20261126};
  for (int round = 0; round < 20'000; ++round) {
    const auto text = round % 2 == 0 ? kOf2205 : kOf2311;
    const auto parsed = parse_json(cupel::test::damaged(std::string{text}, random));
    if (!parsed) continue;
    const auto nodes = parse_rest_nodes(*parsed);
    if (!nodes) continue;
    for (const auto& node : *nodes) {
      EXPECT_FALSE(node.name.empty());
      EXPECT_FALSE(node.state.empty());
      EXPECT_GE(node.cpus, 0);
    }
  }
}

inventory::SlurmSite site_at(const std::string& url, const std::string& user = "cupel") {
  inventory::SlurmSite site;
  site.features = {"qualified"};
  site.rest = inventory::SlurmRest{
      .url = url,
      .user = user,
      .token = inventory::SecretRef{inventory::SecretRef::Kind::env, kVariable}};
  return site;
}

/// One node, in the API of one version.
class FakeSlurm {
 public:
  explicit FakeSlurm(int version) : version_{version} {}

  ReplayAnswer operator()(const ReplayRequest& asked) {
    const auto prefix = fmt::format("/slurm/v0.0.{}", version_);
    if (!asked.path.starts_with(prefix + "/"))
      return {.status = 404,
              .body = "Unable find requested URL. Please view /openapi/v3 for API reference.",
              .content_type = "text/plain"};
    const auto path = asked.path.substr(prefix.size());
    if (path == "/nodes") return {.body = listed()};
    if (path != "/node/n1")
      return {.status = 500,
              .body = R"({"errors": [{"error": "Invalid node name specified", "errno": 2018}]})"};
    if (asked.method == "GET") return {.body = listed()};
    if (version_ < 39)
      return {.status = 405, .body = "Requested REST method is not defined at URL."};
    if (refuses)
      return {.status = 500, .body = R"({"errors": [{"description": "Failure to update node n1",
                  "error_number": 2002, "error": "Access/permission denied"}]})"};
    const auto change = parse_json(asked.body).value();
    if (const auto* state = find(change, "state"))
      drained_ = state->as_array().at(0).as_string() == "DRAIN";
    if (const auto reason = text_at(change, "reason")) reason_ = *reason;
    if (const auto* features = find(change, "features")) features_ = features->as_array();
    return {.body = R"({"errors": [], "warnings": []})"};
  }

  bool refuses = false;

 private:
  std::string listed() const {
    json::object node{{"name", "n1"}, {"cpus", 224}, {"real_memory", 1000}, {"reason", reason_}};
    if (version_ < 39) {
      node["state"] = "idle";
      node["state_flags"] = drained_ ? json::array{"DRAIN"} : json::array{};
      node["features"] = "h100";
    } else {
      node["state"] = drained_ ? json::array{"IDLE", "DRAIN"} : json::array{"IDLE"};
      node["features"] = features_;
    }
    return json::serialize(json::object{{"nodes", json::array{node}}, {"errors", json::array{}}});
  }

  int version_;
  bool drained_ = false;
  std::string reason_{};
  json::array features_{"h100"};
};

class SlurmrestdTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv(kVariable, "a.b.c", 1); }
  void TearDown() override { ::unsetenv(kVariable); }

  template <class T>
  T ended(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  static Deadline soon() { return Deadline::in(30s); }

  asio::io_context io{1};
};

TEST_F(SlurmrestdTest, DrainsMarksAndResumesWithEachVersionThatCan) {
  for (const int version : {39, 40, 41}) {
    FakeSlurm fake{version};
    ReplayServer replay{std::ref(fake)};
    Slurm slurm{site_at(replay.url())};

    ASSERT_TRUE(ended(slurm.drain("n1", "cupel: a 'bad' node", soon()))) << version;
    const auto drained = ended(slurm.node("n1", soon()));
    ASSERT_TRUE(ended(slurm.add_features("n1", {"qualified"}, soon()))) << version;
    ASSERT_TRUE(ended(slurm.resume("n1", soon()))) << version;
    const auto resumed = ended(slurm.node("n1", soon()));

    ASSERT_TRUE(drained && resumed);
    EXPECT_TRUE(drained->drained());
    EXPECT_EQ(drained->reason, "cupel: a bad node");
    EXPECT_FALSE(resumed->drained());
    EXPECT_THAT(resumed->features, ElementsAre("h100", "qualified"));
    EXPECT_THAT(replay.asked().back().head, AllOf(HasSubstr("X-SLURM-USER-NAME: cupel\r\n"),
                                                  HasSubstr("X-SLURM-USER-TOKEN: a.b.c\r\n")));
  }
}

TEST_F(SlurmrestdTest, SendsNothingWhereItIsSoAlready) {
  FakeSlurm fake{41};
  ReplayServer replay{std::ref(fake)};
  Slurm slurm{site_at(replay.url())};

  ASSERT_TRUE(ended(slurm.resume("n1", soon())));

  EXPECT_THAT(replay.lines(), ElementsAre("GET /slurm/v0.0.41/node/n1"));
}

TEST_F(SlurmrestdTest, TriesVersionsFromTheNewestOnAndRemembersTheOne) {
  FakeSlurm fake{38};
  ReplayServer replay{std::ref(fake)};
  Slurm slurm{site_at(replay.url())};

  ASSERT_TRUE(ended(slurm.node("n1", soon())));
  ASSERT_TRUE(ended(slurm.nodes(soon())));

  EXPECT_THAT(replay.lines(),
              ElementsAre("GET /slurm/v0.0.41/node/n1", "GET /slurm/v0.0.40/node/n1",
                          "GET /slurm/v0.0.39/node/n1", "GET /slurm/v0.0.38/node/n1",
                          "GET /slurm/v0.0.38/nodes"));
}

TEST_F(SlurmrestdTest, SaysThatAVersionCannotChangeNodes) {
  for (const int version : {37, 38}) {
    FakeSlurm fake{version};
    ReplayServer replay{std::ref(fake)};
    Slurm slurm{site_at(replay.url())};

    const auto drained = ended(slurm.drain("n1", "cupel: x", soon()));

    ASSERT_FALSE(drained);
    EXPECT_EQ(drained.error().code, Code::kUnsupported);
    EXPECT_THAT(drained.error().what,
                AllOf(HasSubstr(fmt::format("v0.0.{}", version)), HasSubstr("cannot change nodes"),
                      HasSubstr("scontrol is asked")));
  }
}

TEST_F(SlurmrestdTest, SaysThatNoVersionIsCommonToBoth) {
  FakeSlurm fake{99};
  ReplayServer replay{std::ref(fake)};
  Slurm slurm{site_at(replay.url())};

  const auto node = ended(slurm.node("n1", soon()));

  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, Code::kUnsupported);
  EXPECT_THAT(node.error().what, HasSubstr("v0.0.37 to v0.0.41"));
}

TEST_F(SlurmrestdTest, SaysWhoMustBecomeAnAdministrator) {
  FakeSlurm fake{40};
  fake.refuses = true;
  ReplayServer replay{std::ref(fake)};
  Slurm slurm{site_at(replay.url())};

  const auto drained = ended(slurm.drain("n1", "cupel: x", soon()));

  ASSERT_FALSE(drained);
  EXPECT_EQ(drained.error().code, Code::kRefused);
  EXPECT_THAT(drained.error().what, HasSubstr("adminlevel=administrator"));
}

// As slurmrestd 24.11.5 answers for a node that is not there, and for a forged token.
TEST_F(SlurmrestdTest, UnderstandsWhatNewerVersionsSayOfANodeAndOfAToken) {
  ReplayServer no_node{[](const ReplayRequest&) -> ReplayAnswer {
    return {.body = R"({"errors": [{"description": "Failure to query node n9", "error_number": 0,
              "error": "No error", "source": "_dump_nodes"}], "warnings": []})"};
  }};
  ReplayServer forged{[](const ReplayRequest&) -> ReplayAnswer {
    return {.status = 511, .body = R"({"errors": [{"description": "Failure to query node n1",
              "error_number": 1007, "error": "Protocol authentication error"}]})"};
  }};
  Slurm first{site_at(no_node.url())}, second{site_at(forged.url())};

  const auto node = ended(first.node("n9", soon()));
  const auto refused = ended(second.node("n1", soon()));

  ASSERT_FALSE(node || refused);
  EXPECT_EQ(node.error().code, Code::kNotFound) << node.error().what;
  EXPECT_THAT(node.error().what, HasSubstr("Slurm does not know node 'n9'"));
  EXPECT_EQ(refused.error().code, Code::kRefused) << refused.error().what;
  EXPECT_THAT(refused.error().what,
              HasSubstr("Protocol authentication error: check user and token of slurm: rest"));
}

TEST_F(SlurmrestdTest, TakesTheNameOfOneKnownNodeOnly) {
  FakeSlurm fake{41};
  ReplayServer replay{std::ref(fake)};
  Slurm slurm{site_at(replay.url())};

  for (const auto* name : {"ALL", "n[1-2]", "n1,n2", "", "../nodes", "n1?x=y"})
    EXPECT_EQ(ended(slurm.drain(name, "x", soon())).error().code, Code::kInvalid) << name;
  EXPECT_TRUE(replay.asked().empty());
  const auto unknown = ended(slurm.drain("n9", "x", soon()));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_THAT(unknown.error().what, HasSubstr("cupel slurm conf"));
}

/// slurmctld, two slurmds and slurmrestd on loopback.
class RealSlurmrestdTest : public SlurmrestdTest {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/sbin/slurmrestd") &&
                              std::filesystem::exists("/usr/sbin/slurmctld") &&
                              std::filesystem::exists("/usr/sbin/munged"),
                          "slurmrestd, slurm-wlm-jwt-plugin, slurm-wlm or munge is not installed");
    std::string made = (std::filesystem::temp_directory_path() / "cupel-rest-XXXXXX").string();
    ASSERT_NE(::mkdtemp(made.data()), nullptr);
    folder = made;
    const auto ran = testing::run({kScript, "start-rest", folder.string(), "n[1-2]"}, {}, 60s);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto port = read_file(folder / "rest.port", 100);
    ASSERT_TRUE(port);
    url = fmt::format("http://127.0.0.1:{}", trimmed(*port));
    new_token("600");
  }
  void TearDown() override {
    if (folder.empty()) return;
    testing::run({kScript, "stop", folder.string()}, {}, 60s);
    std::filesystem::remove_all(folder);
    SlurmrestdTest::TearDown();
  }
  testing::Ran tool(std::vector<std::string> argv) const {
    return testing::run(std::move(argv), {"SLURM_CONF=" + (folder / "slurm.conf").string()}, 20s);
  }
  /// For whoever runs this test, in the variable that the inventory names.
  void new_token(const std::string& seconds) {
    const auto ran = tool({"scontrol", "token", "lifespan=" + seconds});
    token = trimmed(ran.out);
    ASSERT_THAT(token, ::testing::StartsWith("SLURM_JWT=ey")) << ran.err;
    ::setenv(kVariable, token.c_str(), 1);
  }

  static inline const std::string kScript = SOURCE_DIR "/scripts/loopback-slurm";
  std::filesystem::path folder{};
  std::string url{}, token{};
};

TEST_F(RealSlurmrestdTest, ReadsNodesAsScontrolDoes) {
  inventory::SlurmSite local;
  local.configuration = (folder / "slurm.conf").string();
  Slurm by_scontrol{local};
  Slurm by_rest{site_at(url, "")};
  inventory::SlurmSite own;  // no token: whoever may open the socket is the user
  own.rest = inventory::SlurmRest{.url = "unix:" + (folder / "rest.sock").string()};
  Slurm by_socket{own};
  ASSERT_TRUE(ended(by_scontrol.drain("n1", "cupel: not qualified (run 3)", soon())));
  ASSERT_TRUE(ended(by_scontrol.add_features("n1", {"h100", "ib"}, soon())));

  const auto expected = ended(by_scontrol.nodes(soon()));
  const auto found = ended(by_rest.nodes(soon()));
  const auto one = ended(by_rest.node("n1", soon()));
  const auto by_its_socket = ended(by_socket.nodes(soon()));

  ASSERT_TRUE(by_its_socket) << by_its_socket.error().what;
  ASSERT_EQ(by_its_socket->size(), 2u);
  EXPECT_EQ(by_its_socket->front().reason, "cupel: not qualified (run 3)");
  ASSERT_TRUE(expected && found && one) << (found ? "" : found.error().what);
  ASSERT_EQ(found->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*found)[i].name, (*expected)[i].name);
    EXPECT_EQ((*found)[i].reason, (*expected)[i].reason);
    EXPECT_EQ((*found)[i].cpus, (*expected)[i].cpus);
    EXPECT_EQ((*found)[i].memory_bytes, (*expected)[i].memory_bytes);
    EXPECT_EQ((*found)[i].gres, (*expected)[i].gres);
    EXPECT_EQ((*found)[i].features, (*expected)[i].features);
    EXPECT_EQ((*found)[i].drained(), (*expected)[i].drained());
    EXPECT_EQ((*found)[i].idle(), (*expected)[i].idle());
  }
  EXPECT_TRUE(one->drained());
}

TEST_F(RealSlurmrestdTest, ChangesNodesWhereItsApiCanAndNothingWhereItCannot) {
  const bool reads_only = tool({"sinfo", "--version"}).out.find(" 22.05") != std::string::npos;
  const auto shown = [&] { return tool({"sinfo", "-hN", "-n", "n1", "-o", "%t %E %f"}).out; };
  Slurm slurm{site_at(url, "")};

  const auto drained = ended(slurm.drain("n1", "cupel: x", soon()));

  if (reads_only) {  // Debian 12
    ASSERT_FALSE(drained);
    EXPECT_EQ(drained.error().code, Code::kUnsupported) << drained.error().what;
    EXPECT_THAT(drained.error().what, HasSubstr("API v0.0.38"));
    EXPECT_THAT(shown(), HasSubstr("idle"));
    return;
  }
  ASSERT_TRUE(drained) << drained.error().what;
  ASSERT_TRUE(ended(slurm.add_features("n1", {"qualified"}, soon())));
  EXPECT_THAT(shown(), AllOf(HasSubstr("drain"), HasSubstr("cupel: x"), HasSubstr("qualified")));
  ASSERT_TRUE(ended(slurm.resume("n1", soon())));
  EXPECT_THAT(shown(), HasSubstr("idle"));
}

TEST_F(RealSlurmrestdTest, SaysWhichNodeSlurmDoesNotKnow) {
  Slurm slurm{site_at(url, "")};

  const auto node = ended(slurm.node("n9", soon()));

  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, Code::kNotFound);
  EXPECT_THAT(node.error().what, AllOf(HasSubstr("'n9'"), HasSubstr("cupel slurm conf")));
}

TEST_F(RealSlurmrestdTest, NamesATokenThatHasExpired) {
  new_token("1");
  // slurmctld, not a clock of ours, says when: `squeue` with the token begins to fail.
  const std::vector<std::string> conf{"SLURM_CONF=" + (folder / "slurm.conf").string(), token};
  while (testing::run({"squeue"}, conf, 60s).status == 0) continue;
  Slurm slurm{site_at(url, "")};

  const auto node = ended(slurm.node("n1", soon()));

  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, Code::kRefused) << node.error().what;
  EXPECT_THAT(node.error().what, AllOf(HasSubstr("token of slurm: rest expired at 20"),
                                       Not(HasSubstr(token.substr(10)))));
}

TEST_F(RealSlurmrestdTest, ShowsNoTokenThatIsRefused) {
  const auto forged = token + "x";
  ::setenv(kVariable, forged.c_str(), 1);
  Slurm slurm{site_at(url, "")};

  const auto node = ended(slurm.node("n1", soon()));
  ::setenv(kVariable, "none", 1);
  Slurm nobody{site_at(url, "")};
  const auto without_name = ended(nobody.node("n1", soon()));

  ASSERT_FALSE(node);
  // 22.05 says no more than that something is wrong; 24.11 answers HTTP 511.
  EXPECT_THAT(node.error().what,
              AllOf(AnyOf(HasSubstr("refuses the token"), HasSubstr("check user and token")),
                    HasSubstr(url), Not(HasSubstr(token.substr(10)))));
  ASSERT_FALSE(without_name);
  EXPECT_EQ(without_name.error().code, Code::kRefused) << without_name.error().what;
  EXPECT_THAT(without_name.error().what,
              AllOf(AnyOf(HasSubstr("Authentication failure"), HasSubstr("authentication error")),
                    HasSubstr("check user and token")));
}

TEST_F(RealSlurmrestdTest, HoldsANodeByAReservationOfTheRun) {
  inventory::SlurmSite local;
  local.configuration = (folder / "slurm.conf").string();
  local.reservation = true;
  Slurm slurm{local};
  inventory::Node node;
  node.slurm_name = "n1";
  const auto shown = [&] { return tool({"scontrol", "--oneliner", "show", "reservation"}).out; };

  const auto made = ended(slurm.reserve(node, "12", soon()));
  const auto again = ended(slurm.reserve(node, "12", soon()));
  const auto while_it_lasts = shown();
  const auto gone = ended(slurm.unreserve(node, "12", soon()));
  const auto gone_again = ended(slurm.unreserve(node, "12", soon()));

  EXPECT_TRUE(made && again && gone && gone_again) << (made ? "" : made.error().what);
  EXPECT_THAT(while_it_lasts, AllOf(HasSubstr("ReservationName=cupel-12-n1 "),
                                    HasSubstr("Nodes=n1 "), HasSubstr("Flags=MAINT,IGNORE_JOBS")));
  EXPECT_THAT(shown(), HasSubstr("No reservations"));
}

}  // namespace
}  // namespace cupel::handoff
