#include "base/for_each_of.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

using redfish::Request;

class Transport : public OverHttps {
 protected:
  Result<redfish::Response> get(std::string path) {
    Request request{.path = std::move(path)};
    return run(transport.send(peer(), std::move(request), soon()));
  }
  /// Two at a time.
  bool get_two() {
    const auto one = [this](const std::string& path) {
      return transport.send(peer(), Request{.path = path}, soon());
    };
    std::vector<std::string> paths{"/redfish/v1", "/redfish/v1/Systems"};
    const auto answers = run(for_each_of<redfish::Response>(std::move(paths), 2, one));
    return std::ranges::all_of(answers, [](const auto& each) { return each.has_value(); });
  }
  /// On a connection of its own, as every action.
  Result<redfish::Response> post(bool secret = false) {
    Request request{
        .method = redfish::Method::post, .path = "/redfish/v1/X", .body = "{}", .secret = secret};
    return run(transport.send(peer(), std::move(request), soon()));
  }
};

TEST_F(Transport, PinsTheCertificateThatItSeesFirst) {
  const auto answer = get("/redfish/v1");
  const auto again = get("/redfish/v1");

  ASSERT_TRUE(answer && again);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->content_type, "application/json");
  EXPECT_EQ(keys.pins, (std::map<std::string, std::string>{{"bmc:a01-n01", server.fingerprint()}}));
  EXPECT_EQ(keys.times, 1);
}

TEST_F(Transport, RefusesACertificateThatIsNotThePinnedOne) {
  const auto before = server.fingerprint();
  ASSERT_TRUE(get("/redfish/v1"));

  server.restart_with_new_certificate();
  const auto answer = get("/redfish/v1");

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kUntrusted);
  EXPECT_EQ(answer.error().what,
            "a01-n01: GET /redfish/v1: the certificate is not the one that was pinned: pinned " +
                before + ", presented " + server.fingerprint() +
                "; if this was meant, run: cupel bmc a01-n01 accept-certificate");
  EXPECT_EQ(keys.pins.at("bmc:a01-n01"), before);
  EXPECT_EQ(server.asked().requests, 1);
}

TEST_F(Transport, AcceptsTheNewCertificateOnceAPersonHasPinnedIt) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.restart_with_new_certificate();
  ASSERT_FALSE(get("/redfish/v1"));

  const auto presented = run(transport.presented_certificate(server.endpoint(), soon()));
  ASSERT_TRUE(presented) << presented.error().what;
  keys.pin("bmc:a01-n01", *presented);
  const auto answer = get("/redfish/v1");

  EXPECT_EQ(*presented, server.fingerprint());
  EXPECT_TRUE(answer) << answer.error().what;
}

TEST_F(Transport, ReadsAPresentedCertificateWithoutSendingARequest) {
  const auto presented = run(transport.presented_certificate(server.endpoint(), soon()));

  ASSERT_TRUE(presented);
  EXPECT_EQ(*presented, server.fingerprint());
  EXPECT_EQ(server.asked().requests, 0);
  EXPECT_TRUE(keys.pins.empty());
}

TEST_F(Transport, ResumesASessionWhoseCertificateItChecked) {
  ASSERT_TRUE(get("/redfish/v1"));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(post());

  EXPECT_EQ(server.asked().connections, 5);
  EXPECT_EQ(server.asked().resumed, 4);
  EXPECT_EQ(transport.handshakes(server.endpoint()).full, 1);
  EXPECT_EQ(transport.handshakes(server.endpoint()).resumed, 4);
}

TEST_F(Transport, ClosesAnIdleSecondConnection) {
  ASSERT_TRUE(get_two());
  ASSERT_TRUE(get_two());

  EXPECT_EQ(server.asked().connections, 3);
}

