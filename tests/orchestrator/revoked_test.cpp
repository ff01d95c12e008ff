// Which lines of a list of revoked certificates and keys count.
#include "orchestrator/certificate/revoked.h"

#include <gmock/gmock.h>

namespace cupel::certificate {
namespace {

using ::testing::HasSubstr;

const Revocable kCertificate{
    .payload = std::string(64, 'a'), .file = std::string(64, 'b'), .key_id = std::string(64, 'c')};

std::string answer_to(const std::string& list) {
  const auto checked = check_revoked(list, kCertificate);
  return checked ? "not revoked" : checked.error().what;
}

TEST(Revoked, NamesACertificateByItsPayloadOrItsFile) {
  const auto other = std::string(64, 'd') + " another one\n";

  EXPECT_EQ(answer_to(""), "not revoked");
  EXPECT_EQ(answer_to(other), "not revoked");
  EXPECT_EQ(answer_to(other + kCertificate.payload + "  sold in error\n"),
            "this certificate was revoked: " + kCertificate.payload + "  sold in error");
  EXPECT_THAT(answer_to(kCertificate.file), HasSubstr("this certificate was revoked"));
  EXPECT_EQ(check_revoked(kCertificate.file, kCertificate).error().code, Code::kUntrusted);
}

TEST(Revoked, NamesAKey) {
  EXPECT_THAT(answer_to(kCertificate.key_id + "\r\n"), HasSubstr("the key that signed it"));
  EXPECT_THAT(answer_to("  " + std::string(64, 'C') + " lost"), HasSubstr("the key that signed"));
}

TEST(Revoked, TakesEmptyLinesAndCommentsAndReportsAnyOtherLineByItsNumber) {
  EXPECT_EQ(answer_to("# revoked certificates\n\n   \n"), "not revoked");
  for (const auto* line : {"a1b2", "SHA-256 aaaa", "the certificate of a01-n07",
                           "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"}) {
    const auto checked = check_revoked(std::string{"# list\n"} + line + "\n", kCertificate);

    ASSERT_FALSE(checked) << line;
    EXPECT_EQ(checked.error().code, Code::kInvalid);
    EXPECT_THAT(checked.error().what, HasSubstr("line 2 does not begin with a SHA-256"));
  }
}

TEST(Revoked, NamesTheCertificateAlsoBehindALineThatItCannotRead) {
  EXPECT_THAT(answer_to("what is this\n" + kCertificate.payload + "\n"),
              HasSubstr("this certificate was revoked"));
}

}  // namespace
}  // namespace cupel::certificate
