#include "bmc/ipmi/socket.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>
#include <cstring>

#include "bmc/ipmi/rmcp.h"

namespace cupel::bmc::ipmi {
namespace {

/// Answers of thousands of BMCs that were asked at once: 4 MiB, or what the system allows.
constexpr int kReceiveBuffer = 4 << 20;

Error unreachable(const char* what, int number) {
  return Error{Code::kUnreachable, std::string{what} + std::strerror(number)};
}

UdpSocket::Address address_of(const sockaddr_storage& from, std::size_t length) {
  UdpSocket::Address address;
  if (length > address.capacity()) return address;
  std::memcpy(address.data(), &from, length);
  address.resize(length);
  return address;
}

}  // namespace

Result<std::shared_ptr<UdpSocket>> UdpSocket::open(
    const asio::any_io_executor& executor, bool v6,
    std::function<void(const Address&, View)> on_datagram,
    std::function<void(const Address&, const Error&)> on_lost) {
  auto made = std::make_shared<UdpSocket>(executor);
  boost::system::error_code failed;
  const auto protocol = v6 ? asio::ip::udp::v6() : asio::ip::udp::v4();
  made->socket_.open(protocol, failed);
  if (!failed) made->socket_.non_blocking(true, failed);
  if (!failed && v6) made->socket_.set_option(asio::ip::v6_only{true}, failed);
  if (!failed) made->socket_.bind(Address{protocol, 0}, failed);
  if (failed) return unreachable("no UDP socket: ", failed.value());
  const int fd = made->socket_.native_handle(), on = 1;
  // Past the system's limit where we may, and up to it where not.
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer) != 0)
    (void)::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  (void)(v6 ? ::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on)
            : ::setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on));
  made->on_datagram_ = std::move(on_datagram);
  made->on_lost_ = std::move(on_lost);
  made->buffer_.resize(kBatch * kLargestDatagram);
  made->wait();
  return made;
}

void UdpSocket::stop() {
  stopped_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void UdpSocket::wait() {
  socket_.async_wait(asio::ip::udp::socket::wait_read,
                     [self = shared_from_this()](boost::system::error_code failed) {
                       if (failed || self->stopped_) return;
                       self->read_all();
                       if (!self->stopped_) self->wait();
                     });
}

void UdpSocket::read_all() {
  while (!stopped_ && read_one_error()) {
  }
  while (!stopped_ && read_batch()) {
  }
}

bool UdpSocket::read_batch() {
  std::array<mmsghdr, kBatch> headers{};
  std::array<iovec, kBatch> pieces;
  std::array<sockaddr_storage, kBatch> from;
  for (std::size_t i = 0; i < kBatch; ++i) {
    pieces[i] = {buffer_.data() + i * kLargestDatagram, kLargestDatagram};
    headers[i].msg_hdr.msg_iov = &pieces[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_name = &from[i];
    headers[i].msg_hdr.msg_namelen = sizeof from[i];
  }
  const int got =
      ::recvmmsg(socket_.native_handle(), headers.data(), kBatch, MSG_DONTWAIT, nullptr);
  // An ICMP error that came meanwhile is reported once, in place of a datagram.
  if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && read_one_error();
  for (std::size_t i = 0; i < static_cast<std::size_t>(got) && !stopped_; ++i) {
    const auto& header = headers[i];
    if ((header.msg_hdr.msg_flags & MSG_TRUNC) != 0) continue;
    on_datagram_(address_of(from[i], header.msg_hdr.msg_namelen),
                 {static_cast<const std::uint8_t*>(pieces[i].iov_base), header.msg_len});
  }
  return got == static_cast<int>(kBatch);
}

bool UdpSocket::read_one_error() {
  sockaddr_storage whom{};
  std::array<std::uint8_t, 64> start;
  alignas(cmsghdr) std::array<char, 512> control;
  iovec piece{start.data(), start.size()};
  msghdr header{};
  header.msg_name = &whom;
  header.msg_namelen = sizeof whom;
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  if (::recvmsg(socket_.native_handle(), &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return false;
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    const bool v4 = each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_RECVERR;
    const bool v6 = each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_RECVERR;
    if (!v4 && !v6) continue;
    sock_extended_err reported{};
    std::memcpy(&reported, CMSG_DATA(each), sizeof reported);
    on_lost_(address_of(whom, header.msg_namelen),
             unreachable("the network says: ", static_cast<int>(reported.ee_errno)));
  }
  return true;
}

Result<void> UdpSocket::send(const Address& to, View datagram) {
  for (int tries = 0;; ++tries) {
    const auto sent =
        ::sendto(socket_.native_handle(), datagram.data(), datagram.size(),
                 MSG_DONTWAIT | MSG_NOSIGNAL, to.data(), static_cast<socklen_t>(to.size()));
    if (sent >= 0) return ok();
    const int why = errno;
    if (why == EAGAIN || why == EWOULDBLOCK || why == ENOBUFS || why == ENOMEM) return ok();
    // May be what ICMP reported about another address, returned by the next call that sends, and
    // once.
    if (tries == 2) return unreachable("cannot send: ", why);
  }
}

}  // namespace cupel::bmc::ipmi