TEST_F(Transport, KeepsASecondConnectionThroughALongRead) {
  LongRead reading{transport.bmc_limits("a01-n01")};
  ASSERT_TRUE(get_two());
  ASSERT_TRUE(get_two());
  EXPECT_EQ(server.asked().connections, 2);

  reading.nearly_done();
  ASSERT_TRUE(get_two());
  ASSERT_TRUE(get_two());

  EXPECT_EQ(server.asked().connections, 3);
}

TEST_F(Transport, ResumesTls12SessionsToo) {
  server.speak_tls_1_2();
  ASSERT_TRUE(get("/redfish/v1"));

  ASSERT_TRUE(post());

  EXPECT_EQ(server.asked().resumed, 1);
}

TEST_F(Transport, SendsAPasswordOnlyWhereTheCertificateWasPresented) {
  ASSERT_TRUE(get("/redfish/v1"));
  ASSERT_TRUE(post());

  ASSERT_TRUE(post(true));

  EXPECT_EQ(server.asked().connections, 3);
  EXPECT_EQ(server.asked().resumed, 1);
}

TEST_F(Transport, DoesNotSendBasicOverAResumedSession) {
  ASSERT_TRUE(get("/redfish/v1"));
  ASSERT_TRUE(post());
  Request request{.path = "/redfish/v1/Systems", .basic = redfish::Basic{"admin", password}};

  const auto answer = run(transport.send(peer(), std::move(request), soon()));

  ASSERT_TRUE(answer);
  EXPECT_EQ(server.asked().connections, 3);
  EXPECT_EQ(server.asked().resumed, 1);
}

TEST_F(Transport, ForgetsItsTlsSessionsWhenThePinChanges) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.restart_with_new_certificate(true);
  keys.pins["bmc:a01-n01"] = server.fingerprint();

  const auto answer = post();

  EXPECT_TRUE(answer);
  EXPECT_EQ(server.asked().resumed, 0);
  EXPECT_EQ(transport.handshakes(server.endpoint()).full, 2);
}

TEST_F(Transport, DoesNotUseAConnectionThatWasMadeUnderAnotherPin) {
  ASSERT_TRUE(get("/redfish/v1"));
  keys.pins["bmc:a01-n01"] = "SHA256:" + std::string(64, '0');

  const auto answer = get("/redfish/v1");

  EXPECT_EQ(answer.error().code, Code::kUntrusted);
  EXPECT_EQ(server.asked().requests, 1);
}

// The BMC came back with another certificate and would still resume what began under the old one.
TEST_F(Transport, SendsNoPasswordAfterTheCertificateChangedInASession) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.restart_with_new_certificate(true);

  const auto answer = post(true);

  EXPECT_EQ(answer.error().code, Code::kUntrusted) << answer.error().what;
  EXPECT_EQ(server.asked().requests, 1);
}

TEST_F(Transport, AsksForTheCertificateAgainAfterAConnectionBroke) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.misbehave({.method = "POST", .kind = test::Habit::Kind::reset_connection});
  ASSERT_FALSE(post());

  ASSERT_TRUE(post());

  EXPECT_EQ(server.asked().connections, 3);
  EXPECT_EQ(server.asked().resumed, 1);  // the one that broke
}

TEST_F(Transport, ClosesTheConnectionWhereTheBmcWouldBreakIt) {
  for (int i = 0; i < 2; ++i) {
    Request request{.path = "/redfish/v1", .close_after = true};
    ASSERT_TRUE(run(transport.send(peer(), std::move(request), soon())));
  }

  EXPECT_EQ(server.asked().connections, 2);
}

