#include "burnin/agent/node/tcp/stream.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/try.h"

namespace cupel::agent::tcp {
namespace {

constexpr std::size_t kLongestLine = 128;
constexpr std::size_t kPiece = 256u << 10;
constexpr std::chrono::seconds kConfirm{30};  // for what is still under way at the end
constexpr std::string_view kReceived = "received";

Error socket_error(std::string_view what) {
  return {Code::kUnreachable, std::string{what} + ": " + std::strerror(errno)};
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

Clock::time_point after(Clock::time_point from, std::chrono::duration<double> time) {
  return from + std::chrono::duration_cast<Clock::duration>(time);
}

Result<Sent> counters_of(int socket, std::uint64_t bytes) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return socket_error("TCP_INFO");
  return Sent{bytes, info.tcpi_data_segs_out, info.tcpi_total_retrans,
              static_cast<double>(info.tcpi_min_rtt)};
}

Result<Stream> connected(const addrinfo& address, Clock::time_point until) {
  Descriptor socket{::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return socket_error("socket");
  if (::connect(socket.number(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return socket_error("connect");
    pollfd ready{socket.number(), POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0)
      return Error{Code::kTimeout, "connect: no answer"};
    int failure = 0;
    socklen_t size = sizeof failure;
    ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &failure, &size);
    errno = failure;
    if (failure != 0) return socket_error("connect");
  }
  return Stream{std::move(socket)};
}

}  // namespace

Result<void> Stream::wait(short events, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return Error{Code::kTimeout, "the other node stopped answering"};
    pollfd ready{socket_.number(), events, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left));
    if (count > 0) return ok();
    if (count < 0 && errno != EINTR) return socket_error("poll");
  }
}

Result<void> Stream::write_line(std::string_view line, Clock::time_point until) {
  const auto text = std::string{line} + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const auto put = ::send(socket_.number(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (put < 0 && !would_block()) return socket_error("send");
    if (put < 0) {
      TRY(wait(POLLOUT, until));
      continue;
    }
    done += static_cast<std::size_t>(put);
  }
  return ok();
}

/// Byte by byte: what follows the line is data.
Result<std::string> Stream::read_line(Clock::time_point until) {
  std::string line;
  for (;;) {
    char byte = 0;
    const auto got = ::recv(socket_.number(), &byte, 1, 0);
    if (got == 0) return Error{Code::kUnreachable, "the other node closed the connection"};
    if (got < 0 && !would_block()) return socket_error("recv");
    if (got < 0) {
      TRY(wait(POLLIN, until));
      continue;
    }
    if (byte == '\n') return line;
    if (line.size() == kLongestLine) return Error{Code::kMalformed, "the line is too long"};
    line += byte;
  }
}

Result<Sent> Stream::send(const Bounds& bounds) {
  const std::vector<char> zeros(kPiece);
  const auto end = after(Clock::now(), bounds.time);
  std::uint64_t bytes = 0;
  while (bytes < bounds.bytes && Clock::now() < end) {
    const auto most = std::min<std::uint64_t>(zeros.size(), bounds.bytes - bytes);
    const auto put = ::send(socket_.number(), zeros.data(), most, MSG_NOSIGNAL);
    if (put < 0 && !would_block()) return socket_error("send");
    if (put >= 0) bytes += static_cast<std::uint64_t>(put);
    if (put >= 0) continue;
    const auto ready = wait(POLLOUT, end);
    if (!ready && ready.error().code != Code::kTimeout) return ready.error();
  }
  ::shutdown(socket_.number(), SHUT_WR);
  TRY(const auto answer, read_line(Clock::now() + kConfirm));
  if (answer != kReceived) return Error{Code::kMalformed, "the other node did not confirm the end"};
  return counters_of(socket_.number(), bytes);
}

Result<Received> Stream::receive(const Bounds& bounds) {
  std::vector<char> piece(kPiece);
  Received received;
  auto begun = Clock::now();
  const auto until = after(begun, bounds.time) + kConfirm;
  for (;;) {
    if (Clock::now() > until) return Error{Code::kTimeout, "the other node does not stop sending"};
    const auto got = ::recv(socket_.number(), piece.data(), piece.size(), 0);
    if (got == 0) break;
    if (got < 0 && !would_block()) return socket_error("recv");
    if (got < 0) {
      TRY(wait(POLLIN, until));
      continue;
    }
    if (received.bytes == 0) begun = Clock::now();
    received.bytes += static_cast<std::uint64_t>(got);
    if (received.bytes > bounds.bytes)
      return Error{Code::kMalformed, "more bytes came than were asked for"};
  }
  received.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  TRY(write_line(kReceived, Clock::now() + kConfirm));
  return received;
}

Result<Stream> connect_to(const std::string& host, std::uint16_t port, Clock::time_point until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return Error{Code::kUnreachable, host + ": " + ::gai_strerror(failed)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all{found, &::freeaddrinfo};
  Error last{Code::kUnreachable, host + ": no address"};
  for (const auto* each = all.get(); each != nullptr; each = each->ai_next) {
    auto stream = connected(*each, until);
    if (stream) return stream;
    last = std::move(stream).error();
  }
  return std::move(last).within(host + " port " + std::to_string(port));
}

}  // namespace cupel::agent::tcp
