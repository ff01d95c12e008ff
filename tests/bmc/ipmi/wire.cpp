#include "tests/bmc/ipmi/wire.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bmc/ipmi/ipmi_sim.h"

namespace cupel::bmc::ipmi {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

Wire::Wire(inventory::Endpoint bmc, Habit habit) : habit_{std::move(habit)}, bmc_port_{bmc.port} {
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  auto address = loopback(0);
  socklen_t length = sizeof address;
  ::bind(socket_, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread{[this] { relay(); }};
}

Wire::~Wire() {
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(socket_);
  ::close(wake_);
}

int Wire::to_bmc() const {
  const std::lock_guard lock{mutex_};
  return counts_[1];
}

int Wire::to_console() const {
  const std::lock_guard lock{mutex_};
  return counts_[0];
}

void Wire::relay() {
  pollfd waiting[]{{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
  while (::poll(waiting, 2, -1) > 0 && waiting[1].revents == 0) {
    Bytes datagram(4096);
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const auto got = ::recvfrom(socket_, datagram.data(), datagram.size(), 0,
                                reinterpret_cast<sockaddr*>(&from), &length);
    if (got < 0) continue;
    datagram.resize(static_cast<std::size_t>(got));
    const bool to_bmc = ntohs(from.sin_port) != bmc_port_;
    if (to_bmc) console_port_ = ntohs(from.sin_port);
    int number = 0;
    {
      const std::lock_guard lock{mutex_};
      number = counts_[to_bmc]++;
    }
    const auto to = loopback(to_bmc ? bmc_port_ : console_port_);
    for (const auto& each : habit_(to_bmc, number, datagram))
      ::sendto(socket_, each.data(), each.size(), 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to);
  }
}

}  // namespace cupel::bmc::ipmi
