// Requests to a bucket of S3: how they are signed, and what is made of servers that refuse, hurry,
// break off or say too much.
#include "orchestrator/archive/bucket_client.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/archive/bucket_fault.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bucket.h"

namespace cupel::archive {
namespace {
using namespace std::chrono_literals;
using test::FakeBucket;
using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using test::s3_error;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kVariable = "CUPEL_TEST_S3_KEY";

NewObject object_of(std::string key, std::string bytes) {
  return {.key = std::move(key),
          .sha256 = sha256_hex(bytes),
          .metadata = {{"last", "17"}, {"chain-head", "17:ab"}, {"before", "3:cd"}},
          .load = [bytes]() -> Result<ObjectBody> { return ObjectBody{.bytes = bytes}; }};
}

class BucketClientTest : public ::testing::Test {
 protected:
  void SetUp() override { set_key(fake.access + ":" + fake.secret); }
  void TearDown() override { ::unsetenv(kVariable); }
  static void set_key(const std::string& text) { ::setenv(kVariable, text.c_str(), 1); }

  Bucket bucket() const {
    return {.endpoint = server.url(),
            .name = fake.name,
            .region = fake.region,
            .key = {inventory::SecretRef::Kind::env, kVariable}};
  }
  std::unique_ptr<BucketClient> client(Bucket of) const {
    return std::make_unique<BucketClient>(
        std::move(of), BucketLimits{.tries = 3, .first_pause = 1ms, .longest_pause = 20ms});
  }
  template <class T>
  T done(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  static Deadline deadline() { return Deadline::in(120s); }
  /// Answers the first so many requests so.
  void answer_first(int times, ReplayAnswer answer) {
    fake.habit = [left = times, answer](const ReplayRequest&) mutable {
      return left-- > 0 ? std::optional{answer} : std::nullopt;
    };
  }
  Error refused(ReplayAnswer answer) {
    answer_first(1, std::move(answer));
    const auto reached = done(ours->reach(deadline()));
    EXPECT_FALSE(reached);
    return reached ? Error{} : reached.error();
  }

  asio::io_context io{1};
  FakeBucket fake{};
  ReplayServer server{[this](const ReplayRequest& asked) { return fake(asked); }};
  std::unique_ptr<BucketClient> ours = client(bucket());
};

/// "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", examples.
TEST(SigV4, SignsThePublishedExamplesAsTheyArePublished) {
  constexpr const char* kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const test::SigningScope scope{.time = "20130524T000000Z"};
  const test::Heads heads{{"host", "examplebucket.s3.amazonaws.com"},
                          {"x-amz-date", "20130524T000000Z"},
                          {"x-amz-content-sha256", sha256_hex({})}};
  auto ranged = heads, put = heads;
  ranged["range"] = "bytes=0-9";
  put["date"] = "Fri, 24 May 2013 00:00:00 GMT";
  put["x-amz-storage-class"] = "REDUCED_REDUNDANCY";
  put["x-amz-content-sha256"] = sha256_hex("Welcome to Amazon S3.");
  const std::vector<std::string> names{"host", "x-amz-content-sha256", "x-amz-date"};

  EXPECT_EQ(test::sigv4("GET", "/test.txt", ranged,
                        {"host", "range", "x-amz-content-sha256", "x-amz-date"}, kSecret, scope),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(
      test::sigv4("PUT", "/test%24file.text", put,
                  {"date", "host", "x-amz-content-sha256", "x-amz-date", "x-amz-storage-class"},
                  kSecret, scope),
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  EXPECT_EQ(test::sigv4("GET", "/?lifecycle", heads, names, kSecret, scope),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(test::sigv4("GET", "/?max-keys=2&prefix=J", heads, names, kSecret, scope),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_F(BucketClientTest, MakesAnObjectLooksAtItAndReadsIt) {
  const Retention asked{"GOVERNANCE", "2030-01-02T03:04:05Z"};

  const auto reached = done(ours->reach(deadline()));
  const auto before = done(ours->look("a/b", deadline()));
  const auto put = done(ours->put(object_of("a/b", "what was seen"), asked, deadline()));
  const auto after = done(ours->look("a/b", deadline()));
  const auto read = done(ours->digest("a/b", deadline()));

  EXPECT_TRUE(reached) << reached.error().what;
  ASSERT_TRUE(before) << before.error().what;
  EXPECT_FALSE(*before);
  ASSERT_TRUE(put) << put.error().what;
  ASSERT_TRUE(after && *after) << after.error().what;
  EXPECT_EQ((*after)->sha256, sha256_hex("what was seen"));
  EXPECT_EQ((*after)->last, "17");
  EXPECT_EQ((*after)->chain_head, "17:ab");
  ASSERT_TRUE((*after)->retention);
  EXPECT_EQ((*after)->retention->mode, "GOVERNANCE");
  EXPECT_EQ((*after)->retention->until, "2030-01-02T03:04:05Z");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->sha256, sha256_hex("what was seen"));
  EXPECT_EQ((*read)->bytes, 13u);
  EXPECT_THAT(fake.faults, IsEmpty()) << "each signature is verified";
  EXPECT_THAT(server.lines(),
              ElementsAre("GET /evidence/?list-type=2&max-keys=1", "HEAD /evidence/a/b",
                          "PUT /evidence/a/b", "HEAD /evidence/a/b", "GET /evidence/a/b"));
}

TEST_F(BucketClientTest, SignsForABucketInTheHostAndWithASessionToken) {
  set_key(fake.access + ":" + fake.secret + ":FwoGZXIvYXdzEXAMPLE/+=");
  fake.in_host = true;
  auto of = bucket();
  of.in_host = true;
  // curl knows by itself that what ends with .localhost is this machine.
  of.endpoint.replace(of.endpoint.find("127.0.0.1"), 9, "localhost");
  auto there = client(of);

  const auto reached = done(there->reach(deadline()));

  EXPECT_TRUE(reached) << reached.error().what;
  ASSERT_FALSE(server.asked().empty());
  EXPECT_THAT(server.asked().front().head, AllOf(HasSubstr("Host: evidence.localhost:"),
                                                 HasSubstr("x-amz-security-token: FwoGZXI")));
  EXPECT_THAT(fake.faults, IsEmpty());
}

TEST_F(BucketClientTest, SendsAFileAndOneWithoutBytes) {
  const test::TemporaryFolder folder;
  const std::string large(700'000, 'x');
  std::ofstream{folder.path() / "large"} << large;
  auto object = object_of("large", large);
  object.load = [file = folder.path() / "large"]() -> Result<ObjectBody> {
    return ObjectBody{.file = file};
  };

  const auto put = done(ours->put(object, {}, deadline()));
  const auto empty = done(ours->put(object_of("empty", ""), {}, deadline()));

  EXPECT_TRUE(put) << put.error().what;
  EXPECT_TRUE(empty) << empty.error().what;
  EXPECT_EQ(fake.objects["large"].body, large);
  EXPECT_TRUE(fake.objects.contains("empty"));
  EXPECT_THAT(fake.faults, IsEmpty());
}

TEST_F(BucketClientTest, OverwritesNoObject) {
  fake.objects["a"] = {"of another", {}};

  const auto put = done(ours->put(object_of("a", "ours"), {}, deadline()));

  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::kConflict);
  EXPECT_EQ(fake.objects["a"].body, "of another");
}

TEST_F(BucketClientTest, TriesAgainWhereTheServerIsBusyOrBreaksOff) {
  const auto slow = s3_error(503, "SlowDown", "Please reduce your request rate.");
  const auto late = s3_error(400, "RequestTimeout", "Your socket connection was not read from.");
  auto cut = s3_error(200, "x", "y");
  cut.cut = true;
  auto no_head = ReplayAnswer{};
  no_head.cut = true;
  for (const auto& answer : {slow, late, cut, no_head}) {
    answer_first(2, answer);
    const auto put = done(ours->put(object_of("a", "ours"), {}, deadline()));
    EXPECT_TRUE(put) << put.error().what;
    EXPECT_EQ(fake.objects["a"].body, "ours") << answer.body;
    fake.objects.clear();
  }
}

TEST_F(BucketClientTest, GivesUpOnAServerThatStaysBusy) {
  answer_first(99, s3_error(503, "SlowDown", "Please reduce your request rate."));

  const auto reached = done(ours->reach(deadline()));

  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code, Code::kBusy);
  EXPECT_THAT(reached.error().what,
              AllOf(HasSubstr("HTTP 503 SlowDown: Please reduce your request rate; "),
                    HasSubstr("try again later")));
  EXPECT_EQ(server.asked().size(), 3u);
}

TEST_F(BucketClientTest, SaysWhatToDoWhereTheServerRefuses) {
  set_key(fake.access + ":wr0ngS3cretKey");
  const auto wrong_key = done(ours->reach(deadline()));
  ASSERT_FALSE(wrong_key);
  EXPECT_EQ(wrong_key.error().code, Code::kRefused);
  EXPECT_THAT(wrong_key.error().what,
              AllOf(HasSubstr("HTTP 403 SignatureDoesNotMatch"),
                    HasSubstr("the secret key in --key is not that of its access key"),
                    Not(HasSubstr("wr0ngS3cretKey"))));

  const auto skewed = refused(s3_error(403, "RequestTimeTooSkewed", "The difference is too large"));
  EXPECT_THAT(skewed.what, HasSubstr("see timedatectl"));

  const auto none = refused(s3_error(404, "NoSuchBucket", "The specified bucket does not exist"));
  EXPECT_EQ(none.code, Code::kNotFound);
  EXPECT_THAT(none.what, HasSubstr("name another one with --bucket"));

  auto moved = s3_error(301, "PermanentRedirect", "Use the specified endpoint.");
  moved.lines = "x-amz-bucket-region: eu-central-1\r\nLocation: https://127.0.0.1:9/\r\n";
  const auto elsewhere = refused(moved);
  EXPECT_EQ(elsewhere.code, Code::kInvalid);
  EXPECT_THAT(elsewhere.what, AllOf(HasSubstr("--region"), HasSubstr("is in eu-central-1")));

  const auto region = refused(s3_error(400, "AuthorizationHeaderMalformed", "the region is wrong",
                                       "<Region>us-west-2</Region>"));
  EXPECT_THAT(region.what, HasSubstr("is in us-west-2"));

  const auto denied = refused(s3_error(403, "AccessDenied", "Access Denied"));
  EXPECT_THAT(denied.what, HasSubstr("the key needs s3:ListBucket"));

  const auto page = refused({.body = "<html>login</html>", .content_type = "text/html"});
  EXPECT_EQ(page.code, Code::kMalformed);
}

TEST_F(BucketClientTest, ReadsTheBeginningOfAHugeErrorAndPrintsNoControlCharacters) {
  const auto error = refused(s3_error(400, "MalformedXML", "a\x1b[2J" + std::string(300'000, 'x')));

  EXPECT_THAT(error.what, AllOf(HasSubstr("HTTP 400 MalformedXML: a"), Not(HasSubstr("\x1b"))));
  EXPECT_LT(error.what.size(), 1'000u);
}

TEST_F(BucketClientTest, ShowsNoSecretThatTheServerSendsBack) {
  const auto error = refused(s3_error(400, "InvalidArgument", "with " + fake.secret));

  EXPECT_THAT(error.what, AllOf(HasSubstr("with (left out)"), Not(HasSubstr(fake.secret))));
}

TEST_F(BucketClientTest, RefusesAKeyOfAnotherFormWithoutShowingIt) {
  for (const auto* key : {"alone", "a:", ":b", "a:b:c:d", "a b:c", "a/b:c"}) {
    set_key(key);
    auto other = client(bucket());
    const auto reached = done(other->reach(deadline()));
    ASSERT_FALSE(reached) << key;
    EXPECT_EQ(reached.error().what,
              "--key: expected one line, ACCESS:SECRET or ACCESS:SECRET:SESSION_TOKEN");
  }
  EXPECT_THAT(server.asked(), IsEmpty());
}

TEST_F(BucketClientTest, AsksNoServerWhoseCertificateItDoesNotTrust) {
  ReplayServer secure{[](const ReplayRequest&) { return ReplayAnswer{}; }, true};
  auto of = bucket();
  of.endpoint = secure.url();
  auto there = client(of);

  const auto reached = done(there->reach(deadline()));

  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code, Code::kUntrusted);
  EXPECT_THAT(reached.error().what, HasSubstr("with --ca"));
  EXPECT_THAT(secure.asked(), IsEmpty());
}

TEST(BucketFault, IsEmptyWhereTheAnswerIsNoDocumentOfAnError) {
  for (const std::string_view text : {"", "<", "<html/>", "{}", "<Error><Code>"}) {
    const auto fault = parse_bucket_fault(text);
    EXPECT_EQ(fault.code, "") << text;
    EXPECT_NE(advice_on(500, fault), "");
  }
}

TEST(BucketUrl, HasTheBucketInThePathOrBeforeTheHost) {
  Bucket bucket{.endpoint = "https://s3.example.com:9000", .name = "evidence"};
  EXPECT_EQ(url_of(bucket, "cupel/a"), "https://s3.example.com:9000/evidence/cupel/a");
  bucket.in_host = true;
  EXPECT_EQ(url_of(bucket, "cupel/a"), "https://evidence.s3.example.com:9000/cupel/a");
}

}  // namespace
}  // namespace cupel::archive
