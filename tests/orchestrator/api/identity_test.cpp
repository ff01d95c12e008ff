// Who may ask: tokens, sessions, web tokens, peers; and who may not.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <pwd.h>
#include <sqlite3.h>

#include <atomic>

#include "base/base64.h"
#include "orchestrator/api/login_limits.h"
#include "orchestrator/api/site_settings.h"
#include "orchestrator/store/check.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ApiIdentity : public ApiTest {
 protected:
  int status(const std::string& secret, const std::string& target = "/api/v1/runs") {
    return ask_tls({.target = target, .token = secret}).status;
  }
  static std::string base64url(std::string_view bytes) {
    auto text = base64(bytes);
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text.substr(0, text.find('='));
  }
};

TEST_F(ApiIdentity, NeedsATokenOnTheNetworkLoopbackIncluded) {
  serve();

  const auto nobody = ask_tls({.target = "/api/v1/runs"});

  EXPECT_EQ(nobody.status, 401);
  EXPECT_THAT(nobody.field("WWW-Authenticate"), HasSubstr("Bearer"));
  EXPECT_EQ(ask_tls({.target = "/metrics"}).status, 401);
  EXPECT_EQ(ask_tls({.target = "/healthz"}).status, 200);
}

TEST_F(ApiIdentity, RefusesExpiredRevokedAndForgedTokens) {
  serve();
  const auto good = token("alice", "viewer");
  const auto expired = token("bob", "viewer", {}, seconds{-1});
  const auto revoked = token("eve", "viewer");
  auto tokens = store::AccessTokens::open(state()).value();
  ASSERT_TRUE(tokens.revoke(store::token_id(revoked), report::wall_now()));
  auto forged = good;
  forged.back() = forged.back() == '0' ? '1' : '0';

  EXPECT_EQ(status(good), 200);
  EXPECT_EQ(status(expired), 401);
  EXPECT_EQ(status(revoked), 401);
  EXPECT_EQ(status(forged), 401);
  EXPECT_EQ(status("cupel_x"), 401);
}

TEST_F(ApiIdentity, KeepsNoSecretOfAToken) {
  const auto secret = token("alice", "viewer").substr(23);

  std::ifstream database{state() / "cupel.db", std::ios::binary};
  std::ifstream log{state() / "cupel.db-wal", std::ios::binary};
  std::ostringstream all;
  all << database.rdbuf();
  all << log.rdbuf();

  EXPECT_THAT(all.str(), HasSubstr("alice"));
  EXPECT_THAT(all.str(), Not(HasSubstr(secret)));
}

TEST_F(ApiIdentity, SlowsDownWhoGuesses) {
  serve();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status("cupel_guess"), 401);

  const auto next = ask_tls({.target = "/api/v1/runs", .token = "cupel_guess"});

  EXPECT_EQ(next.status, 429);
  EXPECT_NE(next.field("Retry-After"), "");
  EXPECT_EQ(get("/api/v1/runs").status, 200) << "another way in is not slowed down";
}

TEST_F(ApiIdentity, ARightSecretPassesWhateverOthersGuess) {
  std::atomic<seconds> passed{seconds{0}};
  auto options = usual();
  options.login_clock = [&passed] {
    return api::LoginLimits::Clock::time_point{std::chrono::hours{1}} + passed.load();
  };
  serve(std::move(options));
  const auto secret = token("alice", "viewer");
  const auto guess = secret.substr(0, 23) + std::string(64, '0');
  const auto seen = [&](int guesses) {
    std::vector<int> all;
    for (int i = 0; i < guesses; ++i) all.push_back(status(guess));
    return all;
  };

  EXPECT_THAT(seen(8), ElementsAre(401, 401, 401, 401, 401, 429, 429, 429)) << "five are free";
  passed = seconds{1};
  EXPECT_THAT(seen(2), ElementsAre(401, 429)) << "after a second, one";
  passed = seconds{2};
  EXPECT_THAT(seen(1), ElementsAre(429)) << "the wait has doubled";
  passed = seconds{3};
  EXPECT_THAT(seen(2), ElementsAre(401, 429));
  EXPECT_EQ(status(secret), 200) << "from the same address, with the id that was guessed at";
  const auto login = ask_tls(
      {.method = "POST", .target = "/api/v1/session", .body = R"({"token":")" + secret + R"("})"});
  EXPECT_EQ(login.status, 200) << login.body;
}

