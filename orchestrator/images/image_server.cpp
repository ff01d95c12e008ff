#include "orchestrator/images/image_server.h"

#include <fmt/format.h>

#include <boost/asio/ssl.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "orchestrator/images/byte_range.h"
#include "orchestrator/images/send_file.h"
#include "orchestrator/images/served_files.h"

namespace cupel::images {
namespace {

namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::uint32_t kMostHead = 8 * 1024;
constexpr int kMostRequests = 10'000;  // of one connection

using Head = http::request<http::empty_body>;

/// What is sent before a file's bytes, and which of them.
struct Reply {
  http::status status = http::status::not_found;
  std::shared_ptr<ServedFile> file{};
  ByteRange bytes{};
  bool body = false;
};

Reply reply_to(const Head& head, ServedFiles& files, const asio::ip::address& peer) {
  const bool get = head.method() == http::verb::get;
  if (!get && head.method() != http::verb::head) return {http::status::method_not_allowed};
  auto file = files.find(std::string_view{head.target()}, peer);
  if (!file) return {};
  const auto wanted = wanted_range(std::string_view{head[http::field::range]}, file->size);
  using enum RangeAnswer;
  if (wanted.answer == unsatisfiable) return {http::status::range_not_satisfiable, std::move(file)};
  const auto status = wanted.answer == part ? http::status::partial_content : http::status::ok;
  return {status, std::move(file), wanted.bytes, get};
}

std::string head_of(const Reply& reply, bool keep_alive) {
  auto text = fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\nConnection: {}\r\n",
                          static_cast<unsigned>(reply.status),
                          std::string_view{http::obsolete_reason(reply.status)}, reply.bytes.size,
                          keep_alive ? "keep-alive" : "close");
  if (reply.status == http::status::method_not_allowed) text += "Allow: GET, HEAD\r\n";
  if (reply.file) {
    text += "Accept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\n";
    if (reply.status == http::status::partial_content)
      text += fmt::format("Content-Range: bytes {}-{}/{}\r\n", reply.bytes.first,
                          reply.bytes.first + reply.bytes.size - 1, reply.file->size);
    if (reply.status == http::status::range_not_satisfiable)
      text += fmt::format("Content-Range: bytes */{}\r\n", reply.file->size);
  }
  return text + "\r\n";
}

/// Closes a socket over which nothing has moved for too long.
class Patience {
 public:
  explicit Patience(tcp::socket& socket) : socket_{socket}, timer_{socket.get_executor()} {}
  void allow(std::chrono::seconds patience) {
    until_ = std::chrono::steady_clock::now() + patience;
  }
  void end() {
    ended_ = true;
    timer_.cancel();
  }
  Task<void> watch() {
    while (!ended_ && std::chrono::steady_clock::now() < until_) {
      timer_.expires_at(until_);
      co_await timer_.async_wait(kAwait);
    }
    boost::system::error_code ignored;
    (void)socket_.close(ignored);
  }

 private:
  tcp::socket& socket_;
  asio::steady_timer timer_;
  std::chrono::steady_clock::time_point until_{};
  bool ended_ = false;
};

struct Connection {
  explicit Connection(tcp::socket taken) : socket{std::move(taken)}, patience{socket} {}
  tcp::socket socket;
  Patience patience;
};

}  // namespace

struct ImageServer::Impl {
  Impl(asio::any_io_executor owner, ImageServerOptions asked, Log told)
      : executor{std::move(owner)},
        options{std::move(asked)},
        log{std::move(told)},
        pool{static_cast<std::size_t>(options.threads)},
        acceptor{asio::make_strand(pool)} {}
  ~Impl() {
    pool.stop();
    pool.join();
  }

  Result<void> listen();
  Task<void> accept();
  Task<void> serve(std::shared_ptr<Connection> connection);
  template <class Stream>
  Task<void> answer_all(Stream& stream, Connection& connection);
  template <class Stream>
  Task<bool> answer(Stream& stream, Connection& connection, Head head, asio::ip::address peer);
  void tell(const Head& head, const asio::ip::address& peer, const Reply& reply,
            std::uint64_t bytes);

  asio::any_io_executor executor;
  ImageServerOptions options;
  Log log;
  std::string base{};  // "http://10.0.0.1:8080"
  ServedFiles files{};
  std::optional<asio::ssl::context> tls{};
  std::atomic<std::size_t> open{0};
  asio::thread_pool pool;
  tcp::acceptor acceptor;  // goes before the pool
};

