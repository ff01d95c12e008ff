#include "orchestrator/images/http_server.h"

#include <fmt/format.h>

#include <boost/asio/ssl.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <concepts>
#include <mutex>

#include "base/log.h"
#include "base/text.h"
#include "base/transfer_coding.h"
#include "orchestrator/images/byte_range.h"
#include "orchestrator/images/http_head.h"
#include "orchestrator/images/patience.h"
#include "orchestrator/images/peer_count.h"
#include "orchestrator/images/send_file.h"

namespace cupel::images {
namespace {

namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::uint32_t kMostHead = 8 * 1024;
constexpr int kMostRequests = 10'000;               // of one connection
constexpr std::uint64_t kPacedPiece = 256u * 1024;  // what is reserved at a time
constexpr std::uint64_t kRead = 256u * 1024;        // what is read at a time
constexpr std::uint64_t kCached = 1u << 20;         // what the kernel sends of its page cache
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

using Request = http::request<http::string_body>;

struct Connection {
  explicit Connection(tcp::socket taken) : socket{std::move(taken)}, patience{socket} {
    boost::system::error_code unknown;
    peer = socket.remote_endpoint(unknown).address();
  }
  tcp::socket socket;
  Patience patience;
  asio::ip::address peer{};
};

/// When `bytes` may go by all of `paces`.
Task<void> wait_for_turn(const std::vector<std::shared_ptr<Pace>>& paces, std::uint64_t bytes,
                         Patience& patience, std::chrono::seconds idle) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (const auto& pace : paces) {
    const auto when = pace->reserve(bytes);
    if (when <= Clock::now()) continue;
    patience.allow(when - Clock::now() + idle);
    timer.expires_at(when);
    co_await timer.async_wait(kAwait);
  }
}

using TlsContext = std::shared_ptr<asio::ssl::context>;

/// Errors: kInvalid.
Result<TlsContext> tls_context(std::string_view what, const std::string& certificate,
                               const std::string& key) {
  try {
    auto made = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    made->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    made->use_certificate_chain(asio::buffer(certificate));
    made->use_private_key(asio::buffer(key), asio::ssl::context::pem);
    return made;
  } catch (const std::exception& error) {
    return Error{Code::kInvalid, fmt::format("{}: its certificate: {}", what, error.what())};
  }
}

/// The system's reason alone: what() of the exception names Asio's files and functions too.
Error cannot_listen(std::string_view what, const tcp::endpoint& endpoint,
                    const boost::system::error_code& refused) {
  auto text = fmt::format("{}: {}:{}: {}", what, endpoint.address().to_string(), endpoint.port(),
                          refused.message());
  if (refused == asio::error::address_in_use)
    text += fmt::format(
        "; another program listens there, such as another controller: ss -ltnp 'sport = :{}' names "
        "it. End that one, or name another port in the inventory",
        endpoint.port());
  return {Code::kConflict, std::move(text)};
}

/// Whether the peer begins as TLS does (RFC 8446, 5.1: a record of a handshake); what it sent stays
/// to be read. False too where it has gone.
Task<bool> begins_tls(tcp::socket& socket) {
  constexpr unsigned char kHandshake = 22;
  unsigned char first = 0;
  const auto [failure, size] = co_await socket.async_receive(
      asio::buffer(&first, 1), asio::socket_base::message_peek, kAwait);
  co_return !failure && first == kHandshake;
}

Result<std::string> read_of(const OpenFile& file, std::uint64_t offset, std::size_t size) {
  return file.read(offset, size);
}

}  // namespace

struct HttpServer::Impl {
  Impl(HttpOptions asked, Handler answering)
      : options{std::move(asked)},
        handler{std::move(answering)},
        peers{options.connections, options.connections_per_peer},
        disk{options.disk, options.read ? options.read : read_of},
        pool{static_cast<std::size_t>(options.threads)},
        acceptor{asio::make_strand(pool)} {}
  ~Impl() {
    pool.stop();
    pool.join();
  }

  Result<void> listen(std::string_view what);
  boost::system::error_code begin_to_listen();
  /// Of the next connection; null: plain HTTP.
  TlsContext current_tls() {
    const std::scoped_lock lock{tls_mutex};
    return tls;
  }
  Task<void> accept();
  void begin(tcp::socket socket);
  Task<void> serve(std::shared_ptr<Connection> connection);
  template <class Stream>
  Task<void> answer_all(Stream& stream, Connection& connection);
  template <class Stream>
  Task<bool> answer(Stream& stream, Connection& connection, Request request);
  template <class Stream>
  Task<std::uint64_t> send_of(Stream& stream, Connection& connection, const Piece& piece,
                              std::uint64_t done, std::uint64_t size);
  template <class Stream>
  Task<std::uint64_t> send(Stream& stream, Connection& connection, const HttpAnswer& answer,
                           const std::vector<Piece>& pieces);

