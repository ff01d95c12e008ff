// `cupel verify` with files alone: what it refuses, and with which exit status. The built cupel.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "orchestrator/certificate/envelope.h"
#include "orchestrator/certificate/statement.h"
#include "tests/support/child.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kValid = 0, kRefused = 1, kInvalidInput = 2;

class Verify : public ::testing::Test {
 protected:
  Verify() {
    std::string made = (fs::temp_directory_path() / "cupel-verify-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
  }
  ~Verify() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void SetUp() override {
    const auto made =
        run({"openssl", "genpkey", "-algorithm", "ed25519", "-out", file("site.key")});
    ASSERT_EQ(made.status, 0) << made.err;
    const auto opened =
        run({"openssl", "pkey", "-in", file("site.key"), "-pubout", "-out", file("site.pub")});
    ASSERT_EQ(opened.status, 0) << opened.err;
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, std::string_view text) const {
    EXPECT_TRUE(write_file(file(name), text));
  }
  std::string payload(const std::string& expires = "2126-11-23T00:00:00Z",
                      const std::string& verdict = "pass", bool met = true,
                      const std::string& issued = "2025-11-23T00:00:00Z") const {
    const json::object node{{"node", "a01-n01"},
                            {"chassis_serial", "1660A"},
                            {"profile", "dgx-h100"},
                            {"verdict", verdict},
                            {"criteria", json::array{json::object{{"met", met}}}}};
    const json::object subject{{"name", "a01-n01"},
                               {"digest", json::object{{"sha256", sha256_hex("1660A")}}}};
    return certificate::payload_of({{"_type", certificate::kStatementType},
                                    {"predicateType", certificate::kPredicateType},
                                    {"subject", json::array{subject}},
                                    {"predicate", json::object{{"run", 12},
                                                               {"site", "lab"},
                                                               {"rehearsal", false},
                                                               {"issued", issued},
                                                               {"expires", expires},
                                                               {"nodes", json::array{node}}}}});
  }
  std::string sealed(const std::string& payload) const {
    const auto key = SigningKey::of_private_key(*read_file(file("site.key"), 10'000));
    return *certificate::seal(payload, *key);
  }
  Ran verify(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{CUPEL_BINARY, "verify", file("it"), "--key", file("site.pub")};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

 private:
  fs::path folder_;
};

TEST_F(Verify, PrintsWhatAValidCertificateSaysAndTheDigestByWhichItIsRevoked) {
  write("it", sealed(payload()));
  write("revoked.txt", "# none so far\n");

  const auto checked = verify({"--revoked", file("revoked.txt")});

  EXPECT_EQ(checked.status, kValid) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("valid, signed by key "));
  EXPECT_THAT(checked.out, HasSubstr("payload SHA-256 " + sha256_hex(payload())));
}

/// The commands of docs/do/certificates.md, below "Without Cupel".
std::string commands_of_the_page() {
  const auto page = read_file(SOURCE_DIR "/docs/do/certificates.md", 1'000'000);
  if (!page) return "exit 99";
  constexpr std::string_view kFence = "```sh\n";
  const auto section = page->find("## Without Cupel\n");
  const auto begin = page->find(kFence, section);
  const auto end = page->find("```\n", begin + kFence.size());
  if (section == page->npos || begin == page->npos || end == page->npos) return "exit 98";
  return page->substr(begin + kFence.size(), end - begin - kFence.size());
}

TEST_F(Verify, IsDoneByOpensslAloneAsTheDocumentSays) {
  const auto by_openssl = [&](std::string_view certificate) {
    write("run-12.certificate", certificate);
    return run({"sh", "-ec", "cd '" + file("") + "'\n" + commands_of_the_page()});
  };
  const auto original = sealed(payload());
  auto forged = json::parse(original).as_object();
  forged["payload"] =
      json::parse(sealed(payload("2027-01-01T00:00:00Z"))).as_object().at("payload");

  const auto good = by_openssl(original);
  const auto bad = by_openssl(json::serialize(forged));

  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("Signature Verified Successfully"));
  const auto key = *certificate::key_id(*read_file(file("site.pub"), 10'000));
  EXPECT_THAT(good.out, HasSubstr(key + "  -\n" + key)) << "of the key, and in the certificate";
  EXPECT_EQ(*read_file(file("statement.json"), 1'000'000), payload("2027-01-01T00:00:00Z"))
      << "what was read last";
  EXPECT_NE(bad.status, 0);
  EXPECT_THAT(bad.out + bad.err, HasSubstr("Signature Verification Failure"));
}

TEST_F(Verify, RefusesACertificateThatExpired) {
  write("it", sealed(payload("2026-01-01T00:00:00Z")));

  const auto checked = verify();

  EXPECT_EQ(checked.status, kRefused);
  EXPECT_THAT(checked.err, HasSubstr("it expired at 2026-01-01T00:00:00Z"));
}

TEST_F(Verify, RefusesACertificateOfTheFutureButTakesClocksThatAreMinutesApart) {
  const auto issued_in = [&](std::chrono::minutes later) {
    const auto now =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    write("it", sealed(payload("2126-11-23T00:00:00Z", "pass", true, report::utc(now + later))));
    return verify();
  };

  const auto future = issued_in(std::chrono::hours{2});
  const auto skewed = issued_in(std::chrono::minutes{2});

  EXPECT_EQ(future.status, kRefused);
  EXPECT_THAT(future.err, HasSubstr("it is not valid yet: it was issued at "));
  EXPECT_THAT(future.err, HasSubstr("Check the clock of this machine"));
  EXPECT_EQ(skewed.status, kValid) << skewed.err;
}

TEST_F(Verify, RefusesWhatWasRevokedHoweverItsEnvelopeIsWritten) {
  const auto original = sealed(payload());
  write("revoked.txt", sha256_hex(payload()) + " the rack was returned\n");
  auto renamed = json::parse(original).as_object();
  renamed["signatures"].as_array()[0].as_object()["keyid"] = "another";

  for (const auto& text : {original, original + "\n", json::serialize(renamed)}) {
    write("it", text);
    EXPECT_EQ(verify().status, kValid);

    const auto checked = verify({"--revoked", file("revoked.txt")});

    EXPECT_EQ(checked.status, kRefused);
    EXPECT_THAT(checked.err, HasSubstr("this certificate was revoked"));
    EXPECT_THAT(checked.err, HasSubstr("the rack was returned"));
  }
}

TEST_F(Verify, RefusesWhatARevokedKeyHasSigned) {
  write("it", sealed(payload()));
  write("revoked.txt", *certificate::key_id(*read_file(file("site.pub"), 10'000)) + "\n");

  const auto checked = verify({"--revoked", file("revoked.txt")});

  EXPECT_EQ(checked.status, kRefused);
  EXPECT_THAT(checked.err, HasSubstr("the key that signed it was revoked"));
}

TEST_F(Verify, ReportsALineOfTheListThatItCannotReadAsAnErrorOfTheInput) {
  write("it", sealed(payload()));
  write("revoked.txt", sha256_hex("other") + "\nfingerprint: 12ab\n");

  const auto checked = verify({"--revoked", file("revoked.txt")});
  const auto absent = verify({"--revoked", file("none.txt")});

  EXPECT_EQ(checked.status, kInvalidInput);
  EXPECT_THAT(checked.err, HasSubstr("revoked.txt: line 2 does not begin with a SHA-256"));
  EXPECT_EQ(absent.status, kInvalidInput);
}

TEST_F(Verify, NamesTheKeysFileWhereItIsNoPublicKey) {
  write("it", sealed(payload()));
  write("empty.pub", "");

  const auto checked = verify({"--key", file("empty.pub")});

  EXPECT_EQ(checked.status, kInvalidInput);
  EXPECT_THAT(checked.err, HasSubstr("empty.pub: no PEM public key"));
}

TEST_F(Verify, RefusesWhatWasChangedAndWhatContradictsItself) {
  auto changed = json::parse(sealed(payload())).as_object();
  changed["payload"] = json::parse(sealed(payload("2127-01-01T00:00:00Z"))).at("payload");
  write("it", json::serialize(changed));
  const auto forged = verify();

  write("it", sealed(payload("2126-11-23T00:00:00Z", "pass", false)));
  const auto contradicts = verify();

  write("it", "no certificate");
  const auto none = verify();

  EXPECT_EQ(forged.status, kRefused);
  EXPECT_THAT(forged.err, HasSubstr("it is not what was signed"));
  EXPECT_EQ(contradicts.status, kRefused);
  EXPECT_THAT(contradicts.err, HasSubstr("1 of its 1 criteria are not met"));
  EXPECT_EQ(none.status, kRefused);
}

}  // namespace
}  // namespace cupel::testing
