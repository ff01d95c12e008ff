#pragma once
// One BMC's HTTPS: sockets, TLS and HTTP around service.h. There whether the machine is on or off.
// Everything on the rack's loop.
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <set>

#include "base/task.h"
#include "rehearsal/bmc/certificate.h"
#include "rehearsal/bmc/service.h"

namespace cupel::rehearsal {

class BmcServer {
 public:
  static constexpr std::size_t kMostConnections = 16;
  static constexpr std::size_t kMostBody = 1u << 20;
  static constexpr std::uint32_t kMostHeader = 16 * 1024;
  static constexpr std::chrono::seconds kIdle{60};  // of our time: the client's clock counts it
  static constexpr VirtualTime kRestart = BmcService::kRestart;
  static constexpr std::chrono::seconds kStillThere{10};  // between signs of life of a stream

  /// `machine` must outlive it.
  BmcServer(asio::any_io_executor executor, ManagedSystem& machine, BmcAccount account,
            Certificate certificate, asio::ip::tcp::endpoint endpoint, BmcSpec spec = {});
  ~BmcServer();

  /// Listens from now on; a port of 0 becomes a number. Errors: kConflict, kFailed.
  Result<void> listen();
  std::uint16_t port() const { return endpoint_.port(); }
  BmcService& service() { return service_; }
  const Certificate& certificate() const { return certificate_; }
  std::size_t connections() const { return open_.size(); }
  /// Requests that were being answered at the same time, at most; streams are not counted.
  int most_at_once() const { return most_at_once_; }

  /// Away in a moment, and back when a BMC has booted. service().on_restart calls it.
  void restart();

  /// Closes everything. Its coroutines end when the loop next runs.
  void stop();

 private:
  struct Tls;
  class Connection;
  class Answering;

  Result<void> open();
  void close();
  Task<void> accept();
  Task<void> serve(std::shared_ptr<Connection> connection);
  Task<void> answer_all(std::shared_ptr<Connection> connection);
  Task<void> say_nothing(std::shared_ptr<Connection> connection);
  Task<void> stream(std::shared_ptr<Connection> connection, HttpResponse response);
  void renew_certificate();
  void look_at_faults();
  std::shared_ptr<Connection> connected(asio::ip::tcp::socket socket);

  asio::any_io_executor executor_;
  ManagedSystem& machine_;
  BmcService service_;
  Certificate certificate_;
  asio::ip::tcp::endpoint endpoint_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer parting_timer_;  // of our time: the answer still goes out
  RackTimer restart_timer_;
  std::unique_ptr<Tls> tls_;
  std::set<std::shared_ptr<Connection>> open_;
  bool stopped_ = false, dead_ = false;
  int at_once_ = 0, most_at_once_ = 0;
};

}  // namespace cupel::rehearsal
