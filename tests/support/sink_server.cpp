#include "tests/support/sink_server.h"

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/digest.h"
#include "base/task.h"
#include "base/text.h"
#include "tests/support/certificate.h"

namespace cupel::test {
namespace {

using tcp = asio::ip::tcp;
using Tls = asio::ssl::stream<tcp::socket>;
constexpr std::size_t kHalfWay = 64u << 10;

std::uint64_t length_in(const std::string& head) {
  for (const auto line : lines(head))
    if (lower_case(line).starts_with("content-length:"))
      return number<std::uint64_t>(trimmed(line.substr(15))).value_or(0);
  return 0;
}

}  // namespace

struct SinkServer::Impl {
  explicit Impl(Manner how) : manner{std::move(how)} {
    const auto certificate = make_certificate();
    tls.use_certificate(asio::buffer(certificate.certificate_pem), asio::ssl::context::pem);
    tls.use_private_key(asio::buffer(certificate.key_pem), asio::ssl::context::pem);
    acceptor.open(tcp::v4());
    acceptor.set_option(asio::socket_base::receive_buffer_size{64 << 10});
    acceptor.bind(
        {manner.everywhere ? asio::ip::address_v4::any() : asio::ip::address_v4::loopback(), 0});
    acceptor.listen();
    listener = std::thread{[this] { accept(); }};
  }
  ~Impl() {
    {
      const std::lock_guard lock{mutex};
      stopped = true;
      ::shutdown(acceptor.native_handle(), SHUT_RDWR);
      for (const int fd : open) ::shutdown(fd, SHUT_RDWR);
      over.notify_all();
    }
    listener.join();
    for (auto& one : threads) one.join();
  }

  void accept() {
    for (;;) {
      boost::system::error_code failure;
      tcp::socket socket{io};
      acceptor.accept(socket, failure);
      const std::lock_guard lock{mutex};
      if (failure || stopped) return;
      ++connections;
      open.push_back(socket.native_handle());
      most = std::max(most, static_cast<int>(open.size()));
      threads.emplace_back([this, one = std::move(socket)]() mutable { serve(std::move(one)); });
    }
  }

  void serve(tcp::socket socket) {
    const int fd = socket.native_handle();
    Tls stream{std::move(socket), tls};
    boost::system::error_code failure;
    stream.handshake(asio::ssl::stream_base::server, failure);
    if (!failure) take(stream);
    const std::lock_guard lock{mutex};
    std::erase(open, fd);
  }

  void take(Tls& stream) {
    boost::system::error_code failure;
    std::string read;
    const auto end = asio::read_until(stream, asio::dynamic_buffer(read), "\r\n\r\n", failure);
    if (failure) return;
    Taken one{.head = read.substr(0, end)};
    const auto needed = std::min(length_in(one.head), manner.reads);
    Sha256 sum;
    bool reported = false;
    std::vector<char> piece(kHalfWay);
    std::string_view more = std::string_view{read}.substr(end);
    while (!failure) {
      one.bytes += more.size();
      sum.add(more);
      if (manner.keeps_body) one.body += more;
      if (one.bytes >= kHalfWay && manner.half_way && !std::exchange(reported, true))
        manner.half_way();
      if (one.bytes >= needed) break;
      const auto room = std::min<std::uint64_t>(piece.size(), needed - one.bytes);
      const auto got = stream.read_some(asio::buffer(piece.data(), room), failure);
      more = {piece.data(), got};
    }
    one.sha256 = sum.hex();
    const bool whole = one.bytes >= needed;
    note(std::move(one));
    if (whole) finish(stream);
  }

  void note(Taken one) {
    const std::lock_guard lock{mutex};
    taken.push_back(std::move(one));
  }

  void think() {
    std::unique_lock lock{mutex};
    over.wait_for(lock, manner.thinks, [this] { return stopped; });
  }

  void finish(Tls& stream) {
    boost::system::error_code ignored;
    if (manner.then == Manner::Then::cut) {
      auto& socket = stream.next_layer();
      (void)socket.set_option(asio::socket_base::linger{true, 0}, ignored);
      (void)socket.close(ignored);
    } else if (manner.then == Manner::Then::silence) {
      std::unique_lock lock{mutex};
      over.wait(lock, [this] { return stopped; });
    } else {
      think();
      asio::write(stream, asio::buffer(manner.answer), ignored);
      (void)stream.shutdown(ignored);
    }
  }

  Manner manner;
  asio::io_context io{1};
  asio::ssl::context tls{asio::ssl::context::tls_server};
  tcp::acceptor acceptor{io};
  mutable std::mutex mutex{};
  std::condition_variable over{};
  bool stopped = false;
  int connections = 0, most = 0;
  std::vector<int> open{};
  std::vector<Taken> taken{};
  std::vector<std::thread> threads{};
  std::thread listener{};
};

SinkServer::SinkServer(Manner manner) : impl_{std::make_unique<Impl>(std::move(manner))} {}
SinkServer::~SinkServer() = default;

inventory::Endpoint SinkServer::endpoint() const {
  return {.host = "127.0.0.1", .port = impl_->acceptor.local_endpoint().port()};
}

std::vector<SinkServer::Taken> SinkServer::taken() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->taken;
}

int SinkServer::connections() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->connections;
}

int SinkServer::most_at_once() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->most;
}

}  // namespace cupel::test
