#pragma once
// HTTPS on one address: sockets, TLS and HTTP around a service that answers requests. What is
// behind it, a BMC or a PDU, it knows by an interface. Everything on the rack's loop.
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <set>

#include "base/task.h"
#include "rehearsal/bmc/body_reader.h"
#include "rehearsal/bmc/certificate.h"
#include "rehearsal/bmc/message.h"

namespace cupel::rehearsal {

/// What a port shows of the software behind it, beside its answers.
struct ConnectionHabits {
  std::string_view server{};  // the Server header; empty: none
  int resets_every = 0;       // so-manieth request over a kept connection: RST
  bool says_close = false;    // "Connection: close"
};

/// Who answers behind a port.
class WebService {
 public:
  virtual ~WebService() = default;
  /// Never fails: what is wrong with the request is in the answer's status.
  virtual HttpResponse handle(const HttpRequest& request) = 0;
  /// Who takes the body of a request with these headers; nullptr: it is kept, up to kMostBody.
  virtual std::unique_ptr<BodySink> sink_of(const HttpRequest& head) {
    (void)head;
    return nullptr;
  }
  /// Requests are taken, and nothing is answered.
  virtual bool hung() const { return false; }
  /// It shows another certificate than its own.
  virtual bool disguised() const { return false; }
  virtual ConnectionHabits habits() const { return {}; }
};

class HttpsServer {
 public:
  static constexpr std::size_t kMostConnections = 16;
  static constexpr std::size_t kMostBody = 1u << 20;
  static constexpr std::uint32_t kMostHeader = 16 * 1024;
  static constexpr std::chrono::seconds kIdle{60};  // of our time: the client's clock counts it
  static constexpr std::chrono::seconds kStillThere{10};  // between signs of life of a stream

  /// `service` must outlive it. `name` stands in certificates that it makes itself.
  HttpsServer(asio::any_io_executor executor, WebService& service, std::string name,
              Certificate certificate, asio::ip::tcp::endpoint endpoint);
  ~HttpsServer();

  /// Listens from now on; a port of 0 becomes a number. Errors: kConflict, kFailed.
  Result<void> listen();
  /// Has it once listened?
  bool ready() const { return tls_ != nullptr; }
  std::uint16_t port() const { return endpoint_.port(); }
  const Certificate& certificate() const { return certificate_; }
  std::size_t connections() const { return open_.size(); }
  /// Requests that were being answered at the same time, at most; streams are not counted.
  int most_at_once() const { return most_at_once_; }

  /// Cuts every connection; nothing listens until open(), which has the same port. Errors:
  /// kConflict.
  void close();
  Result<void> open();
  /// Makes itself a new certificate: some BMCs do at each start.
  void renew_certificate();

  /// Closes everything. Its coroutines end when the loop next runs.
  void stop();

 private:
  struct Tls;
  class Connection;
  class Answering;
  struct Heard;

  Task<void> accept();
  Task<void> serve(std::shared_ptr<Connection> connection);
  Task<void> answer_all(std::shared_ptr<Connection> connection);
  Task<Heard> hear(std::shared_ptr<Connection> connection);
  Task<void> say_nothing(std::shared_ptr<Connection> connection);
  Task<void> stream(std::shared_ptr<Connection> connection, HttpResponse response);
  std::shared_ptr<Connection> connected(asio::ip::tcp::socket socket);

  asio::any_io_executor executor_;
  WebService& service_;
  std::string name_;
  Certificate certificate_;
  asio::ip::tcp::endpoint endpoint_;
  asio::ip::tcp::acceptor acceptor_;
  std::unique_ptr<Tls> tls_;
  std::set<std::shared_ptr<Connection>> open_;
  bool stopped_ = false;
  int at_once_ = 0, most_at_once_ = 0;
};

}  // namespace cupel::rehearsal
