// What RFC 9110, 9112 and 9457 ask of any server: fields, preconditions and problems.
#include "orchestrator/api/entity_tag.h"
#include "orchestrator/api/problem.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::MatchesRegex;

class ApiHttpRules : public ApiTest {
 protected:
  static constexpr api::StaticFile kPage[] = {
      {"/", "text/html; charset=utf-8", "<html></html>", "", false},
      {"/app-1.js", "text/javascript", "plain", "packed", true}};
  void serve_page() {
    auto options = usual();
    options.page = kPage;
    serve(options);
  }
};

TEST_F(ApiHttpRules, EveryAnswerHasADate) {
  serve_page();

  for (const auto* target : {"/", "/api/v1/runs", "/api/v1/runs/9", "/healthz"})
    EXPECT_THAT(get(target).field("Date"),
                MatchesRegex("[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} "
                             "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"))
        << target;
}

TEST_F(ApiHttpRules, AnswersOverTlsKeepABrowserToTlsAndThoseInClearDoNot) {
  serve_page();

  for (const auto* target : {"/", "/api/v1/runs", "/healthz"}) {
    EXPECT_EQ(ask_tls({.target = target}).field("Strict-Transport-Security"), "max-age=2592000")
        << target;
    EXPECT_EQ(get(target).field("Strict-Transport-Security"), "") << target;
  }
}

TEST_F(ApiHttpRules, RequestsHaveOneHost) {
  serve();

  EXPECT_EQ(heard_of(raw("GET /healthz HTTP/1.1\r\n\r\n")).status, 400);
  EXPECT_EQ(heard_of(raw("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")).status, 400);
  EXPECT_EQ(heard_of(raw("GET /healthz HTTP/1.0\r\n\r\n")).status, 200);
}

TEST_F(ApiHttpRules, TakesNoIdentityFromATrailer) {
  serve();
  const auto field = "Authorization: Bearer " + token("alice", "viewer") + "\r\n";
  const auto asked = [&](const std::string& head, const std::string& trailer) {
    return heard_of(raw_tls("POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nConnection: "
                            "close\r\nContent-Type: "
                            "application/json\r\nTransfer-Encoding: chunked\r\n" +
                            head + "\r\n2\r\n{}\r\n0\r\n" + trailer + "\r\n"))
        .status;
  };

  EXPECT_NE(asked(field, ""), 401);
  EXPECT_EQ(asked("", field), 401);
}

TEST_F(ApiHttpRules, ABodyOfAnUnknownCodingIsNoRequest) {
  serve();

  for (const auto* coding : {"xchunked", "identity", "gzip, chunked", "chunked, identity"}) {
    const auto answer =
        raw("POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " +
            std::string{coding} +
            "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: "
            "localhost\r\n\r\n");
    EXPECT_THAT(heard_of(answer).status, ::testing::AnyOf(400, 501)) << coding;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), answer.npos) << coding << ": " << answer;
  }
}

/// What a proxy in front may read as two requests where this is one, or as one where this is two.
TEST_F(ApiHttpRules, ABodyWhoseEndIsInDoubtEndsTheConnection) {
  serve();

  for (const auto* head :
       {"HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
        "HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        "HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 0", "HTTP/1.1\r\nContent-Length: 5, 0",
        "HTTP/1.1\r\nContent-Length: -1", "HTTP/1.1\r\nContent-Length: 0x5",
        "HTTP/1.1\r\nContent-Length : 5", "HTTP/1.1\r\nTransfer-Encoding : chunked",
        "HTTP/1.1\r\nTransfer-Encoding: chunked,", "HTTP/1.1\r\nTransfer-Encoding: \"chunked\""}) {
    const auto answer = raw(std::string{"POST /api/v1/plans "} + head +
                            "\r\nHost: localhost\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: "
                            "localhost\r\n\r\n");
    EXPECT_THAT(heard_of(answer).status, ::testing::AnyOf(400, 501)) << head;
    EXPECT_EQ(answer.find("HTTP/1.1 200"), answer.npos) << head << ": " << answer;
  }
}

TEST_F(ApiHttpRules, TakesATargetWithItsHost) {
  serve();
  const auto secret = token("alice", "viewer");
  const auto status = [&](const std::string& target) {
    return ask_tls({.target = target, .token = secret}).status;
  };

  EXPECT_EQ(status("https://localhost/api/v1/runs?limit=1"), 200);
  EXPECT_EQ(status("https://evil.example/api/v1/runs"), 403) << "it replaces the Host field";
  EXPECT_EQ(status("ftp://localhost/api/v1/runs"), 400);
}