TEST_F(ApiIdentity, SessionsOfOneUserShutOutNoOther) {
  auto tokens = store::AccessTokens::open(state()).value();
  const auto now = report::wall_now();
  const auto session = [&](const std::string& parent, int second) {
    return tokens
        .add({.name = "eve",
              .role = "viewer",
              .session = true,
              .parent = parent,
              .made = now + seconds{second},
              .expires = now + std::chrono::hours{12}})
        .value();
  };
  const auto other = session("0123456789abcdef", 0);

  std::vector<std::string> made;
  for (int i = 0; i < store::AccessTokens::kMostSessions + 1; ++i)
    made.push_back(session("fedcba9876543210", i));

  EXPECT_FALSE(tokens.find(made[0])) << "the oldest has ended";
  EXPECT_TRUE(tokens.find(made[1]));
  EXPECT_TRUE(tokens.find(made.back()));
  EXPECT_TRUE(tokens.find(other));
}

TEST_F(ApiIdentity, CountsNoExpiredOrRevokedTokenAsAGuess) {
  serve();
  const auto good = token("alice", "viewer"), expired = token("bob", "viewer", {}, seconds{-1});
  const auto revoked = token("eve", "viewer");
  auto tokens = store::AccessTokens::open(state()).value();
  ASSERT_TRUE(tokens.revoke(store::token_id(revoked), report::wall_now()));
  const auto now = report::wall_now();
  const auto session = tokens
                           .add({.name = "carol",
                                 .role = "viewer",
                                 .session = true,
                                 .made_by = "carol",
                                 .made = now - std::chrono::hours{13},
                                 .expires = now - std::chrono::hours{1}})
                           .value();
  const auto later = token("dave", "viewer");  // tidies sessions up that ended long ago

  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(status(expired), 401) << i;
    EXPECT_EQ(status(revoked), 401) << i;
    const auto page =
        ask_tls({.target = "/api/v1/stream", .fields = {"Cookie: __Host-cupel=" + session}});
    EXPECT_EQ(page.status, 401) << i;
  }

  EXPECT_EQ(status(good), 200);
  EXPECT_EQ(status(later), 200);
}

TEST_F(ApiIdentity, BoundsWhatARoleMayDo) {
  run_of_two();
  serve();
  const auto viewer = token("v", "viewer"), operates = token("o", "operator");
  const auto pause = [&](const std::string& secret) {
    return ask_tls({.method = "POST",
                    .target = "/api/v1/runs/1/commands",
                    .body = R"({"command":"pause"})",
                    .token = secret,
                    .fields = {"Idempotency-Key: " + secret.substr(6, 16)}})
        .status;
  };

  EXPECT_EQ(pause(viewer), 403);
  EXPECT_EQ(pause(operates), 202);
  EXPECT_EQ(status(operates, "/api/v1/tokens"), 403);
  EXPECT_EQ(status(token("a", "admin"), "/api/v1/tokens"), 200);
}

TEST_F(ApiIdentity, KeepsACommandOfOtherRacksOut) {
  run_of_two();
  serve();
  const auto bounded = token("bob", "operator", {"a02"});
  const auto command = [&](const std::string& body, const std::string& key) {
    return ask_tls({.method = "POST",
                    .target = "/api/v1/runs/1/commands",
                    .body = body,
                    .token = bounded,
                    .fields = {"Idempotency-Key: " + key}})
        .status;
  };

  EXPECT_EQ(command(R"({"command":"cancel"})", "1"), 403);
  EXPECT_EQ(command(R"({"command":"retry","node":"a01-n01"})", "2"), 422);
  EXPECT_EQ(command(R"({"command":"retry","node":"a02-n01"})", "3"), 202);
}

