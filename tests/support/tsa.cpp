#include "tests/support/tsa.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "tests/support/child.h"

namespace cupel::test {
namespace {

namespace asio = boost::asio;

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

std::size_t length_in(std::string_view head) {
  for (const auto line : cupel::lines(head))
    if (lower_case(line).starts_with("content-length:"))
      return number<std::size_t>(trimmed(line.substr(15))).value_or(0);
  return 0;
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

TsaServer::TsaServer(Handler handler) : handler_{std::move(handler)} {
  acceptor_.open(asio::ip::tcp::v4());
  acceptor_.bind({asio::ip::address_v4::loopback(), 0});
  acceptor_.listen();
  thread_ = std::thread{[this] { serve(); }};
}

TsaServer::~TsaServer() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
  thread_.join();
}

std::string TsaServer::url() const {
  return fmt::format("http://127.0.0.1:{}/tsr", acceptor_.local_endpoint().port());
}

int TsaServer::asked() const {
  const std::lock_guard lock{mutex_};
  return asked_;
}

void TsaServer::talk(asio::ip::tcp::socket& socket) {
  boost::system::error_code failure;
  std::string read;
  const auto end = asio::read_until(socket, asio::dynamic_buffer(read), "\r\n\r\n", failure);
  if (failure) return;
  Asked asked{.head = read.substr(0, end), .body = read.substr(end)};
  const auto length = length_in(asked.head);
  if (asked.body.size() < length)
    asio::read(socket, asio::dynamic_buffer(asked.body),
               asio::transfer_exactly(length - asked.body.size()), failure);
  const auto answer = handler_(asked);
  const auto text = fmt::format(
      "HTTP/1.1 {} x\r\nContent-Type: application/timestamp-reply\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      answer.status, answer.body.size(), answer.body);
  asio::write(socket, asio::buffer(text), failure);
}

void TsaServer::serve() {
  for (;;) {
    boost::system::error_code failure;
    asio::ip::tcp::socket socket{io_};
    acceptor_.accept(socket, failure);
    {
      const std::lock_guard lock{mutex_};
      if (failure || stopped_) return;
      ++asked_;
    }
    talk(socket);
  }
}

}  // namespace cupel::test