  HttpOptions options;
  Handler handler;
  std::string base{};
  std::mutex tls_mutex{};
  TlsContext tls{};
  PeerCount peers;
  DiskThreads disk;
  asio::thread_pool pool;
  tcp::acceptor acceptor;  // goes before the pool
};

/// Why not; nothing where it listens.
boost::system::error_code HttpServer::Impl::begin_to_listen() {
  boost::system::error_code refused;
  (void)acceptor.open(options.endpoint.protocol(), refused);
  if (!refused) (void)acceptor.set_option(tcp::acceptor::reuse_address{true}, refused);
  if (!refused) (void)acceptor.bind(options.endpoint, refused);
  if (!refused) (void)acceptor.listen(asio::socket_base::max_listen_connections, refused);
  return refused;
}

Result<void> HttpServer::Impl::listen(std::string_view what) {
  if (!options.certificate.empty()) {
    TRY(tls, tls_context(what, options.certificate, options.key));
  }
  if (const auto refused = begin_to_listen()) return cannot_listen(what, options.endpoint, refused);
  options.endpoint = acceptor.local_endpoint();
  auto host = options.host.empty() ? options.endpoint.address().to_string() : options.host;
  if (host.contains(':') && !host.starts_with('[')) host = "[" + host + "]";
  base = fmt::format("{}://{}:{}", tls ? "https" : "http", host, options.endpoint.port());
  // A server that accepts nobody and says nothing is worse than none.
  asio::co_spawn(acceptor.get_executor(), accept(), [](std::exception_ptr bug) {
    if (bug) std::rethrow_exception(bug);
  });
  return ok();
}

Task<void> HttpServer::Impl::accept() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    auto [failure, socket] = co_await acceptor.async_accept(asio::make_strand(pool), kAwait);
    if (failure == asio::error::operation_aborted) co_return;
    if (failure) {
      // Out of descriptors, most likely: they do not come back by asking at once.
      (void)co_await pause_for(std::chrono::milliseconds{100});
      continue;
    }
    begin(std::move(socket));
  }
}

void HttpServer::Impl::begin(tcp::socket socket) {
  auto connection = std::make_shared<Connection>(std::move(socket));
  if (!peers.enter(connection->peer)) return;
  const auto strand = connection->socket.get_executor();
  connection->patience.allow(options.head_patience);
  asio::co_spawn(strand, connection->patience.watch(), [connection](std::exception_ptr) {});
  asio::co_spawn(strand, serve(connection), [this, connection](std::exception_ptr) {
    connection->patience.end();
    peers.leave(connection->peer);
  });
}

Task<void> HttpServer::Impl::serve(std::shared_ptr<Connection> connection) {
  auto& socket = connection->socket;
  boost::system::error_code ignored;
  (void)socket.set_option(tcp::no_delay{true}, ignored);
  const auto context = current_tls();
  const bool plain = !context || (options.plain_too && !co_await begins_tls(socket));
  if (plain) co_return co_await answer_all(socket, *connection);
  asio::ssl::stream<tcp::socket&> stream{socket, *context};
  const auto [refused] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
  if (!refused) co_return co_await answer_all(stream, *connection);
  if (options.no_handshake) options.no_handshake(connection->peer, refused.message());
}

template <class Stream>
Task<void> HttpServer::Impl::answer_all(Stream& stream, Connection& connection) {
  boost::beast::flat_buffer buffer{kMostHead + options.body_limit};
  for (int served = 0; served < kMostRequests; ++served) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kMostHead);
    parser.body_limit(options.body_limit);
    connection.patience.allow(options.head_patience);
    const auto [failure, head] = co_await http::async_read_header(stream, buffer, parser, kAwait);
    if (failure) co_return;
    constexpr auto kCoding = http::field::transfer_encoding;
    const auto& known = parser.get();
    if (!has_known_coding(known.version(), known.count(kCoding), known[kCoding])) co_return;
    if (parser.get()[http::field::expect] == "100-continue") {
      const auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(kContinue), kAwait);
      if (lost) co_return;
    }
    const auto [cut, body] = co_await http::async_read(stream, buffer, parser, kAwait);
    if (cut || !co_await answer(stream, connection, parser.release())) co_return;
  }
}