TEST_F(ApiIdentity, APageLogsInOnceAndProvesEachChange) {
  run_of_two();
  serve();
  const auto logged_in = ask_tls({.method = "POST",
                                  .target = "/api/v1/session",
                                  .body = R"({"token":")" + token("alice", "operator") + "\"}"});
  ASSERT_EQ(logged_in.status, 200) << logged_in.body;
  const auto set = logged_in.field("Set-Cookie");
  const auto cookie = "Cookie: " + set.substr(0, set.find(';'));
  const auto csrf = std::string{logged_in.json().at("csrf").as_string()};
  const auto pause = [&](std::vector<std::string> fields) {
    fields.push_back("Idempotency-Key: k");
    return ask_tls({.method = "POST",
                    .target = "/api/v1/runs/1/commands",
                    .body = R"({"command":"pause"})",
                    .fields = std::move(fields)})
        .status;
  };

  for (const auto* word : {"HttpOnly", "Secure", "SameSite=Strict", "__Host-cupel="})
    EXPECT_THAT(set, HasSubstr(word));
  EXPECT_EQ(ask_tls({.target = "/api/v1/runs", .fields = {cookie}}).status, 200);
  EXPECT_EQ(pause({cookie}), 403) << "a cookie alone changes nothing";
  EXPECT_EQ(pause({cookie, "X-Cupel-CSRF: " + csrf}), 202);

  serve();  // restarted: the session is kept
  EXPECT_EQ(ask_tls({.target = "/api/v1/runs", .fields = {cookie}}).status, 200);
  const auto out = ask_tls({.method = "DELETE",
                            .target = "/api/v1/session",
                            .fields = {cookie, "X-Cupel-CSRF: " + csrf}});
  EXPECT_EQ(out.status, 204) << out.body;
  EXPECT_EQ(ask_tls({.target = "/api/v1/runs", .fields = {cookie}}).status, 401);
}

TEST_F(ApiIdentity, AcceptsWebTokensOfTheSitesProviderAlone) {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  std::string raw_key(32, '\0');
  std::size_t size = raw_key.size();
  EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw_key.data()), &size);
  write("keys.json",
        R"({"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":")" + base64url(raw_key) + "\"}]}");
  write("service.yaml",
        "oidc:\n  issuer: https://id.example\n  audience: cupel\n  keys: keys.json\n"
        "  name: email\n  grants:\n    - {group: ops, role: operator, racks: [a01]}\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const auto signed_token = [&](const std::string& header, const std::string& claims) {
    const auto text = base64url(header) + "." + base64url(claims);
    std::string signature(64, '\0');
    std::size_t length = signature.size();
    auto* context = EVP_MD_CTX_new();
    EVP_DigestSignInit(context, nullptr, nullptr, nullptr, key);
    EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &length,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(context);
    return text + "." + base64url(signature);
  };
  const auto claims = [](const std::string& audience, std::int64_t ends) {
    return R"({"iss":"https://id.example","aud":")" + audience +
           R"(","sub":"42","email":"carol@example","groups":["ops"],"exp":)" +
           std::to_string(ends) + "}";
  };
  const auto now = std::chrono::floor<seconds>(report::wall_now()).time_since_epoch().count();
  const std::string header = R"({"alg":"EdDSA","kid":"k1"})";
  const auto good = signed_token(header, claims("cupel", now + 60));

  const auto who = ask_tls({.target = "/api/v1/whoami", .token = good});

  ASSERT_EQ(who.status, 200) << who.body;
  EXPECT_EQ(who.json().at("name"), "carol@example");
  EXPECT_EQ(who.json().at("role"), "operator");
  EXPECT_EQ(who.json().at("racks").at(0), "a01");
  EXPECT_EQ(status(signed_token(header, claims("other", now + 60))), 401);
  EXPECT_EQ(status(signed_token(header, claims("cupel", now - 60))), 401);
  EXPECT_EQ(
      status(base64url(R"({"alg":"none"})") + "." + base64url(claims("cupel", now + 60)) + "."),
      401);
  EXPECT_EQ(status(signed_token(R"({"alg":"HS256"})", claims("cupel", now + 60))), 401);
  const auto known = token("dave", "viewer");
  // With a character that is not seen each of them is another text.
  for (const auto& [text, other] : {std::pair{"id.example", "id.example\\u200b"},
                                    {"carol@", "car\\u200bol@"},
                                    {"\"ops\"", "\"ops\\u200b\""}}) {
    auto hidden = claims("cupel", now + 60);
    hidden.replace(hidden.find(text), std::string_view{text}.size(), other);
    EXPECT_EQ(status(known), 200) << "it ends the count of those that were refused";
    EXPECT_EQ(status(signed_token(header, hidden)), 401) << other;
  }
  EVP_PKEY_free(key);
}

