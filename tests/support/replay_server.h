#pragma once
// A server that answers as a test says, over HTTP or HTTPS, and remembers what it was asked: for
// slurmrestd of other versions and for the API server of Kubernetes. It shares no code with the
// client under test.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/certificate.h"

namespace cupel::test {

struct ReplayRequest {
  std::string method{}, path{};
  std::string head{};  // all of it
  std::string body{};
};

struct ReplayAnswer {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  bool silent = false;  // none at all, until the client goes away
  bool gone = false;    // none at all: the connection ends
  bool cut = false;     // half of it, and the connection ends
  std::string lines{};  // more of its head: "Location: /x\r\n"
};

class ReplayServer {
 public:
  using Handler = std::function<ReplayAnswer(const ReplayRequest&)>;

  explicit ReplayServer(Handler handler, bool tls = false);
  ~ReplayServer();
  ReplayServer(const ReplayServer&) = delete;
  ReplayServer& operator=(const ReplayServer&) = delete;

  std::string url() const;
  std::string certificate_pem() const { return certificate_.certificate_pem; }
  std::vector<ReplayRequest> asked() const;
  std::vector<std::string> lines() const;  // "GET /ping"

 private:
  template <class Stream>
  void talk(Stream& stream);
  void serve();

  Handler handler_;
  bool tls_ = false;
  SelfSigned certificate_ = make_certificate();
  boost::asio::io_context io_{1};
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_server};
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  mutable std::mutex mutex_{};
  std::vector<ReplayRequest> asked_{};
  bool stopped_ = false;
  std::thread thread_{};
};

}  // namespace cupel::test
