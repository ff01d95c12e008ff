#include "tests/support/tsa.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/child.h"

namespace cupel::test {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

void openssl(std::vector<std::string> words) {
  words.insert(words.begin(), "openssl");
  const auto ran = testing::run(words);
  EXPECT_EQ(ran.status, 0) << fmt::format("{}: {}", words.at(1), ran.err);
}

}  // namespace

TsaKeys::TsaKeys(std::filesystem::path folder) : folder_{std::move(folder)} {
  openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
           "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=Authority", "-days", "30"});
  openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
           at("tsa.key"), "-out", at("tsa.csr"), "-subj", "/O=Example/CN=TSA of the site"});
  certify("tsa.pem", kForTimeStamps);
}

/// The TSA's key. `purpose`: extensions, a line each.
void TsaKeys::certify(const char* name, const std::string& purpose) const {
  std::ofstream{at("purpose.cnf")} << purpose;
  openssl({"x509", "-req", "-in", at("tsa.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"),
           "-CAcreateserial", "-out", at(name), "-days", "30", "-extfile", at("purpose.cnf")});
}

std::string TsaKeys::ca() const { return bytes_of(folder_ / "ca.pem"); }

std::string TsaKeys::reply(const std::string& request, const std::string& digest,
                           const std::string& takes) const {
  std::ofstream{at("request.tsq"), std::ios::binary} << request;
  std::ofstream{at("tsa.cnf")} << fmt::format(
      "[tsa]\ndefault_tsa = t\n[t]\nserial = {}\nsigner_digest = {}\ndefault_policy = 1.2.3.4.1\n"
      "digests = {}\ntsa_name = yes\ness_cert_id_alg = sha256\n",
      at("serial"), digest, takes);
  // It ends with 1 where it refuses, and writes that.
  const auto ran = testing::run({"openssl", "ts", "-reply", "-queryfile", at("request.tsq"),
                                 "-inkey", at("tsa.key"), "-signer", at("tsa.pem"), "-config",
                                 at("tsa.cnf"), "-out", at("answer.tsr")});
  EXPECT_TRUE(std::filesystem::exists(at("answer.tsr"))) << ran.err;
  return bytes_of(at("answer.tsr"));
}

std::string TsaKeys::signed_again(const std::string& answer, const std::string& purpose) const {
  std::ofstream{at("answer.tsr"), std::ios::binary} << answer;
  certify("other.pem", purpose);
  openssl({"ts", "-reply", "-in", at("answer.tsr"), "-token_out", "-out", at("token.der")});
  openssl({"cms", "-verify", "-noverify", "-in", at("token.der"), "-inform", "DER", "-out",
           at("info.der")});
  openssl({"cms", "-sign", "-cades", "-binary", "-nodetach", "-in", at("info.der"),
           "-econtent_type", "1.2.840.113549.1.9.16.1.4", "-signer", at("other.pem"), "-inkey",
           at("tsa.key"), "-md", "sha256", "-outform", "DER", "-out", at("token.der")});
  // TimeStampResp: the status "granted" and the token, in a sequence of over 255 bytes.
  const auto inner = std::string{"\x30\x03\x02\x01\x00", 5} + bytes_of(at("token.der"));
  return std::string{"\x30\x82"} + static_cast<char>(inner.size() >> 8U) +
         static_cast<char>(inner.size() & 0xffU) + inner;
}

std::string text_of_request(const std::filesystem::path& folder, const std::string& request) {
  const auto file = folder / "shown.tsq";
  std::ofstream{file, std::ios::binary} << request;
  return testing::run({"openssl", "ts", "-query", "-in", file.string(), "-text"}).out;
}

}  // namespace cupel::test
