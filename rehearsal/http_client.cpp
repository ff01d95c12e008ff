#include "rehearsal/http_client.h"

#include <fmt/format.h>

#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "base/text.h"

namespace cupel::rehearsal {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kPatience{60};  // without a byte, of our time
constexpr std::size_t kPiece = 64 * 1024;

Error lost(const LoopbackUri& uri, const boost::system::error_code& why) {
  return {why == http::error::body_limit ? Code::kFailed : Code::kUnreachable,
          fmt::format("{}:{}: {}", uri.host, uri.port, why.message())};
}

beast::tcp_stream& socket_of(beast::tcp_stream& stream) { return stream; }
beast::tcp_stream& socket_of(beast::ssl_stream<beast::tcp_stream>& stream) {
  return stream.next_layer();
}

std::string request_text(const HttpAsk& ask) {
  auto text = fmt::format(
      "{} {} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: {}\r\nAccept: */*\r\nConnection: close\r\n",
      ask.method, ask.uri.target, ask.uri.host, ask.uri.port, ask.agent);
  if (ask.method != "GET")
    text +=
        fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", ask.body.size());
  return text + "\r\n" + ask.body;
}

/// Over a connection that stands.
template <class Stream>
Task<Result<HttpReply>> ask_over(Stream& stream, const HttpAsk& ask, std::size_t limit,
                                 const HttpSink& sink) {
  const auto asked = request_text(ask);
  const auto [unsent, sent] = co_await asio::async_write(stream, asio::buffer(asked), kAwait);
  if (unsent) co_return lost(ask.uri, unsent);
  beast::flat_buffer buffer{2 * kPiece};
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(limit);
  const auto [silent, heard] = co_await http::async_read_header(stream, buffer, parser, kAwait);
  if (silent) co_return lost(ask.uri, silent);
  HttpReply reply{.status = parser.get().result_int()};
  std::vector<char> piece(kPiece);
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    socket_of(stream).expires_after(kPatience);
    const auto [broken, read] = co_await http::async_read(stream, buffer, parser, kAwait);
    if (broken && broken != http::error::need_buffer) co_return lost(ask.uri, broken);
    const std::string_view bytes{piece.data(), piece.size() - body.size};
    if (sink && reply.status == 200)
      sink(bytes);
    else
      reply.body += bytes;
  }
  co_return reply;
}

Result<asio::ip::tcp::endpoint> own_endpoint(const std::string& from) {
  boost::system::error_code wrong;
  const auto address = asio::ip::make_address_v4(from, wrong);
  if (wrong || !address.is_loopback())
    return Error{Code::kInvalid, "'" + from + "' is no loopback address"};
  return asio::ip::tcp::endpoint{address, 0};
}

}  // namespace

std::optional<LoopbackUri> loopback_uri(std::string_view uri) {
  LoopbackUri found{.tls = uri.starts_with("https://")};
  if (!found.tls && !uri.starts_with("http://")) return std::nullopt;
  uri.remove_prefix(uri.find("//") + 2);
  const auto slash = std::min(uri.find('/'), uri.size());
  const auto authority = uri.substr(0, slash);
  found.target = slash == uri.size() ? "/" : std::string{uri.substr(slash)};
  const auto colon = authority.find(':');
  found.host = authority.substr(0, colon);
  const auto usual = found.tls ? "443" : "80";
  const auto port = number<std::uint16_t>(colon == authority.npos ? std::string_view{usual}
                                                                  : authority.substr(colon + 1));
  boost::system::error_code wrong;
  const auto address = asio::ip::make_address_v4(found.host, wrong);
  const bool plain = found.target.find_first_of(" \r\n") == std::string::npos;
  if (wrong || !address.is_loopback() || !port || !plain) return std::nullopt;
  found.port = *port;
  return found;
}

Task<Result<HttpReply>> ask_http(HttpAsk ask, std::size_t limit, HttpSink sink) {
  const auto executor = co_await asio::this_coro::executor;
  beast::tcp_stream socket{executor};
  if (!ask.from.empty()) {
    CO_TRY(const auto own, own_endpoint(ask.from));
    boost::system::error_code failure;
    (void)socket.socket().open(own.protocol(), failure);
    if (!failure) (void)socket.socket().bind(own, failure);
    if (failure) co_return lost(ask.uri, failure);
  }
  socket.expires_after(kPatience);
  const asio::ip::tcp::endpoint where{asio::ip::make_address_v4(ask.uri.host), ask.uri.port};
  const auto [refused] = co_await socket.async_connect(where, kAwait);
  if (refused) co_return lost(ask.uri, refused);
  if (!ask.uri.tls) co_return co_await ask_over(socket, ask, limit, sink);
  asio::ssl::context context{asio::ssl::context::tls_client};
  beast::ssl_stream<beast::tcp_stream> stream{std::move(socket), context};
  const auto [distrusted] = co_await stream.async_handshake(asio::ssl::stream_base::client, kAwait);
  if (distrusted) co_return lost(ask.uri, distrusted);
  co_return co_await ask_over(stream, ask, limit, sink);
}

}  // namespace cupel::rehearsal
