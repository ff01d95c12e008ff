#pragma once
// One connection of https_server.h, and one request as it comes over it. Only for the files that
// serve one.
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <vector>

#include "rehearsal/bmc/https_server.h"

namespace cupel::rehearsal {

inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class HttpsServer::Connection {
 public:
  static constexpr std::size_t kPiece = 64 * 1024;

  Connection(asio::ip::tcp::socket socket, asio::ssl::context& context)
      : stream{boost::beast::tcp_stream{std::move(socket)}, context},
        pause{stream.next_layer().get_executor()} {}

  /// Whatever waits on it ends at once.
  void close() {
    pause.cancel();
    stream.next_layer().close();
  }
  /// The same, and the peer gets an RST.
  void cut() {
    boost::system::error_code ignored;
    auto& socket = stream.next_layer().socket();
    (void)socket.set_option(asio::socket_base::linger{true, 0}, ignored);
    close();
  }
  void allow(std::chrono::seconds patience) { stream.next_layer().expires_after(patience); }
  void allow_forever() { stream.next_layer().expires_never(); }
  /// False if the peer has gone.
  Task<bool> send(std::string text) {
    const auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(text), kAwait);
    co_return !lost;
  }

  boost::beast::ssl_stream<boost::beast::tcp_stream> stream;
  asio::steady_timer pause;  // before an answer that is late
  boost::beast::flat_buffer buffer{kMostHeader + kPiece};
  std::vector<char> piece{};  // of a body; so long as there is one
};

/// One request as it came, or why it did not.
struct HttpsServer::Heard {
  HttpRequest request{};
  unsigned version = 11;
  bool keep_alive = false;
  bool lost = false;      // the peer has gone
  bool cut = false;       // whoever took the body had enough
  bool too_long = false;  // the body was not read
};

}  // namespace cupel::rehearsal