Result<void> ImageServer::Impl::listen() {
  try {
    if (!options.certificate.empty()) {
      tls.emplace(asio::ssl::context::tls_server);
      tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
      tls->use_certificate_chain(asio::buffer(options.certificate));
      tls->use_private_key(asio::buffer(options.key), asio::ssl::context::pem);
    }
  } catch (const std::exception& error) {
    return Error{Code::kInvalid, std::string{"image server: its certificate: "} + error.what()};
  }
  try {
    acceptor.open(options.endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address{true});
    acceptor.bind(options.endpoint);
    acceptor.listen();
  } catch (const std::exception& error) {
    return Error{Code::kConflict,
                 fmt::format("image server: {}:{}: {}", options.endpoint.address().to_string(),
                             options.endpoint.port(), error.what())};
  }
  options.endpoint = acceptor.local_endpoint();
  auto host = options.host.empty() ? options.endpoint.address().to_string() : options.host;
  if (host.contains(':') && !host.starts_with('[')) host = "[" + host + "]";
  base = fmt::format("{}://{}:{}", tls ? "https" : "http", host, options.endpoint.port());
  asio::co_spawn(acceptor.get_executor(), accept(), [](std::exception_ptr) {});
  return ok();
}

Task<void> ImageServer::Impl::accept() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    auto [failure, socket] = co_await acceptor.async_accept(asio::make_strand(pool), kAwait);
    if (failure == asio::error::operation_aborted) co_return;
    if (failure) {
      // Out of descriptors, most likely: they do not come back by asking at once.
      (void)co_await pause_for(std::chrono::milliseconds{100});
      continue;
    }
    if (open >= options.connections) continue;
    ++open;
    auto connection = std::make_shared<Connection>(std::move(socket));
    const auto strand = connection->socket.get_executor();
    connection->patience.allow(options.head_patience);
    asio::co_spawn(strand, connection->patience.watch(), [connection](std::exception_ptr) {});
    asio::co_spawn(strand, serve(connection), [this, connection](std::exception_ptr) {
      connection->patience.end();
      --open;
    });
  }
}

Task<void> ImageServer::Impl::serve(std::shared_ptr<Connection> connection) {
  auto& socket = connection->socket;
  boost::system::error_code ignored;
  (void)socket.set_option(tcp::no_delay{true}, ignored);
  if (!tls) co_return co_await answer_all(socket, *connection);
  asio::ssl::stream<tcp::socket&> stream{socket, *tls};
  const auto [refused] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
  if (!refused) co_await answer_all(stream, *connection);
}

template <class Stream>
Task<void> ImageServer::Impl::answer_all(Stream& stream, Connection& connection) {
  boost::system::error_code unknown;
  const auto peer = connection.socket.remote_endpoint(unknown).address();
  boost::beast::flat_buffer buffer{kMostHead};
  for (int served = 0; served < kMostRequests; ++served) {
    http::request_parser<http::empty_body> parser;
    parser.header_limit(kMostHead);
    connection.patience.allow(options.head_patience);
    const auto [failure, taken] = co_await http::async_read(stream, buffer, parser, kAwait);
    if (failure) co_return;
    if (!co_await answer(stream, connection, parser.release(), peer)) co_return;
  }
}

/// False where the connection is over.
template <class Stream>
Task<bool> ImageServer::Impl::answer(Stream& stream, Connection& connection, Head head,
                                     asio::ip::address peer) {
  const auto reply = reply_to(head, files, peer);
  const bool keep = head.keep_alive();
  const auto text = head_of(reply, keep);
  connection.patience.allow(options.idle);
  const auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(text), kAwait);
  if (lost) co_return false;
  std::uint64_t bytes = 0;
  while (reply.body && bytes < reply.bytes.size && !reply.file->is_over()) {
    connection.patience.allow(options.idle);
    const auto more = co_await send_some(stream, reply.file->fd, reply.bytes.first + bytes,
                                         reply.bytes.size - bytes);
    if (more == 0) break;
    bytes += more;
  }
  tell(head, peer, reply, bytes);
  co_return keep && (!reply.body || bytes == reply.bytes.size);
}

void ImageServer::Impl::tell(const Head& head, const asio::ip::address& peer, const Reply& reply,
                             std::uint64_t bytes) {
  if (!log) return;
  Access access{.url = reply.file ? reply.file->grant.name : std::string{},
                .peer = peer.to_string(),
                .status = static_cast<int>(reply.status),
                .bytes = bytes,
                .whole = head.method() == http::verb::get && bytes == reply.bytes.size};
  asio::post(executor, [told = log, access = std::move(access)] { told(access); });
}

Result<std::unique_ptr<ImageServer>> ImageServer::start(asio::any_io_executor executor,
                                                        ImageServerOptions options, Log log) {
  auto impl = std::make_shared<Impl>(std::move(executor), std::move(options), std::move(log));
  TRY(impl->listen());
  return std::unique_ptr<ImageServer>{new ImageServer{std::move(impl)}};
}

ImageServer::~ImageServer() = default;

Result<std::string> ImageServer::grant(Grant grant) {
  TRY(const auto path, impl_->files.add(std::move(grant)));
  return impl_->base + path;
}

void ImageServer::revoke(const std::string& url) {
  if (url.starts_with(impl_->base)) impl_->files.revoke(url.substr(impl_->base.size()));
}

std::uint16_t ImageServer::port() const { return impl_->options.endpoint.port(); }

}  // namespace cupel::images