TEST_F(Transport, LetsSlowAnswersHoldOnePlaceOnly) {
  test::Habit stuck{.method = "GET", .path = "/redfish/v1/Slow"};
  stuck.kind = test::Habit::Kind::never_answer;
  stuck.times = 10;
  server.misbehave(stuck);
  const auto ask = [this](std::string path) {
    Request request{.path = path};
    request.slow = path.find("Slow") != path.npos;
    const bool waits = request.slow && !path.ends_with("Slow/1");
    return transport.send(peer(), std::move(request), waits ? Deadline::in(100ms) : soon());
  };
  const std::vector<std::string> paths{"/redfish/v1/Slow/2", "/redfish/v1/Slow/3", "/redfish/v1",
                                       "/redfish/v1"};
  std::vector<Result<redfish::Response>> answers;
  const auto others = [&]() -> Task<void> {
    co_await arrived(1);
    answers = co_await for_each_of<redfish::Response>(paths, paths.size(), ask);
  };

  const auto first = cancelled_after(io, others(), ask("/redfish/v1/Slow/1"));

  EXPECT_EQ(first.error().code, Code::kCancelled);
  ASSERT_EQ(answers.size(), paths.size());
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(answers[i].error().code, Code::kTimeout);
  for (std::size_t i = 2; i < 4; ++i) EXPECT_TRUE(answers[i]);
  EXPECT_THAT(server.asked().lines,
              UnorderedElementsAre("GET /redfish/v1/Slow/1", "GET /redfish/v1", "GET /redfish/v1"));
}

TEST_F(Transport, CountsWhatItAskedAndHowItWent) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.misbehave(page(503, ""));
  ASSERT_TRUE(get("/redfish/v1/Systems/1"));
  server.misbehave({.kind = test::Habit::Kind::reset_connection});
  ASSERT_FALSE(post());
  ASSERT_TRUE(get("/redfish/v1"));

  const auto budget = transport.budget("a01-n01");

  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->requests, 4);
  EXPECT_EQ(budget->busy, 1);
  EXPECT_EQ(budget->resets, 1);
  EXPECT_GT(budget->bytes, 100);
  EXPECT_EQ(budget->places, 2);
  EXPECT_LT(health(*budget), 100);
  EXPECT_FALSE(transport.budget("a01-n02"));
}

TEST_F(Transport, HoldsTheCertificateAgainstTheInventorysPin) {
  trust = {.kind = inventory::Trust::Kind::pinned, .what = server.fingerprint()};
  EXPECT_TRUE(get("/redfish/v1"));
}

TEST_F(Transport, RefusesWhatTheInventoryDidNotPin) {
  trust = {.kind = inventory::Trust::Kind::pinned, .what = "SHA256:" + std::string(64, '0')};

  const auto answer = get("/redfish/v1");

  EXPECT_EQ(answer.error().code, Code::kUntrusted);
  EXPECT_THAT(answer.error().what, HasSubstr(server.fingerprint()));
  EXPECT_EQ(server.asked().requests, 0);
  EXPECT_TRUE(keys.pins.empty());
}

TEST_F(Transport, AcceptsACertificateOfTheConfiguredCa) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "ca.pem";
  ASSERT_TRUE(write_file(file, server.certificate_pem()));
  trust = {.kind = inventory::Trust::Kind::ca, .what = file.string()};

  const auto before = get("/redfish/v1");
  server.restart_with_new_certificate();
  const auto after = get("/redfish/v1");

  EXPECT_TRUE(before) << before.error().what;
  EXPECT_EQ(after.error().code, Code::kUntrusted) << after.error().what;
}

TEST_F(Transport, IsInvalidWithoutTheAuthoritysFile) {
  trust = {.kind = inventory::Trust::Kind::ca, .what = "/nowhere/ca.pem"};
  EXPECT_EQ(get("/redfish/v1").error().code, Code::kInvalid);
}

TEST_F(Transport, RefusesToTalkToOneBmcAsTwoNodes) {
  ASSERT_TRUE(get("/redfish/v1"));
  auto other = peer();
  other.node = "a01-n02";

  const auto answer = run(transport.send(other, Request{.path = "/redfish/v1"}, soon()));

  EXPECT_EQ(answer.error().code, Code::kInvalid);
  EXPECT_EQ(server.asked().requests, 1);
}

TEST_F(Transport, AsksAgainOnAFreshConnectionWhereTheKeptOneWasDead) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.misbehave({.kind = test::Habit::Kind::reset_connection});

  const auto answer = get("/redfish/v1");

  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(server.asked().connections, 2);
  EXPECT_EQ(server.asked().requests, 3);
}