/// False where the connection is over.
template <class Stream>
Task<bool> HttpServer::Impl::answer(Stream& stream, Connection& connection, Request request) {
  const auto begun = Clock::now();
  auto answer =
      handler({std::string_view{request.method_string()}, std::string_view{request.target()},
               request.body(), connection.peer, !std::same_as<Stream, tcp::socket>});
  const auto reply = reply_of(answer, std::string_view{request[http::field::range]});
  if (reply.status / 100 == 2) peers.serve(connection.peer);
  const bool keep = request.keep_alive() && !answer.close;
  const auto head = head_of(answer, reply, keep);
  connection.patience.allow(options.idle);
  const auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(head), kAwait);
  const auto ended = [&](std::uint64_t bytes, bool whole) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    if (answer.sent) answer.sent({reply.status, bytes, whole, took});
  };
  if (lost) {
    ended(0, false);
    co_return false;
  }
  const bool needed = request.method() != http::verb::head;
  std::uint64_t bytes = 0;
  if (needed) bytes = co_await send(stream, connection, answer, reply.pieces);
  const bool whole = !needed || bytes == reply.bytes.size;
  ended(bytes, needed && whole);
  co_return keep&& whole;
}

/// How many bytes went; 0: the peer is gone, or the file cannot be read there.
template <class Stream>
Task<std::uint64_t> HttpServer::Impl::send_of(Stream& stream, Connection& connection,
                                              const Piece& piece, std::uint64_t done,
                                              std::uint64_t size) {
  connection.patience.allow(options.idle);
  if (!piece.file) co_return co_await send_text(stream, piece.text, done, size);
  const auto offset = piece.offset + done;
  if constexpr (std::same_as<Stream, tcp::socket>) {
    // Nothing is copied, and no disk is waited for.
    const auto whole = std::min(size, kCached);
    if (!options.read && piece.file->is_cached(offset, whole))
      co_return co_await send_some(stream, piece.file->fd(), offset, whole);
  }
  connection.patience.allow(options.idle + std::chrono::ceil<seconds>(options.disk.patience));
  const auto bytes = co_await disk.read(piece.file, offset, std::min(size, kRead));
  if (!bytes) log::warning({}, "image-not-read", printable(bytes.error().what));
  if (!bytes) co_return 0;
  std::uint64_t sent = 0;
  while (sent < bytes->size()) {
    connection.patience.allow(options.idle);
    const auto more = co_await send_text(stream, *bytes, sent, bytes->size() - sent);
    if (more == 0) break;
    sent += more;
  }
  co_return sent;
}

/// How many bytes went.
template <class Stream>
Task<std::uint64_t> HttpServer::Impl::send(Stream& stream, Connection& connection,
                                           const HttpAnswer& answer,
                                           const std::vector<Piece>& pieces) {
  std::uint64_t all = 0, reserved = 0;
  for (const auto& piece : pieces) {
    for (std::uint64_t done = 0; done < piece.length();) {
      if (answer.is_over && answer.is_over()) co_return all;
      auto size = piece.length() - done;
      if (!answer.paces.empty()) {
        if (reserved == 0) {
          reserved = std::min(size, kPacedPiece);
          co_await wait_for_turn(answer.paces, reserved, connection.patience, options.idle);
        }
        size = std::min(size, reserved);
      }
      const auto sent = co_await send_of(stream, connection, piece, done, size);
      if (sent == 0) co_return all;
      done += sent;
      all += sent;
      reserved -= std::min(reserved, sent);
    }
  }
  co_return all;
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(std::string_view what, HttpOptions options,
                                                      Handler handler) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  TRY(impl->listen(what));
  return std::unique_ptr<HttpServer>{new HttpServer{std::move(impl)}};
}

Result<void> HttpServer::renew_certificate(const std::string& certificate, const std::string& key) {
  if (!impl_->current_tls())
    return Error{Code::kInvalid, "a server of plain HTTP has no certificate"};
  TRY(auto renewed, tls_context(url(), certificate, key));
  const std::scoped_lock lock{impl_->tls_mutex};
  impl_->tls = std::move(renewed);
  return ok();
}

const std::string& HttpServer::url() const { return impl_->base; }

std::uint16_t HttpServer::port() const { return impl_->options.endpoint.port(); }

}  // namespace cupel::images
