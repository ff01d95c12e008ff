// What the audit log has: each change before it is made, and refused tokens, of which no flood
// fills the store.
#include <pwd.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/digest.h"
#include "orchestrator/api/login_limits.h"
#include "orchestrator/controller/run_options.h"
#include "orchestrator/store/kept_replies.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using std::chrono::minutes;

class ApiAudit : public ApiTest {
 protected:
  std::size_t entries() { return get("/api/v1/audit").json().at("items").as_array().size(); }
  Heard log_in(const std::string& secret) {
    return ask(
        {.method = "POST", .target = "/api/v1/session", .body = R"({"token":")" + secret + "\"}"});
  }
};

TEST_F(ApiAudit, HasWhichTokenWasRefusedAndFromWhere) {
  serve();
  auto forged = token("alice", "viewer");
  forged.back() = forged.back() == '0' ? '1' : '0';

  ASSERT_EQ(ask_tls({.target = "/api/v1/runs", .token = forged}).status, 401);
  ASSERT_EQ(ask_tls({.target = "/api/v1/runs"}).status, 401) << "of no token";
  ASSERT_EQ(log_in("cupel_guess").status, 401);

  const auto log = get("/api/v1/audit").json();
  ASSERT_EQ(log.at("items").as_array().size(), 2u);
  const auto& bearer = log.at("items").at(0);
  EXPECT_EQ(bearer.at("what"), "token-refused");
  EXPECT_EQ(bearer.at("origin"), "127.0.0.1");
  EXPECT_EQ(std::string{bearer.at("data").at("token").as_string()}, forged.substr(6, 16));
  EXPECT_EQ(log.at("items").at(1).at("what"), "login-refused");
}

TEST_F(ApiAudit, IsNotFilledByRefusedLogins) {
  serve();

  for (int i = 0; i < 50; ++i) EXPECT_EQ(log_in("cupel_guess").status, 401);
  const auto by_one = entries();
  for (int i = 0; i < 12; ++i)
    (void)ask_tls(
        {.method = "POST", .target = "/api/v1/session", .body = R"({"token":"cupel_guess"})"});

  EXPECT_LE(by_one, 6u);
  EXPECT_LE(entries(), by_one + 6) << "none of those that were slowed down";
}

TEST_F(ApiAudit, ALoginIsARequestThatIsCounted) {
  write("service.yaml", "requests_per_second: 1\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);

  EXPECT_EQ(log_in("cupel_guess").status, 401);
  EXPECT_EQ(log_in("cupel_guess").status, 401);
  EXPECT_EQ(log_in("cupel_guess").status, 429);
}

TEST_F(ApiAudit, RequestsAreCountedByNameWhateverTokenTheyShow) {
  write("service.yaml", "requests_per_second: 1\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const std::vector of_alice{token("alice", "viewer"), token("alice", "viewer"),
                             token("alice", "viewer")};
  const auto whoami = [&](const std::string& secret) {
    return ask({.target = "/api/v1/whoami", .token = secret}).status;
  };

  EXPECT_EQ(whoami(of_alice[0]), 200);
  EXPECT_EQ(whoami(of_alice[1]), 200);
  EXPECT_EQ(whoami(of_alice[2]), 429);
  EXPECT_EQ(whoami(token("bob", "viewer")), 200);
}

TEST_F(ApiAudit, IsWrittenBeforeAChangeIsMade) {
  run_of_two();
  serve();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((state() / "cupel.db").c_str(), &database), SQLITE_OK);
  sqlite3_exec(database,
               "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END",
               nullptr, nullptr, nullptr);
  sqlite3_close(database);

  const auto paused = post("/api/v1/runs/1/commands", R"({"command":"pause"})", "1");

  EXPECT_EQ(paused.status, 507) << paused.body;
  EXPECT_TRUE(store().commands(1, 0).value().empty()) << "what is not noted is not done";
}

TEST_F(ApiAudit, APlanIsMadeEachTimeAndItsAnswerNotKept) {
  serve();
  const std::string body = R"({"playbook":"audit","nodes":"all"})";

  const auto first = post("/api/v1/plans", body, "key");
  const auto again = post("/api/v1/plans", body, "key");
  const auto started = post("/api/v1/runs", body, "key");
  const auto same = post("/api/v1/runs", body, "key");

  EXPECT_EQ(first.status, 404) << "there is no inventory";
  EXPECT_EQ(again.field("Idempotency-Replayed"), "");
  EXPECT_EQ(started.field("Idempotency-Replayed"), "") << "the key is still free";
  EXPECT_EQ(same.field("Idempotency-Replayed"), "true");
}

TEST_F(ApiAudit, AKeyHoldsOverACrashOfTheService) {
  run_of_two();
  const auto claim = [&](const std::string& key, const std::string& target,
                         const std::string& body) {
    store::KeptReply reply{::getpwuid(::geteuid())->pw_name, key,
                           sha256_hex("POST\n" + target + "\n" + body)};
    reply.at = report::wall_now();
    reply.body = "POST " + target;
    auto replies = *store::KeptReplies::open(store().folder());
    EXPECT_FALSE(*replies.claim(reply)) << "nothing is kept yet";
    return reply.id();
  };
  const std::string start = R"({"playbook":"audit","nodes":"a"})", pause = R"({"command":"pause"})";
  store::Run begun;
  begun.nodes = {"b01-n01"};
  controller::RunOptions options;
  options.request = claim("1", "/api/v1/runs", start);
  begun.options = controller::to_text(options);
  const auto run = *store().begin_run(begun);
  claim("2", "/api/v1/runs", start);
  claim("3", "/api/v1/runs/1/commands", pause);
  serve();

  const auto same = post("/api/v1/runs", start, "1"), other = post("/api/v1/runs", pause, "1");
  const auto anew = post("/api/v1/runs", start, "2");
  const auto command = post("/api/v1/runs/1/commands", pause, "3");

  EXPECT_EQ(same.status, 201) << same.body;
  EXPECT_EQ(same.json().at("run"), run);
  EXPECT_EQ(same.field("Location"), "/api/v1/runs/" + std::to_string(run));
  EXPECT_EQ(other.status, 422) << other.body;
  EXPECT_EQ(anew.status, 404) << "it began no run, and there is no inventory now: " << anew.body;
  EXPECT_EQ(command.status, 409) << command.body;
  EXPECT_TRUE(store().commands(1, 0).value().empty());
}

TEST(RefusalNotes, AreFewOfAnAddressAndBoundedForAll) {
  api::RefusalNotes notes;
  const api::RequestRate::Clock::time_point now{std::chrono::hours{1}};
  int of_one = 0;
  for (int i = 0; i < 100; ++i) of_one += notes.may("10.0.0.1", now) ? 1 : 0;
  EXPECT_EQ(of_one, 5);

  int all = of_one;
  for (int i = 0; i < 200; ++i) all += notes.may("10.1.0." + std::to_string(i), now) ? 1 : 0;
  EXPECT_EQ(all, 60);

  EXPECT_TRUE(notes.may("10.0.0.1", now + minutes{2}));
}

}  // namespace
}  // namespace cupel::test
