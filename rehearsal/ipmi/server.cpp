#include "rehearsal/ipmi/server.h"

#include <boost/asio/buffer.hpp>

#include "rehearsal/bmc_faults.h"

namespace cupel::rehearsal::ipmi {

Server::Server(asio::any_io_executor executor, ManagedSystem& machine, const std::string& user,
               const std::string& password, Peer endpoint)
    : machine_{machine},
      service_{executor, machine, user, password},
      endpoint_{std::move(endpoint)},
      socket_{executor},
      restart_timer_{executor, machine.clock()} {
  service_.send = [this](const Peer& to, const Bytes& datagram) { send(to, datagram); };
  service_.on_restart = [this] { restart(); };
}

Server::~Server() { stop(); }

Result<void> Server::listen() {
  boost::system::error_code failure;
  (void)socket_.open(endpoint_.protocol(), failure);
  if (!failure) (void)socket_.bind(endpoint_, failure);
  if (!failure) (void)socket_.non_blocking(true, failure);
  if (failure) {
    close();
    return Error{Code::kConflict, "cannot serve IPMI on " + endpoint_.address().to_string() + ":" +
                                      std::to_string(endpoint_.port()) + ": " + failure.message()};
  }
  if (endpoint_.port() == 0) endpoint_.port(socket_.local_endpoint().port());
  service_.device().place = {.address = endpoint_.address().to_v4().to_bytes(),
                             .port = endpoint_.port()};
  receive();
  return ok();
}

void Server::close() {
  boost::system::error_code ignored;
  (void)socket_.close(ignored);
}

void Server::stop() {
  if (std::exchange(stopped_, true)) return;
  restart_timer_.cancel();
  service_.stop();
  close();
}

/// The port stays ours, so that nobody takes it meanwhile; what arrives there finds no ear.
void Server::restart() {
  service_.forget_sessions();
  away_ = true;
  restart_timer_.start(kRestart, [this] { away_ = false; });
}

void Server::receive() {
  socket_.async_receive_from(asio::buffer(buffer_), from_,
                             [this](boost::system::error_code failure, std::size_t size) {
                               if (failure == asio::error::operation_aborted) return;
                               if (!socket_.is_open()) return;
                               if (!failure) take(size);
                               if (socket_.is_open()) receive();
                             });
}

void Server::take(std::size_t size) {
  if (size > kMostDatagram || away_ || lost()) return;
  const auto from = from_;
  service_.handle(View{buffer_}.first(size), from);
}

/// A black hole takes all; a lossy network every n-th, whichever way it goes.
bool Server::lost() {
  constexpr int kUsual = 5;
  const auto faults = machine_.faults();
  if (!machine_.mains()) return true;
  if (faults.empty()) return false;
  if (bmc_is_dead(faults) || bmc_is_hung(faults)) return true;
  if (find_fault(faults, FaultKind::ipmi_silent) != nullptr) return true;
  const auto* lossy = find_fault(faults, FaultKind::ipmi_lossy);
  if (lossy == nullptr) return false;
  const auto every = static_cast<std::uint64_t>(std::max(2, lossy->every.value_or(kUsual)));
  return ++passed_ % every == 0;
}

/// A datagram that does not fit the queue is lost, as on any network.
void Server::send(const Peer& to, const Bytes& datagram) {
  if (stopped_ || away_ || lost()) return;
  boost::system::error_code ignored;
  (void)socket_.send_to(asio::buffer(datagram), to, 0, ignored);
}

}  // namespace cupel::rehearsal::ipmi