TEST_F(ApiIdentity, NamesTheProviderOfTheSiteToWhoHasNoLoginYet) {
  const auto serve_with = [&](const std::string& oidc) {
    write("service.yaml", oidc);
    auto options = usual();
    options.settings = file("service.yaml");
    serve(options);
    return ask_tls({.target = "/api/v1/login"});
  };
  const std::string rest = "  audience: cupel\n  keys: https://127.0.0.1:9/keys\n";

  const auto none = serve_with("names: [here]\n");
  const auto no_tls = serve_with("oidc:\n  issuer: id.example\n" + rest);
  const auto named =
      serve_with("oidc:\n  issuer: https://id.example\n  scope: openid groups\n" + rest);

  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(no_tls.status, 404);
  ASSERT_EQ(named.status, 200) << named.body;
  EXPECT_EQ(named.json(), parse_json(R"({"issuer":"https://id.example","client_id":"cupel",
                                         "scope":"openid groups"})")
                              .value());
}

TEST_F(ApiIdentity, AsksAProviderForNoScopeThatGivesNoIdToken) {
  std::vector<inventory::Problem> problems;

  const auto parsed = api::parse_site_settings(
      "oidc: {issuer: 'https://id.example', audience: a, keys: k, scope: groups}\n", "service.yaml",
      problems);

  EXPECT_FALSE(parsed);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].what, HasSubstr("scope is words with openid among them"));
}

