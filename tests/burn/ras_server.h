#pragma once
// Answers at a loopback port as NCCL's RAS does, or as nothing should.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "burnin/agent/common/descriptor.h"

namespace cupel::burn {

/// NCCL 2.28.3 on one H200, one process with one rank.
inline constexpr std::string_view kRasOfOneRank =
    "SERVER PROTOCOL 2\n"
    "OK\n"
    "NCCL version 2.28.3 compiled with CUDA 13.0\n"
    "CUDA runtime version 13000, driver version 13000\n"
    "\n"
    "Job summary\n"
    "===========\n"
    "\n"
    "  Nodes  Processes         GPUs  Processes     GPUs\n"
    "(total)   per node  per process    (total)  (total)\n"
    "      1          1            1          1        1\n"
    "\n"
    "Communicators... (0.00s)\n"
    "=============\n"
    "\n"
    "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
    "    #  in group  per comm  per node  per comm  in group\n"
    "    0         1         1         1         1         1   RUNNING      OK\n"
    "\n"
    "Errors\n"
    "======\n"
    "\n"
    "Warnings\n"
    "========\n"
    "\n";

/// Serves connections one after the other until it is destroyed.
class RasServer {
 public:
  /// Gets a connection after its request was read.
  using Answer = std::function<void(int connection, const std::atomic<bool>& is_over)>;

  explicit RasServer(Answer answer)
      : answer_{std::move(answer)},
        socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)},
        thread_{[this] { serve(); }} {}
  explicit RasServer(std::string_view text)
      : RasServer{[text](int connection, const std::atomic<bool>&) {
          ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
        }} {}
  ~RasServer() {
    is_over_ = true;
    thread_.join();
  }
  RasServer(const RasServer&) = delete;
  RasServer& operator=(const RasServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string setting() const { return "127.0.0.1:" + std::to_string(port_); }
  /// What was asked last.
  std::string asked() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread{[] {}};
    return asked_;
  }

 private:
  std::uint16_t listen_now() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    ::bind(socket_.number(), where, size);
    ::listen(socket_.number(), 8);
    ::getsockname(socket_.number(), where, &size);
    return ntohs(address.sin_port);
  }

  void serve() {
    constexpr int kLook = 20;  // ms
    while (!is_over_) {
      pollfd ready{.fd = socket_.number(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, kLook) <= 0) continue;
      const agent::Descriptor connection{
          ::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (!connection) continue;
      std::array<char, 256> request{};
      const auto count = ::recv(connection.number(), request.data(), request.size(), 0);
      if (count > 0) asked_.assign(request.data(), static_cast<std::size_t>(count));
      answer_(connection.number(), is_over_);
    }
  }

  Answer answer_;
  agent::Descriptor socket_;
  std::uint16_t port_ = listen_now();
  std::atomic<bool> is_over_{false};
  std::string asked_{};
  std::thread thread_;
};

}  // namespace cupel::burn
