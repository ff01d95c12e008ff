#pragma once
// A time-stamping authority: OpenSSL's own (openssl ts) behind a bare HTTP server. It shares no
// code with the client under test.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cupel::test {

/// The keys and certificates of one TSA and of the authority that signed it, in a folder.
class TsaKeys {
 public:
  explicit TsaKeys(std::filesystem::path folder);
  std::string ca_file() const { return (folder_ / "ca.pem").string(); }
  std::string ca() const;  // PEM
  /// What it answers to a TimeStampReq. `digest`: over which it signs; `takes`: what requests may
  /// have.
  std::string reply(const std::string& request, const std::string& digest = "sha256",
                    const std::string& takes = "sha256") const;
  /// The stamp of `answer`, signed by the same key with a certificate for another purpose.
  /// OpenSSL's authority would not.
  std::string signed_again(const std::string& answer, const std::string& purpose) const;

  static constexpr const char* kForTimeStamps =
      "keyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n";

 private:
  void certify(const char* name, const std::string& purpose) const;
  std::string at(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

/// What `openssl ts` printed of a request or an answer.
std::string text_of_request(const std::filesystem::path& folder, const std::string& request);

class TsaServer {
 public:
  struct Asked {
    std::string head{}, body{};
  };
  struct Answer {
    int status = 200;
    std::string body{};
  };
  using Handler = std::function<Answer(const Asked&)>;
  explicit TsaServer(Handler handler);
  ~TsaServer();
  TsaServer(const TsaServer&) = delete;
  TsaServer& operator=(const TsaServer&) = delete;

  std::string url() const;
  int asked() const;

 private:
  void serve();
  void talk(boost::asio::ip::tcp::socket& socket);

  Handler handler_;
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  mutable std::mutex mutex_{};
  int asked_ = 0;
  bool stopped_ = false;
  std::thread thread_{};
};

}  // namespace cupel::test
