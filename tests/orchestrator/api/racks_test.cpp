// Who may see some racks sees nothing of the others: not in a run that has nodes of both, not in
// what other people ask for, not in the stream of all runs.
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class ApiRacks : public ApiTest {
 protected:
  Heard send(const std::string& secret, const std::string& target, const std::string& body,
             const std::string& key) {
    return ask_tls({.method = "POST",
                    .target = target,
                    .body = body,
                    .token = secret,
                    .fields = {"Idempotency-Key: " + key}});
  }
  std::size_t items(const std::string& secret, const std::string& target) {
    const auto heard = ask_tls({.target = target, .token = secret});
    EXPECT_EQ(heard.status, 200) << heard.body;
    return heard.json().at("items").as_array().size();
  }
};

TEST_F(ApiRacks, BoundWhatARunShowsOfItself) {
  const auto run = run_of_two();
  append(run, engine::EventKind::step_overdue, "a02-n01", "bmc-facts", R"({"expected_s":1})");
  serve();

  const auto whole = get("/api/v1/runs/1").json();
  const auto bounded =
      ask_tls({.target = "/api/v1/runs/1", .token = token("bob", "viewer", {"a01"})});

  ASSERT_EQ(whole.at("standing").at("overdue").as_array().size(), 1u);
  ASSERT_EQ(bounded.status, 200) << bounded.body;
  EXPECT_THAT(bounded.body, Not(HasSubstr("a02")));
  const auto body = bounded.json();
  EXPECT_EQ(body.at("nodes"), 1);
  EXPECT_EQ(body.at("racks").as_array().size(), 1u);
  EXPECT_EQ(body.at("standing").at("running"), json::object{});
}

TEST_F(ApiRacks, AllOfARunAreNeededForItsStatus) {
  run_of_two();
  serve();

  const auto target = "/api/v1/runs/1/status";
  const auto part = ask_tls({.target = target, .token = token("bob", "viewer", {"a01"})});
  const auto all = ask_tls({.target = target, .token = token("eve", "viewer", {"a01", "a02"})});

  EXPECT_EQ(part.status, 403) << part.body;
  EXPECT_THAT(part.body, Not(HasSubstr("a02")));
  EXPECT_EQ(all.status, 200) << all.body;
}

TEST_F(ApiRacks, BoundTheStreamOfAllRuns) {
  store::Run other;
  other.playbook = "small";
  other.nodes = {"a01-n02"};
  const auto hidden = store().begin_run(other).value();
  append(hidden, engine::EventKind::run_started, "", "",
         R"({"racks":[{"name":"a01","units":48}],"nodes":[{"name":"a01-n02","profile":"p",
         "rack":"a01","unit":9,"height":4}],"steps":["verdict"],"by":"alice"})");
  append(hidden, engine::EventKind::run_paused, "", "", R"({"by":"alice"})");
  run_of_two();
  serve();

  const auto text =
      raw_tls_until_token_ends("/api/v1/stream?after=0;", "\"run\":2,\"sequence\":6,", {"a02"});

  EXPECT_THAT(text, HasSubstr("\"run\":2,\"sequence\":1,"));
  EXPECT_THAT(text, HasSubstr("\"run\":2,\"sequence\":6,"));
  EXPECT_THAT(text, Not(HasSubstr("\"run\":1,")));
}

TEST_F(ApiRacks, BoundTheRequestsThatOneMayApproveOrReject) {
  run_of_two();
  write("service.yaml", "two_person: [cancel]\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const auto alice = token("alice", "operator"), carol = token("carol", "operator");
  const auto bob = token("bob", "operator", {"a02"});
  const auto asked = send(alice, "/api/v1/runs/1/commands", R"({"command":"cancel"})", "1");
  ASSERT_EQ(asked.status, 202) << asked.body;
  const auto approval = "/api/v1/approvals/" + std::string{asked.json().at("approval").as_string()};

  EXPECT_EQ(items(bob, "/api/v1/approvals"), 0u);
  EXPECT_EQ(send(bob, approval, R"({"decision":"approve"})", "2").status, 404);
  EXPECT_EQ(send(bob, approval, R"({"decision":"reject"})", "3").status, 404);
  EXPECT_EQ(items(carol, "/api/v1/approvals"), 1u);
  EXPECT_EQ(send(carol, approval, R"({"decision":"approve"})", "4").status, 202);
  EXPECT_THAT(store().commands(1, 0).value(), SizeIs(1));
}

TEST_F(ApiRacks, BoundAnAdminToItsTokensAndKeepTheAuditLog) {
  serve();
  const auto all = token("alice", "viewer"), theirs = token("dave", "viewer", {"a02"});
  const auto bounded = token("bob", "admin", {"a02", "a03"});
  const auto revoke = [&](const std::string& secret) {
    return ask_tls({.method = "DELETE",
                    .target = "/api/v1/tokens/" + std::string{store::token_id(secret)},
                    .token = bounded})
        .status;
  };

  EXPECT_EQ(items(bounded, "/api/v1/tokens"), 2u) << "its own and that of a02";
  EXPECT_EQ(revoke(all), 404);
  EXPECT_EQ(revoke(theirs), 204);
  EXPECT_EQ(ask_tls({.target = "/api/v1/whoami", .token = all}).status, 200);
  EXPECT_EQ(ask_tls({.target = "/api/v1/audit", .token = bounded}).status, 403);
}

}  // namespace
}  // namespace cupel::test
