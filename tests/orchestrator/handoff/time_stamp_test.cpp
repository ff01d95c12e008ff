// Time stamps by RFC 3161: what is asked for, and which answers are taken. The authority is
// OpenSSL's own.
#include "base/time_stamp.h"

#include <gmock/gmock.h>

#include <random>

#include "orchestrator/handoff/tsa_client.h"
#include "tests/support/captures.h"
#include "tests/support/damage.h"
#include "tests/support/replay_server.h"
#include "tests/support/tsa.h"

namespace cupel::handoff {
namespace {

using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using test::TsaKeys;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kBytes = "a certificate";

std::string why(const Result<TimeStamp>& stamp) {
  return stamp ? "it was taken" : stamp.error().what;
}

std::optional<Code> code_of(const Result<TimeStamp>& stamp) {
  return stamp ? std::nullopt : std::optional{stamp.error().code};
}

class TimeStamps : public ::testing::Test {
 protected:
  std::filesystem::path fresh(const char* name) const {
    std::filesystem::create_directory(folder.path() / name);
    return folder.path() / name;
  }
  static std::string request() { return *time_stamp_request(kBytes); }

  test::TemporaryFolder folder;
  TsaKeys keys{fresh("tsa")};
};

TEST_F(TimeStamps, AskForTheDigestWithAFreshNonceAndTheCertificate) {
  const auto text = test::text_of_request(folder.path(), request());

  EXPECT_THAT(text, HasSubstr("Hash Algorithm: sha256"));
  EXPECT_THAT(text, HasSubstr("Nonce: 0x"));
  EXPECT_THAT(text, HasSubstr("Certificate required: yes"));
  EXPECT_NE(request(), request()) << "two requests with one nonce";
}

TEST_F(TimeStamps, OfAnAuthorityThatIsTrustedAreTakenAndStayGood) {
  const auto asked = request();
  const auto answer = keys.reply(asked);

  const auto fresh = check_answer(answer, asked, keys.ca());
  const auto kept = check_time_stamp(answer, kBytes, keys.ca());

  ASSERT_TRUE(fresh) << fresh.error().what;
  ASSERT_TRUE(kept) << kept.error().what;
  EXPECT_EQ(kept->by, "CN=TSA of the site,O=Example");
  EXPECT_EQ(kept->policy, "1.2.3.4.1");
  EXPECT_EQ(kept->serial, "01");
  EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - kept->at), std::chrono::hours{24});
}

TEST_F(TimeStamps, OfOtherBytesAnotherNonceOrAnotherAuthorityAreRefused) {
  const auto asked = request();
  const auto answer = keys.reply(asked);
  const TsaKeys others{fresh("others")};

  const auto bytes = check_time_stamp(answer, "another certificate", keys.ca());
  const auto replayed = check_answer(answer, request(), keys.ca());
  const auto stranger = check_time_stamp(answer, kBytes, others.ca());

  for (const auto* each : {&bytes, &replayed, &stranger})
    EXPECT_EQ(code_of(*each), Code::kUntrusted) << why(*each);
  EXPECT_THAT(why(bytes), HasSubstr("message imprint mismatch"));
  EXPECT_THAT(why(replayed), HasSubstr("nonce"));
  EXPECT_THAT(why(stranger), HasSubstr("certificate verify error"));
}

TEST_F(TimeStamps, OfACertificateThatIsNotForTimeStampsAloneAreRefused) {
  const auto asked = request();
  const auto answer = keys.reply(asked);

  const auto good =
      check_answer(keys.signed_again(answer, TsaKeys::kForTimeStamps), asked, keys.ca());
  EXPECT_TRUE(good) << why(good) << ": this test's own way of signing";
  for (const auto* purpose :
       {"extendedKeyUsage=critical,serverAuth\n", "extendedKeyUsage=timeStamping\n",
        "extendedKeyUsage=critical,timeStamping,codeSigning\n", "basicConstraints=CA:FALSE\n",
        "keyUsage=critical,keyEncipherment\nextendedKeyUsage=critical,timeStamping\n"}) {
    const auto wrong = check_answer(keys.signed_again(answer, purpose), asked, keys.ca());
    EXPECT_EQ(code_of(wrong), Code::kUntrusted) << purpose;
    EXPECT_THAT(why(wrong), HasSubstr("certificate purpose")) << purpose;
  }
}

TEST_F(TimeStamps, SignedOverAWeakDigestAreRefused) {
  const auto asked = request();

  const auto weak = check_answer(keys.reply(asked, "sha1"), asked, keys.ca());
  const auto strong = check_answer(keys.reply(asked, "sha512"), asked, keys.ca());

  EXPECT_EQ(code_of(weak), Code::kUntrusted);
  EXPECT_THAT(why(weak), HasSubstr("weaker than SHA-256"));
  EXPECT_TRUE(strong) << why(strong);
}