TEST_F(ApiIdentity, TwoPeopleAreNeededWhereTheSiteSaysSo) {
  run_of_two();
  write("service.yaml", "two_person: [cancel]\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const auto alice = token("alice", "operator"), bob = token("bob", "operator");
  const auto send = [&](const std::string& who, const std::string& target, const std::string& body,
                        const std::string& key) {
    return ask_tls({.method = "POST",
                    .target = target,
                    .body = body,
                    .token = who,
                    .fields = {"Idempotency-Key: " + key}});
  };

  const auto asked = send(alice, "/api/v1/runs/1/commands", R"({"command":"cancel"})", "1");
  ASSERT_EQ(asked.status, 202) << asked.body;
  const auto approval = "/api/v1/approvals/" + std::string{asked.json().at("approval").as_string()};
  EXPECT_TRUE(store().commands(1, 0).value().empty()) << "nothing is done yet";
  const auto own = send(alice, approval, R"({"decision":"approve"})", "2");
  const auto other = send(bob, approval, R"({"decision":"approve"})", "3");
  const auto again = send(bob, approval, R"({"decision":"approve"})", "4");

  EXPECT_EQ(own.status, 403);
  EXPECT_EQ(other.status, 202) << other.body;
  EXPECT_EQ(again.status, 404);
  const auto commands = store().commands(1, 0).value();
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_THAT(commands[0].by, HasSubstr("alice (approved by bob) ("));
}

TEST_F(ApiIdentity, WhatARevokedTokenAskedForIsNotDone) {
  run_of_two();
  write("service.yaml", "two_person: [cancel]\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const auto eve = token("eve", "operator"), bob = token("bob", "operator");
  const auto send = [&](const std::string& who, const std::string& target, const std::string& body,
                        const std::string& key) {
    return ask_tls({.method = "POST",
                    .target = target,
                    .body = body,
                    .token = who,
                    .fields = {"Idempotency-Key: " + key}});
  };
  const auto asked = send(eve, "/api/v1/runs/1/commands", R"({"command":"cancel"})", "1");
  ASSERT_EQ(asked.status, 202) << asked.body;
  auto tokens = *store::AccessTokens::open(store().folder());
  ASSERT_TRUE(tokens.revoke(store::token_id(eve), report::wall_now()));

  const auto listed = ask_tls({.target = "/api/v1/approvals", .token = bob});
  const auto approved =
      send(bob, "/api/v1/approvals/" + std::string{asked.json().at("approval").as_string()},
           R"({"decision":"approve"})", "2");

  EXPECT_THAT(listed.body, ::testing::Not(HasSubstr("\"token\":")));
  EXPECT_EQ(approved.status, 409) << approved.body;
  EXPECT_THAT(approved.body, HasSubstr("the token has expired or is revoked"));
  EXPECT_TRUE(store().commands(1, 0).value().empty());
}

TEST_F(ApiIdentity, DropsACommandWhoseUserLostTheRack) {
  run_of_two();
  const auto user = "two_person: [cancel]\nusers:\n  - {role: operator, user: " +
                    std::string{::getpwuid(::geteuid())->pw_name};
  write("service.yaml", user + "}\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const auto asked = post("/api/v1/runs/1/commands", R"({"command":"cancel"})", "1");
  ASSERT_EQ(asked.status, 202) << asked.body;
  write("service.yaml", user + ", racks: [a01]}\n");
  ASSERT_TRUE(service().reload());

  const auto approved = ask_tls(
      {.method = "POST",
       .target = "/api/v1/approvals/" + std::string{asked.json().at("approval").as_string()},
       .body = R"({"decision":"approve"})",
       .token = token("bob", "operator"),
       .fields = {"Idempotency-Key: 2"}});

  EXPECT_EQ(approved.status, 409) << approved.body;
  EXPECT_THAT(approved.body, HasSubstr("on those racks any more"));
}

TEST_F(ApiIdentity, ASkipWithABlankReasonIsRefused) {
  run_of_two();
  serve();

  const auto blank = post("/api/v1/runs/1/commands",
                          R"({"command":"skip","node":"n","step":"s","reason":" "})", "1");

  EXPECT_EQ(blank.status, 422);
  EXPECT_THAT(blank.body, HasSubstr("body.reason"));
}

TEST_F(ApiIdentity, EachChangeIsInAChainThatShowsWhereItWasBroken) {
  run_of_two();
  serve();
  ASSERT_EQ(post("/api/v1/runs/1/commands", R"({"command":"pause","reason":"noise"})", "1").status,
            202);
  ASSERT_EQ(post("/api/v1/runs/1/commands", R"({"command":"unpause"})", "2").status, 202);

  const auto log = get("/api/v1/audit").json();

  ASSERT_EQ(log.at("items").as_array().size(), 2u);
  EXPECT_EQ(log.at("items").at(0).at("what"), "command");
  EXPECT_EQ(log.at("items").at(0).at("data").at("reason"), "noise");
  EXPECT_THAT(std::string{log.at("items").at(0).at("origin").as_string()}, HasSubstr("unix user"));
  EXPECT_TRUE(store::check_store(state()).value().faults.empty());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((state() / "cupel.db").c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "UPDATE audit SET who = 'eve' WHERE sequence = 2", nullptr, nullptr,
               nullptr);
  sqlite3_close(database);
  const auto broken = store::check_store(state()).value().faults;
  ASSERT_EQ(broken.size(), 1);
  EXPECT_EQ(broken.front().where, "audit log, entry 2");
  const auto command = store().commands(1, 0).value().at(0);
  EXPECT_THAT(command.by, HasSubstr("(unix user"));
}

TEST_F(ApiIdentity, TheSameRequestIsDoneOnce) {
  run_of_two();
  serve();
  const std::string target = "/api/v1/runs/1/commands", body = R"({"command":"pause"})";

  const auto first = post(target, body, "key-1");
  const auto again = post(target, body, "key-1");
  const auto other = post(target, R"({"command":"unpause"})", "key-1");
  serve();
  const auto later = post(target, body, "key-1");
  const auto without = ask({.method = "POST", .target = target, .body = body});

  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.field("Idempotency-Replayed"), "true");
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(later.body, first.body) << "a restart forgets no key";
  EXPECT_EQ(without.status, 400);
  EXPECT_EQ(store().commands(1, 0).value().size(), 1u);
}

TEST(LoginLimits, DoubleTheWaitAndForgetWhoGotIn) {
  api::LoginLimits limits;
  const api::LoginLimits::Clock::time_point now{std::chrono::hours{1}};
  for (int i = 0; i < 4; ++i) limits.refused("10.0.0.1", now);
  EXPECT_EQ(limits.wait("10.0.0.1", now), seconds{0});

  limits.refused("10.0.0.1", now);
  EXPECT_EQ(limits.wait("10.0.0.1", now), seconds{1});
  limits.refused("10.0.0.1", now);
  EXPECT_EQ(limits.wait("10.0.0.1", now), seconds{2});
  EXPECT_EQ(limits.wait("10.0.0.2", now), seconds{0});
  for (int i = 0; i < 40; ++i) limits.refused("10.0.0.1", now);
  EXPECT_EQ(limits.wait("10.0.0.1", now), api::LoginLimits::kLongest);

  limits.accepted("10.0.0.1");
  EXPECT_EQ(limits.wait("10.0.0.1", now), seconds{0});
}

TEST(RequestRate, AllowsBurstsOfTwiceARate) {
  api::RequestRate rate{10};
  const api::RequestRate::Clock::time_point now{std::chrono::hours{1}};

  int allowed = 0;
  for (int i = 0; i < 100; ++i) allowed += rate.may("alice", now) ? 1 : 0;
  int later = 0;
  for (int i = 0; i < 100; ++i) later += rate.may("alice", now + seconds{1}) ? 1 : 0;

  EXPECT_EQ(allowed, 20);
  EXPECT_EQ(later, 10);
  EXPECT_TRUE(rate.may("bob", now));
}

TEST(SiteSettings, AnEmptyListOfParametersIsNoneAndNotAll) {
  std::vector<inventory::Problem> problems;

  const auto none = api::parse_site_settings("parameters: []\n", "service.yaml", problems);
  const auto not_given = api::parse_site_settings("log: text\n", "service.yaml", problems);

  ASSERT_TRUE(none && not_given) << inventory::to_string(problems);
  EXPECT_EQ(none->parameters, std::set<std::string>{});
  EXPECT_EQ(not_given->parameters, std::nullopt);
}

TEST(SiteSettings, ListEveryErrorAtOnce) {
  std::vector<inventory::Problem> problems;

  const auto settings = api::parse_site_settings(
      "listen: [127.0.0.1:8443]\nusers:\n  - {user: alice, role: root}\n  - {user: bob}\n"
      "two_person: [begin]\nnotify: /bin/sh\nlog: xml\n",
      "service.yaml", problems);

  EXPECT_FALSE(settings);
  const auto text = inventory::to_string(problems);
  EXPECT_THAT(text, HasSubstr("service.yaml:3:"));
  EXPECT_THAT(text, HasSubstr("role is viewer, operator or admin, not 'root'"));
  EXPECT_THAT(text, HasSubstr("'begin' is none of start"));
  EXPECT_THAT(text, HasSubstr("notify"));
  EXPECT_THAT(text, HasSubstr("log is text or json, not 'xml'"));
}

}  // namespace
}  // namespace cupel::test