TEST_F(ApiHttpRules, A405NamesEveryMethod) {
  serve_page();

  const auto operation = ask({.method = "DELETE", .target = "/api/v1/runs"});
  const auto page = ask({.method = "DELETE", .target = "/"});

  EXPECT_EQ(operation.status, 405);
  EXPECT_EQ(operation.field("Allow"), "GET, HEAD, POST");
  EXPECT_EQ(page.status, 405);
  EXPECT_EQ(page.field("Allow"), "GET, HEAD");
}

TEST_F(ApiHttpRules, A415NamesWhatIsTaken) {
  serve();
  const auto post_with = [&](const std::string& type, const std::string& coding) {
    return ask({.method = "POST",
                .target = "/api/v1/plans",
                .fields = {"Idempotency-Key: k", "Content-Type: " + type,
                           "Content-Encoding: " + coding, "Content-Length: 0"}});
  };

  const auto form = post_with("text/plain", "identity");
  const auto packed = post_with("application/json", "gzip");

  EXPECT_EQ(form.status, 415);
  EXPECT_EQ(form.field("Accept"), "application/json");
  EXPECT_EQ(packed.status, 415);
  EXPECT_EQ(packed.field("Accept-Encoding"), "identity");
}

TEST_F(ApiHttpRules, PreconditionsHoldForThePageAndForAnswers) {
  run_of_two();
  serve_page();

  for (const auto* target : {"/", "/api/v1/runs/1/nodes"}) {
    const auto tag = get(target).field("ETag");
    ASSERT_FALSE(tag.empty()) << target;
    for (const auto& list : {tag, "W/" + tag, "\"a\", " + tag, std::string{"*"}}) {
      const auto same = get(target, {"If-None-Match: " + list});
      EXPECT_EQ(same.status, 304) << target << " " << list;
      EXPECT_EQ(same.field("ETag"), tag) << target << " " << list;
      EXPECT_NE(same.field("Cache-Control"), "") << target << " " << list;
    }
    EXPECT_EQ(get(target, {"If-None-Match: \"a\""}).status, 200) << target;
  }
  EXPECT_EQ(get("/api/v1/runs/1/nodes", {"If-Match: \"a\""}).status, 412);
  EXPECT_EQ(get("/api/v1/runs/1/nodes", {"If-Match: *"}).status, 200);
}

TEST_F(ApiHttpRules, AHeadIsThatOfTheGet) {
  run_of_two();
  serve_page();

  for (const auto* target : {"/app-1.js", "/api/v1/runs/1/nodes", "/api/v1/runs/9"}) {
    const auto whole = get(target);
    const auto head = ask({.method = "HEAD", .target = target});

    EXPECT_EQ(head.status, whole.status) << target;
    EXPECT_EQ(head.body, "") << target;
    for (const auto* field : {"Content-Type", "Content-Length", "ETag", "Cache-Control"})
      EXPECT_EQ(head.field(field), whole.field(field)) << target;
  }
}

TEST(AcceptEncoding, TakesGzipUnlessItsWeightIsZero) {
  for (const auto* field : {"gzip", "br, GZip;q=0.5", "x-gzip", "*", "*;q=0, gzip"})
    EXPECT_TRUE(api::accepts_gzip(field)) << field;
  for (const auto* field : {"", "br", "gzip;q=0", "gzip ; Q=0.000", "*;q=0", "gzip;q=0, *"})
    EXPECT_FALSE(api::accepts_gzip(field)) << field;
}

TEST(EntityTag, IsComparedAsTheFieldAsks) {
  EXPECT_TRUE(api::has_tag("\"b\", W/\"a\"", "\"a\""));
  EXPECT_FALSE(api::has_strong_tag("\"b\", W/\"a\"", "\"a\""));
  EXPECT_TRUE(api::has_strong_tag("\"b\", \"a\"", "\"a\""));
  EXPECT_FALSE(api::has_tag("", "\"a\""));
}

TEST(ProblemDetails, HaveOneTitleForEachType) {
  const auto title = [](unsigned status, const std::string& code) {
    return parse_json(*api::answer_of(api::Problem{status, code, "why"}).body).value().at("title");
  };

  EXPECT_EQ(title(400, "invalid"), title(422, "invalid"));
  EXPECT_EQ(title(413, "too-large"), title(431, "too-large"));
  EXPECT_NE(title(412, "changed"), title(500, "internal"));
}

}  // namespace
}  // namespace cupel::test