TEST_F(Transport, KeepsItsConnection) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(get("/redfish/v1"));
  EXPECT_EQ(server.asked().connections, 1);
}

// Several BMCs refuse the weak ETags that come with compressed answers.
TEST_F(Transport, AsksForAnswersThatAreNotCompressed) {
  ASSERT_TRUE(get("/redfish/v1"));
  Request request{.method = redfish::Method::patch, .path = "/redfish/v1/X", .body = "{}"};
  (void)run(transport.send(peer(), std::move(request), soon()));

  EXPECT_EQ(server.asked().requests, 2);
  EXPECT_EQ(server.asked().compressible, 0);
}

TEST_F(Transport, NeverSendsAnActionTwice) {
  ASSERT_TRUE(get("/redfish/v1"));
  server.misbehave({.method = "POST", .kind = test::Habit::Kind::reset_connection});
  Request request{.method = redfish::Method::post, .path = "/redfish/v1/X", .body = "{}"};

  const auto answer = run(transport.send(peer(), std::move(request), soon()));

  EXPECT_EQ(answer.error().code, Code::kUnreachable);
  EXPECT_THAT(server.asked().lines, ElementsAre("GET /redfish/v1", "POST /redfish/v1/X"));
}

TEST_F(Transport, IsUnreachableWhereNoServerListens) {
  auto nobody = peer();
  nobody.endpoint.port = 1;

  const auto answer = run(transport.send(nobody, Request{.path = "/redfish/v1"}, soon()));

  EXPECT_EQ(answer.error().code, Code::kUnreachable);
  EXPECT_THAT(answer.error().what, HasSubstr("a01-n01: GET /redfish/v1: "));
}

TEST_F(Transport, GivesUpAtTheDeadline) {
  server.misbehave({.kind = test::Habit::Kind::never_answer});

  const auto answer =
      run(transport.send(peer(), Request{.path = "/redfish/v1"}, Deadline::in(60ms)));

  EXPECT_EQ(answer.error().code, Code::kTimeout);
}

TEST_F(Transport, NamesABmcThatOffersOnlyForbiddenVersionsOfTls) {
  server.speak_tls_1_1();

  const auto answer = get("/redfish/v1");

  EXPECT_EQ(answer.error().code, Code::kUnsupported);
  EXPECT_THAT(answer.error().what, HasSubstr("offers TLS 1.1 or older only; TLS 1.2 is needed"));
  EXPECT_THAT(answer.error().what, HasSubstr("write bmc: {protocol: ipmi}"));
}

TEST_F(Transport, CountsRequestsThatABmcAcceptedAndNeverAnswered) {
  const auto ask = [this] {
    (void)run(transport.send(peer(), Request{.path = "/redfish/v1"}, Deadline::in(1s)));
    return transport.budget("a01-n01")->silent;
  };
  server.change([](auto& options) { options.thinking = 1h; });

  EXPECT_EQ(ask(), 1);
  EXPECT_EQ(ask(), 2);
  server.change([](auto& options) { options.thinking = 0ms; });
  EXPECT_TRUE(get("/redfish/v1"));
  EXPECT_EQ(transport.budget("a01-n01")->silent, 0);
}

TEST_F(Transport, CountsNoRequestToABmcThatIsGoneAsOneThatItAccepted) {
  auto nobody = peer();
  nobody.endpoint.port = 1;

  (void)run(transport.send(nobody, Request{.path = "/redfish/v1"}, soon()));

  EXPECT_EQ(transport.budget("a01-n01")->silent, 0);
}

TEST_F(Transport, GoesOnAfterACancelledRequest) {
  server.misbehave({.kind = test::Habit::Kind::never_answer});
  auto stuck = transport.send(peer(), Request{.path = "/redfish/v1"}, soon());
  const auto stopped = cancelled_at_request(1, std::move(stuck));

  const auto answer = get("/redfish/v1");

  EXPECT_EQ(stopped.error().code, Code::kCancelled);
  EXPECT_TRUE(answer);
}

