#include "rehearsal/bmc/image_fetch.h"

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

Error lost(const ImageUri& uri, const boost::system::error_code& why) {
  return {Code::kUnreachable, fmt::format("{}:{}: {}", uri.host, uri.port, why.message())};
}

beast::tcp_stream& socket_of(beast::tcp_stream& stream) { return stream; }
beast::tcp_stream& socket_of(beast::ssl_stream<beast::tcp_stream>& stream) {
  return stream.next_layer();
}

/// Over a connection that stands.
template <class Stream>
Task<Result<ReceivedImage>> read_over(Stream& stream, ImageUri uri, std::size_t limit) {
  const auto asked = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: virtual-bmc\r\nAccept: */*\r\n"
      "Connection: close\r\n\r\n",
      uri.target, uri.host, uri.port);
  const auto [unsent, sent] = co_await asio::async_write(stream, asio::buffer(asked), kAwait);
  if (unsent) co_return lost(uri, unsent);
  beast::flat_buffer buffer{2 * kPiece};
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(limit);
  const auto [silent, heard] = co_await http::async_read_header(stream, buffer, parser, kAwait);
  if (silent) co_return lost(uri, silent);
  if (parser.get().result_int() != 200)
    co_return Error{Code::kFailed,
                    fmt::format("{}:{}: HTTP {}", uri.host, uri.port, parser.get().result_int())};
  ImageReader reader;
  std::vector<char> piece(kPiece);
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    socket_of(stream).expires_after(kPatience);
    const auto [broken, read] = co_await http::async_read(stream, buffer, parser, kAwait);
    if (broken && broken != http::error::need_buffer) co_return lost(uri, broken);
    reader.take({piece.data(), piece.size() - body.size});
  }
  co_return reader.finish();
}

}  // namespace

std::optional<ImageUri> loopback_uri(std::string_view uri) {
  ImageUri found{.tls = uri.starts_with("https://")};
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

Task<Result<ReceivedImage>> fetch_image(ImageUri uri, std::size_t limit) {
  const auto executor = co_await asio::this_coro::executor;
  beast::tcp_stream socket{executor};
  socket.expires_after(kPatience);
  const asio::ip::tcp::endpoint where{asio::ip::make_address_v4(uri.host), uri.port};
  const auto [refused] = co_await socket.async_connect(where, kAwait);
  if (refused) co_return lost(uri, refused);
  if (!uri.tls) co_return co_await read_over(socket, uri, limit);
  asio::ssl::context context{asio::ssl::context::tls_client};
  beast::ssl_stream<beast::tcp_stream> stream{std::move(socket), context};
  const auto [distrusted] = co_await stream.async_handshake(asio::ssl::stream_base::client, kAwait);
  if (distrusted) co_return lost(uri, distrusted);
  co_return co_await read_over(stream, uri, limit);
}

}  // namespace cupel::rehearsal
