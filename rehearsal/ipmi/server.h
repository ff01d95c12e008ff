#pragma once
// One BMC's UDP socket around service.h: what arrives, what is lost on the way, and a BMC that is
// away while it starts again. Everything on the rack's loop.
#include <boost/asio/ip/udp.hpp>

#include "base/task.h"
#include "rehearsal/ipmi/service.h"
#include "rehearsal/rack_timer.h"

namespace cupel::rehearsal::ipmi {

class Server {
 public:
  static constexpr VirtualTime kRestart{90};  // a BMC's own boot

  /// `machine` must outlive it.
  Server(asio::any_io_executor executor, ManagedSystem& machine, const std::string& user,
         const std::string& password, Peer endpoint);
  ~Server();

  /// Listens from now on; a port of 0 becomes a number. Errors: kConflict.
  Result<void> listen();
  std::uint16_t port() const { return endpoint_.port(); }
  Service& service() { return service_; }

  /// Away from now on, back after kRestart. service().on_restart calls it.
  void restart();
  /// Closes the socket.
  void stop();

 private:
  void close();
  void receive();
  void take(std::size_t size);
  bool lost();
  void send(const Peer& to, const Bytes& datagram);

  ManagedSystem& machine_;
  Service service_;
  Peer endpoint_;
  asio::ip::udp::socket socket_;
  RackTimer restart_timer_;
  std::array<std::uint8_t, kMostDatagram + 1> buffer_{};
  Peer from_{};
  std::uint64_t passed_ = 0;  // datagrams, both ways
  bool away_ = false, stopped_ = false;
};

}  // namespace cupel::rehearsal::ipmi
