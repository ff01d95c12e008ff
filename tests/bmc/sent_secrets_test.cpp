// What a BMC was sent never comes back out of what it answers.
#include "bmc/sent_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/echo.h"

namespace cupel::bmc {
namespace {

using In = SentSecrets::In;
using ::testing::HasSubstr;
using ::testing::Not;

/// A password with everything in it that somebody escapes.
const std::string kPlanted = R"(Pl4n t"ed\s3&cr<et%41'+)";

TEST(SentSecrets, HidesAPasswordInEverySpelling) {
  SentSecrets secrets;
  secrets.add_login("admin", kPlanted);

  for (const auto& spelled : test::spellings(kPlanted))
    EXPECT_EQ(secrets.scrubbed("[" + spelled + "]", In::document), "[(hidden)]") << spelled;
  EXPECT_EQ(secrets.scrubbed("The value '" + kPlanted + "'.", In::text), "The value '(hidden)'.");
}

TEST(SentSecrets, HidesAPasswordOfWhichEachSignIsSpelledInAnotherWay) {
  SentSecrets secrets;
  secrets.add("s3cret é😀");

  EXPECT_EQ(secrets.scrubbed(R"(x\u0073%33&#x63;r\\u0065t+\u00e9\ud83d\ude00y)", In::document),
            "x(hidden)y");
  EXPECT_EQ(secrets.scrubbed("%2573%25252533cret%20%C3%A9%F0%9F%98%80", In::text), "(hidden)");
}

TEST(SentSecrets, HidesWhatABasicHeaderSays) {
  SentSecrets secrets;
  secrets.add_login("admin", kPlanted);

  EXPECT_EQ(secrets.scrubbed("Basic " + test::basic_of("admin", kPlanted), In::text).find("UGw"),
            std::string::npos);
}

TEST(SentSecrets, HidesThePasswordOfAnUrlAsItIsMeantAndAsItIsWritten) {
  SentSecrets secrets;
  secrets.add_url("cifs://mount:p%40ss-word@10.0.0.1/x.iso");
  secrets.add_url("http://10.0.0.1/no@body:here");

  EXPECT_EQ(secrets.scrubbed("cifs://mount:p%40ss-word@10.0.0.1/x.iso, p@ss-word", In::document),
            "cifs://mount:(hidden)@10.0.0.1/x.iso, (hidden)");
}

TEST(SentSecrets, LeavesDocumentsWholeWhereThePasswordIsACommonWord) {
  const std::string document = R"({"@odata.id": "/redfish/v1/Systems/1", "UserName": "admin"})";
  for (const auto* word : {"admin", "Systems", "redfish", "abc", "1"}) {
    SentSecrets secrets;
    secrets.add_login("root", word);

    EXPECT_EQ(secrets.scrubbed(document, In::document), document) << word;
  }
}

TEST(SentSecrets, HidesACommonWordWhereItStandsAloneInARefusal) {
  SentSecrets secrets;
  secrets.add_login("admin", "abc");

  EXPECT_EQ(secrets.scrubbed(R"x({"Message": "The value 'abc' is wrong; see abcd", "Arg": "abc"})x",
                             In::refusal),
            R"x({"Message": "The value '(hidden)' is wrong; see abcd", "Arg": "(hidden)"})x");
}

TEST(SentSecrets, NeverEndsATextOfADocumentThatIsOpen) {
  SentSecrets secrets;
  secrets.add(R"(a","b)");

  EXPECT_EQ(secrets.scrubbed(R"({"x":"a","b":1})", In::document), R"({"x":"a","b":1})");
  EXPECT_EQ(secrets.scrubbed(R"x({"x":"a\",\"b"})x", In::document), R"x({"x":"(hidden)"})x");
}

TEST(SentSecrets, KeepsTheLengthOfBinaryRecords) {
  SentSecrets secrets;
  secrets.add("calvin");
  const std::string text = "xxcalvinyycalvin";
  std::vector<std::uint8_t> bytes{text.begin(), text.end()};

  secrets.scrub(bytes);

  EXPECT_EQ((std::string{bytes.begin(), bytes.end()}), "xx******yy******");
}

TEST(SentSecrets, HidesATextWholeThatAlmostSpellsThemOverAndOver) {
  SentSecrets secrets;
  secrets.add(std::string(4096, 'a') + "b");
  const std::string text(1u << 14, 'a');

  EXPECT_EQ(secrets.scrubbed(text, In::text), "(hidden)");
  EXPECT_EQ(secrets.scrubbed(std::string(500, 'a'), In::text), std::string(500, 'a'));
}

TEST(SentSecrets, HidesASecretThatIsVeryLong) {
  SentSecrets secrets;
  const std::string secret(1u << 20, 's');
  secrets.add(secret);

  EXPECT_EQ(secrets.scrubbed("[" + secret + "]", In::text), "[(hidden)]");
}

TEST(SentSecrets, ForgetsTheOneThatWasSentLongestAgo) {
  SentSecrets secrets;
  secrets.add("first-password");
  for (std::size_t i = 0; i + 1 < SentSecrets::kMost; ++i) {
    secrets.add("session-token-" + std::to_string(i));
    if (i == 10) secrets.add("first-password");  // sent again
  }
  secrets.add("one-token-more");

  EXPECT_EQ(secrets.scrubbed("first-password", In::text), "(hidden)");
  EXPECT_EQ(secrets.scrubbed("session-token-0", In::text), "session-token-0");
}

}  // namespace
}  // namespace cupel::bmc