TEST_F(TimeStamps, ThatWereRefusedSayWhy) {
  const auto asked = request();

  const auto refused = check_answer(keys.reply(asked, "sha256", "sha512"), asked, keys.ca());

  EXPECT_EQ(code_of(refused), Code::kFailed);
  EXPECT_THAT(why(refused),
              AllOf(StartsWith("the time-stamping authority refused: "), HasSubstr("badAlg")));
}

TEST_F(TimeStamps, ThatAreCutDamagedOrLongerAreRefused) {
  const auto answer = keys.reply(request());
  for (std::size_t size = 0; size < answer.size(); size += 7)
    EXPECT_EQ(code_of(check_time_stamp(answer.substr(0, size), kBytes, keys.ca())),
              Code::kMalformed)
        << size;
  EXPECT_EQ(code_of(check_time_stamp(answer + "x", kBytes, keys.ca())), Code::kMalformed);
  EXPECT_EQ(code_of(check_time_stamp(std::string(kLargestTimeStamp + 1, '0'), kBytes, keys.ca())),
            Code::kMalformed);
  std::mt19937 random{4};
  for (int i = 0; i < 300; ++i) {
    const auto other = test::damaged(answer, random);
    const auto stamp = check_time_stamp(other, kBytes, keys.ca());
    EXPECT_TRUE(!stamp || stamp->serial == "01") << i;
  }
}

TEST_F(TimeStamps, NeedAnAuthority) {
  const auto answer = keys.reply(request());
  for (const auto* none : {"", " ", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n"}) {
    EXPECT_EQ(code_of(check_time_stamp(answer, kBytes, none)), Code::kInvalid) << none;
    EXPECT_FALSE(check_authorities(none)) << none;
  }
  EXPECT_TRUE(check_authorities(keys.ca()));
  EXPECT_TRUE(check_authorities("Authority:\n" + keys.ca() + "\n" + keys.ca()));
  auto second = keys.ca();
  second.replace(second.find("MII"), 3, "AAA");
  const auto damaged = check_authorities(keys.ca() + second + keys.ca());
  ASSERT_FALSE(damaged) << "those behind it would be left out without a word";
  EXPECT_THAT(damaged.error().what, StartsWith("certificate 2 of it is damaged"));
}

Result<std::string> ask(const std::string& url, std::string request = "q") {
  asio::io_context io{1};
  return run_to_end(io, ask_tsa(url, std::move(request)));
}

TEST_F(TimeStamps, AreAskedForAsRfc3161Says) {
  ReplayServer server{
      [&](const ReplayRequest& asked) { return ReplayAnswer{.body = keys.reply(asked.body)}; }};
  const auto asked = request();

  const auto answer = ask(server.url() + "/tsr", asked);

  ASSERT_TRUE(answer) << answer.error().what;
  const auto seen = server.asked().at(0);
  EXPECT_THAT(seen.head, StartsWith("POST /tsr HTTP/1.1\r\n"));
  EXPECT_THAT(seen.head, HasSubstr("Content-Type: application/timestamp-query\r\n"));
  EXPECT_EQ(seen.body, asked);
  EXPECT_TRUE(check_answer(*answer, asked, keys.ca()));
}

TEST_F(TimeStamps, OfAServerThatIsNoAuthorityAreErrorsThatNameIt) {
  int status = 404;
  std::string body = "no such page\x1b[2J";
  ReplayServer server{
      [&](const ReplayRequest&) { return ReplayAnswer{.status = status, .body = body}; }};

  const auto missing = ask(server.url());
  status = 401;
  const auto login = ask(server.url());
  status = 200;
  body = std::string(kLargestTimeStamp + 1, 'x');
  const auto large = ask(server.url());
  const auto closed = ask("http://127.0.0.1:9/");

  for (const auto* each : {&missing, &login, &large, &closed}) {
    ASSERT_FALSE(*each);
    EXPECT_THAT(each->error().what, StartsWith("the TSA at http://127.0.0.1:"));
    EXPECT_EQ(each->error().what.find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(missing.error().what, HasSubstr("HTTP 404: no such page"));
  EXPECT_THAT(login.error().what, HasSubstr("wants a login"));
  EXPECT_THAT(large.error().what, HasSubstr("more than 65536 bytes"));
  EXPECT_EQ(closed.error().code, Code::kUnreachable);
}

TEST(TsaUrl, IsOneOfHttpWithoutAPassword) {
  for (const auto* good : {"http://tsa.example.com/tsr", "https://10.0.0.1:3318", "HTTP://a/?x=1"})
    EXPECT_EQ(fault_in_tsa_url(good), std::nullopt) << good;
  for (const auto* bad : {"", " ", "tsa.example.com", "ftp://a/", "file:///etc/passwd", "http://",
                          "http://u:p@a/", "http://a/#x", "unix:/run/x", "http://a/\n"})
    EXPECT_NE(fault_in_tsa_url(bad), std::nullopt) << bad;
  EXPECT_NE(fault_in_tsa_url("http://a/" + std::string(3000, 'x')), std::nullopt);
}

}  // namespace
}  // namespace cupel::handoff
