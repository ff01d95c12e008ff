// How https_server.h hears a request: its headers first, then its body, piece by piece.
#include <boost/beast/http.hpp>

#include "base/text.h"
#include "rehearsal/bmc/https_connection.h"

namespace cupel::rehearsal {
namespace {

namespace http = boost::beast::http;
constexpr const char* kContinue = "HTTP/1.1 100 Continue\r\n\r\n";  // RFC 9110, 10.1.1

HttpRequest head_of(const http::request_header<>& header) {
  HttpRequest plain{.method = std::string{header.method_string()},
                    .target = std::string{header.target()}};
  for (const auto& field : header)
    plain.headers[lower_case(std::string_view{field.name_string()})] = std::string{field.value()};
  return plain;
}

}  // namespace

/// One request with its body, which whoever wants it piece by piece gets so.
Task<HttpsServer::Heard> HttpsServer::hear(std::shared_ptr<Connection> connection) {
  auto& wire = connection->stream;
  http::request_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);
  parser.header_limit(kMostHeader);
  connection->allow(kIdle);
  const auto [failure, taken] =
      co_await http::async_read_header(wire, connection->buffer, parser, kAwait);
  Heard heard{.lost = failure.failed()};
  if (heard.lost) co_return heard;
  heard.request = head_of(parser.get());
  heard.version = parser.get().version();
  heard.keep_alive = parser.keep_alive();
  const auto sink = service_.sink_of(heard.request);
  const auto most = sink ? sink->limit() : kMostBody;
  heard.too_long = parser.content_length().value_or(0) > most;
  const bool waits = lower_case(heard.request.header("expect")) == "100-continue";
  if (waits && !heard.too_long) {
    const bool reported = co_await connection->send(kContinue);
    heard.lost = !reported;
  }
  if (!parser.is_done()) connection->piece.resize(Connection::kPiece);
  std::size_t size = 0;
  while (!heard.lost && !heard.too_long && !heard.cut && !parser.is_done()) {
    auto& body = parser.get().body();
    body.data = connection->piece.data();
    body.size = connection->piece.size();
    connection->allow(kIdle);
    const auto [broken, read] = co_await http::async_read(wire, connection->buffer, parser, kAwait);
    heard.lost = broken.failed() && broken != http::error::need_buffer;
    const std::string_view piece{connection->piece.data(), connection->piece.size() - body.size};
    size += piece.size();
    heard.too_long = size > most;
    if (heard.lost || heard.too_long) break;
    if (sink)
      heard.cut = !sink->take(piece);
    else
      heard.request.body += piece;
  }
  if (sink && parser.is_done()) heard.request.received = sink->finish();
  co_return heard;
}

}  // namespace cupel::rehearsal