TEST_F(Transport, AsksOneBmcTwoThingsAtATime) {
  server.change([](auto& options) {
    options.gathers = 2;
    options.thinking = 20ms;  // for a third one to come, if it does
  });
  const auto ask = [this](int) {
    return transport.send(peer(), Request{.path = "/redfish/v1"}, Deadline::in(60s));
  };

  auto answers = run(for_each_of<redfish::Response>(std::vector<int>(12), 12, ask));

  for (const auto& answer : answers) EXPECT_TRUE(answer);
  EXPECT_EQ(server.asked().most_in_flight, 2);
  EXPECT_LE(server.asked().connections, 2);
}

TEST_F(Transport, BoundsItsConnectionsInAll) {
  test::HttpsServer other{{}};
  redfish::Transport narrow{io.get_executor(), {.connections = 1}};
  server.misbehave({.kind = test::Habit::Kind::never_answer});
  auto second = peer();
  second.node = "a01-n02";
  second.endpoint = other.endpoint();
  Code waited{};
  const auto ask_second = [&]() -> Task<void> {
    co_await arrived(1);
    const auto answer =
        co_await narrow.send(second, Request{.path = "/redfish/v1"}, Deadline::in(80ms));
    EXPECT_FALSE(answer);
    if (!answer) waited = answer.error().code;
  };

  const auto first = cancelled_after(io, ask_second(),
                                     narrow.send(peer(), Request{.path = "/redfish/v1"}, soon()));

  EXPECT_EQ(first.error().code, Code::kCancelled);
  EXPECT_EQ(waited, Code::kTimeout);
  EXPECT_EQ(server.asked().connections, 1);
  EXPECT_EQ(other.asked().connections, 0);
}

TEST_F(Transport, BoundsTheAnswer) {
  redfish::Transport small{io.get_executor(), {.response_bytes = 1000}};
  server.misbehave(page(200, std::string(5000, ' '), "/redfish/v1"));

  const auto answer = run(small.send(peer(), Request{.path = "/redfish/v1"}, soon()));

  EXPECT_EQ(answer.error().code, Code::kMalformed);
  EXPECT_THAT(answer.error().what, HasSubstr("more than 1000 bytes"));
}

TEST_F(Transport, FollowsARedirectOnTheSameBmc) {
  auto moved = page(301, "", "/redfish");
  moved.headers["Location"] = "https://" + to_string(server.endpoint()) + "/redfish/v1";
  server.misbehave(moved);

  const auto answer = get("/redfish");

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST_F(Transport, NeverFollowsARedirectOffTheBmc) {
  auto moved = page(307, "", "/redfish");
  moved.headers["Location"] = "https://elsewhere.example/redfish/v1";
  server.misbehave(moved);

  EXPECT_EQ(get("/redfish").error().code, Code::kMalformed);
  EXPECT_EQ(server.asked().requests, 1);
}

TEST_F(Transport, EndsARedirectThatGoesInCircles) {
  auto moved = page(302, "", "/redfish");
  moved.times = 100;
  moved.headers["Location"] = "/redfish/v1";
  server.misbehave(moved);

  EXPECT_EQ(get("/redfish/v1").error().code, Code::kMalformed);
  EXPECT_EQ(server.asked().requests, 4);
}

TEST_F(Transport, ReadsRetryAfterAndTheHeadersThatMatter) {
  auto busy = page(503, "<html>starting</html>", "/redfish");
  busy.headers = {{"Retry-After", "30"}, {"ETag", "W/\"7\""}, {"Content-Type", "text/html"}};
  server.misbehave(busy);

  const auto answer = get("/redfish/v1");

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->retry_after, 30s);
  EXPECT_EQ(answer->etag, "W/\"7\"");
  EXPECT_EQ(answer->content_type, "text/html");
}

}  // namespace
}  // namespace cupel::bmc
