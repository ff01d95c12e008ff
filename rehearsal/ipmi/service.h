#pragma once
// The IPMI of one virtual BMC: a datagram in, datagrams out, on the machine's loop. Sessions,
// commands and the console meet here. No sockets: server.h.
#include <functional>

#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {

class Service {
 public:
  using Now = std::function<Moment()>;

  /// `machine` must outlive it. A test may bring a clock of its own.
  Service(
      asio::any_io_executor executor, ManagedSystem& machine, const std::string& user,
      const std::string& password, Now now = [] { return std::chrono::steady_clock::now(); });
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Called with each datagram that goes out, during handle() and later.
  std::function<void(const Peer& to, const Bytes& datagram)> send = [](const auto&, const auto&) {};
  /// Called after the answer to Cold Reset: whoever listens goes away for a while.
  std::function<void()> on_restart = [] {};

  /// Never fails: what is not understood gets no answer, as 13.1 wants it.
  void handle(View datagram, const Peer& from);

  /// Sessions and reservations are gone; logs and settings stay.
  void forget_sessions();
  /// No datagram goes out after this.
  void stop();

  Device& device() { return *device_; }
  Users& users() { return users_; }
  std::uint64_t datagrams() const { return datagrams_; }
  std::size_t open_sessions() const { return sessions_.active(); }

 private:
  void outside(const Packet& packet, const Peer& from);
  void inside(const Packet& packet, const Peer& from);
  Bytes answer(const Message& message, Session* session);
  void send_console(std::uint32_t session, const Bytes& payload);
  void finish();

  ManagedSystem& machine_;
  Now now_;
  Users users_;
  Sessions sessions_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<bool> listening_ = std::make_shared<bool>(true);
  std::uint64_t datagrams_ = 0;
};

}  // namespace cupel::rehearsal::ipmi
