// A certificate with the time stamp of a site's authority: `cupel certificate --tsa`, `cupel verify
// --tsa-ca`. The built cupel, a kept state folder, and OpenSSL's own authority.
#include <gmock/gmock.h>

#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "orchestrator/cli/time_stamps.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/replay_server.h"
#include "tests/support/tsa.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StampedCertificate : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto archive = SOURCE_DIR "/tests/orchestrator/kept_state/schema-10.tar.xz";
    const auto unpacked =
        run({"tar", "--no-same-owner", "-xf", archive, "-C", folder_.path().string()});
    ASSERT_EQ(unpacked.status, 0) << unpacked.err;
    openssl({"genpkey", "-algorithm", "ed25519", "-out", file("key.pem")});
    openssl({"pkey", "-in", file("key.pem"), "-pubout", "-out", file("key.pub")});
    fs::permissions(file("key.pem"), fs::perms::owner_read);
  }
  static void openssl(std::vector<std::string> words) {
    words.insert(words.begin(), "openssl");
    const auto ran = run(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  fs::path fresh(const char* name) const {
    fs::create_directory(file(name));
    return file(name);
  }
  Ran issue(const std::vector<std::string>& more) const {
    std::vector<std::string> words{CUPEL_BINARY, "--state", file("state"), "certificate",   "1",
                                   "--nodes",    "v01-n04", "--key",       file("key.pem"), "-o",
                                   file("it")};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  Ran verify(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{CUPEL_BINARY, "verify", file("it"), "--key", file("key.pub")};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  test::TemporaryFolder folder_;
  test::TsaKeys keys_{fresh("tsa")};
};

TEST_F(StampedCertificate, IsVerifiedByCupelAndByOpenssl) {
  test::ReplayServer tsa{
      [&](const auto& asked) { return test::ReplayAnswer{.body = keys_.reply(asked.body)}; }};

  const auto issued = issue({"--tsa", tsa.url(), "--tsa-ca", keys_.ca_file()});
  ASSERT_EQ(issued.status, 0) << issued.err;
  const auto verified = verify({"--tsa-ca", keys_.ca_file()});
  const auto object = verify({"--tsa-ca", keys_.ca_file(), "--json"});
  const auto unchecked = verify();
  const auto by_openssl = run({"openssl", "ts", "-verify", "-data", file("it"), "-in",
                               file("it.tsr"), "-CAfile", keys_.ca_file()});

  EXPECT_THAT(issued.out, HasSubstr(file("it.tsr")));
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("says CN=TSA of the site,O=Example (serial 01, policy 1.2."));
  EXPECT_EQ(text_at(json::parse(object.out), "time_stamp/by"), "CN=TSA of the site,O=Example");
  EXPECT_EQ(unchecked.status, 0);
  EXPECT_THAT(unchecked.out, HasSubstr("time stamp: not checked: --tsa-ca FILE says who"));
  EXPECT_EQ(by_openssl.status, 0) << by_openssl.err;
}

/// Who has the key signs again, and has no stamp of that time.
TEST_F(StampedCertificate, IsRefusedWithTheStampOfAnotherOneAndWithoutOne) {
  test::ReplayServer tsa{
      [&](const auto& asked) { return test::ReplayAnswer{.body = keys_.reply(asked.body)}; }};
  ASSERT_EQ(issue({"--tsa", tsa.url(), "--tsa-ca", keys_.ca_file()}).status, 0);
  fs::copy_file(file("it.tsr"), file("first.tsr"));
  ASSERT_EQ(issue({"--valid", "90d"}).status, 0);
  EXPECT_FALSE(fs::exists(file("it.tsr"))) << "the stamp of the former certificate";
  fs::rename(file("first.tsr"), file("it.tsr"));

  const auto of_the_first = verify({"--tsa-ca", keys_.ca_file()});
  fs::remove(file("it.tsr"));
  const auto without = verify({"--tsa-ca", keys_.ca_file()});

  EXPECT_EQ(of_the_first.status, 1);
  EXPECT_THAT(of_the_first.err, HasSubstr("it.tsr: the time stamp does not hold: "));
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err, HasSubstr("it.tsr: there is no time stamp beside the certificate"));
  EXPECT_EQ(verify().status, 0);
}

TEST_F(StampedCertificate, IsNotWrittenWhereTheAuthorityGivesNoGoodStamp) {
  const test::TsaKeys stranger{fresh("stranger")};
  std::string answer;
  test::ReplayServer tsa{[&](const auto& asked) {
    return test::ReplayAnswer{.body = answer.empty() ? stranger.reply(asked.body) : answer};
  }};

  const auto of_another = issue({"--tsa", tsa.url(), "--tsa-ca", keys_.ca_file()});
  answer = "<html>";
  const auto page = issue({"--tsa", tsa.url(), "--tsa-ca", keys_.ca_file()});
  const auto closed = issue({"--tsa", "http://127.0.0.1:9/", "--tsa-ca", keys_.ca_file()});
  const auto alone = issue({"--tsa", tsa.url()});
  const auto with_password =
      issue({"--tsa", "http://u:secret@127.0.0.1:9/", "--tsa-ca", keys_.ca_file()});

  for (const auto& [ran, status] : {std::pair{&of_another, 2}, {&page, 2}, {&closed, 3}}) {
    EXPECT_EQ(ran->status, status) << ran->out;
    EXPECT_THAT(ran->err, HasSubstr("no certificate is written: the TSA at http://127.0.0.1:"));
  }
  EXPECT_THAT(of_another.err, HasSubstr("certificate verify error"));
  EXPECT_THAT(alone.err, HasSubstr("--tsa without --tsa-ca"));
  EXPECT_EQ(with_password.status, 2);
  EXPECT_EQ(with_password.err.find("secret"), std::string::npos);
  EXPECT_FALSE(fs::exists(file("it")));
  EXPECT_FALSE(fs::exists(file("it.tsr")));
  EXPECT_EQ(tsa.asked().size(), 2u);
}

TEST(TimeOfAStamp, IsNeitherBeforeTheIssueNorToComeByMoreThanClocksDiffer) {
  using namespace std::chrono_literals;
  const engine::WallTime issued{1'800'000'000s};
  const auto why = [&](std::chrono::seconds after, std::chrono::seconds now) {
    const auto checked = cli::check_time(
        {.at = std::chrono::floor<std::chrono::seconds>(issued) + after}, issued, issued + now);
    return checked ? std::string{} : checked.error().what;
  };

  EXPECT_EQ(why(0s, 0s), "");
  EXPECT_EQ(why(-5min, 0s), "");
  EXPECT_EQ(why(240h, 240h), "") << "stamped by hand, later";
  EXPECT_THAT(why(-301s, 8760h), HasSubstr("before it was issued at 2027-01-15T08:00:00Z"));
  EXPECT_EQ(why(5min, 0s), "");
  EXPECT_THAT(why(301s, 0s), HasSubstr("and here it is 2027-01-15T08:00:00Z"));
}

}  // namespace
}  // namespace cupel::testing
