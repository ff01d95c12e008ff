#include "rehearsal/bmc/https_server.h"

#include <fmt/format.h>

#include <boost/beast/http.hpp>

#include "rehearsal/bmc/event_log.h"
#include "rehearsal/bmc/https_connection.h"
#include "rehearsal/listening.h"

namespace cupel::rehearsal {
namespace {

namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

asio::ssl::context context_of(const Certificate& certificate) {
  asio::ssl::context context{asio::ssl::context::tls_server};
  context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context.use_certificate(asio::buffer(certificate.certificate_pem), asio::ssl::context::pem);
  context.use_private_key(asio::buffer(certificate.key_pem), asio::ssl::context::pem);
  return context;
}

/// As it goes over the wire, but for the body. Beast's own writers would be compiled anew for each
/// kind of message.
std::string head_of(const http::response_header<>& header) {
  std::string text =
      fmt::format("HTTP/{}.{} {} {}\r\n", header.version() / 10, header.version() % 10,
                  header.result_int(), std::string_view{header.reason()});
  for (const auto& field : header)
    text += fmt::format("{}: {}\r\n", std::string_view{field.name_string()},
                        std::string_view{field.value()});
  return text += "\r\n";
}

struct Wire {
  std::string head, body;
};

Wire wire_of(HttpResponse plain, std::string_view server, unsigned version, bool keep_alive,
             bool head) {
  http::response<http::string_body> response{static_cast<http::status>(plain.status), version};
  if (!server.empty()) response.set(http::field::server, server);
  for (const auto& [name, value] : plain.headers) response.set(name, value);
  response.keep_alive(keep_alive);
  response.body() = std::move(plain.body);
  // RFC 9110, 8.6: a 204 has no Content-Length.
  if (plain.status != 204 && plain.status != 304 && !head) response.prepare_payload();
  return {head_of(response), std::move(response.body())};
}

}  // namespace

/// One request that is being answered.
class HttpsServer::Answering {
 public:
  explicit Answering(HttpsServer& server) : server_{server} {
    server_.most_at_once_ = std::max(server_.most_at_once_, ++server_.at_once_);
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;
  ~Answering() { --server_.at_once_; }

 private:
  HttpsServer& server_;
};

struct HttpsServer::Tls {
  asio::ssl::context own;
  std::optional<asio::ssl::context> another{};  // what it shows instead, where a fault says so
};

HttpsServer::HttpsServer(asio::any_io_executor executor, WebService& service, std::string name,
                         Certificate certificate, tcp::endpoint endpoint)
    : executor_{executor},
      service_{service},
      name_{std::move(name)},
      certificate_{std::move(certificate)},
      endpoint_{endpoint},
      acceptor_{executor} {}

HttpsServer::~HttpsServer() { stop(); }

Result<void> HttpsServer::listen() {
  try {
    tls_.reset(new Tls{context_of(certificate_)});
  } catch (const std::exception& error) {
    return Error{Code::kFailed, "TLS of " + name_ + ": " + error.what()};
  }
  return open();
}

Result<void> HttpsServer::open() {
  TRY(listen_at(acceptor_, endpoint_));
  if (endpoint_.port() == 0) endpoint_.port(acceptor_.local_endpoint().port());
  asio::co_spawn(executor_, accept(), [](std::exception_ptr) {});
  return ok();
}

void HttpsServer::renew_certificate() {
  auto made = make_certificate(name_, endpoint_.address().to_string());
  if (!made) return;
  certificate_ = *std::move(made);
  // Connections that are still closing hold OpenSSL's own reference to the old one.
  tls_->own = context_of(certificate_);
}

void HttpsServer::close() {
  boost::system::error_code ignored;
  (void)acceptor_.close(ignored);
  for (const auto& connection : open_) connection->close();
}

void HttpsServer::stop() {
  if (std::exchange(stopped_, true)) return;
  close();
}

/// With the certificate that it shows now.
std::shared_ptr<HttpsServer::Connection> HttpsServer::connected(tcp::socket socket) {
  auto* shown = &tls_->own;
  const bool changed = service_.disguised();
  if (changed && !tls_->another) {
    auto made = make_certificate(name_, endpoint_.address().to_string());
    if (made) tls_->another.emplace(context_of(*made));
  }
  if (changed && tls_->another) shown = &*tls_->another;
  return std::make_shared<Connection>(std::move(socket), *shown);
}

Task<void> HttpsServer::accept() {
  for (;;) {
    auto [failure, socket] = co_await acceptor_.async_accept(kAwait);
    if (stopped_ || failure == asio::error::operation_aborted) co_return;
    if (failure) {
      // Out of descriptors, most likely: they do not come back by asking at once.
      (void)co_await pause_for(std::chrono::milliseconds{100});
      continue;
    }
    if (open_.size() >= kMostConnections) continue;
    boost::system::error_code ignored;
    (void)socket.set_option(tcp::no_delay{true}, ignored);
    auto connection = connected(std::move(socket));
    open_.insert(connection);
    asio::co_spawn(executor_, serve(connection), [this, connection](std::exception_ptr) {
      connection->close();
      open_.erase(connection);
    });
  }
}

Task<void> HttpsServer::serve(std::shared_ptr<Connection> connection) {
  auto& stream = connection->stream;
  connection->allow(kIdle);
  const auto [refused] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
  if (refused) co_return;
  co_await answer_all(connection);
  constexpr std::chrono::seconds kParting{2};
  connection->allow(kParting);
  co_await stream.async_shutdown(kAwait);
}

/// Until one of the two has had enough.
Task<void> HttpsServer::answer_all(std::shared_ptr<Connection> connection) {
  const auto habits = service_.habits();
  int served = 0;
  for (bool again = true; again;) {
    auto heard = co_await hear(connection);
    if (heard.lost) co_return;
    if (heard.cut) co_return connection->cut();
    if (service_.hung()) co_return co_await say_nothing(connection);
    if (served++ > 0 && served == habits.resets_every) co_return connection->cut();
    std::optional<Answering> answering{std::in_place, *this};
    again = heard.keep_alive && !heard.too_long && !habits.says_close;
    const auto version = heard.version;
    const bool head = heard.request.method == "HEAD";
    auto plain = heard.too_long
                     ? redfish_error(413, "PayloadTooLarge", "The request body is too large.")
                     : service_.handle(heard.request);
    if (plain.late.count() > 0) {
      connection->pause.expires_after(plain.late);
      const auto [stopped] = co_await connection->pause.async_wait(kAwait);
      if (stopped) co_return;
    }
    if (plain.cut) co_return connection->cut();
    if (plain.silent) co_return co_await say_nothing(connection);
    const auto breaks_off = plain.breaks_off;
    if (plain.stream) answering.reset();
    if (plain.stream) co_return co_await stream(connection, std::move(plain));
    auto response = wire_of(std::move(plain), habits.server, version, again, head);
    connection->allow(kIdle);
    // The headers promise a whole body, and nothing says that there is no more of it.
    if (breaks_off) response.body.resize(std::min(response.body.size(), *breaks_off));
    auto text = std::move(response.head) + response.body;
    const bool sent = co_await connection->send(std::move(text));
    if (breaks_off) connection->close();
    if (!sent || breaks_off) co_return;
  }
}

/// Takes whatever else comes, until the peer has had enough.
Task<void> HttpsServer::say_nothing(std::shared_ptr<Connection> connection) {
  connection->allow_forever();
  std::array<char, 4096> ignored{};
  for (;;) {
    const auto [gone, taken] =
        co_await connection->stream.async_read_some(asio::buffer(ignored), kAwait);
    if (gone) co_return connection->cut();
  }
}

/// Server-Sent Events, until the reader has gone or the service ends it. Source: DSP0266,
/// "Server-sent events".
Task<void> HttpsServer::stream(std::shared_ptr<Connection> connection, HttpResponse response) {
  auto events = response.stream;
  http::response_header<> head;
  head.result(http::status::ok);
  head.version(11);
  for (const auto& [name, value] : response.headers) head.set(name, value);
  head.set(http::field::transfer_encoding, "chunked");
  connection->allow(kIdle);
  auto begin = head_of(head);
  const bool begun = co_await connection->send(std::move(begin));
  if (!begun) co_return;
  asio::steady_timer more{executor_};
  events->on_change = [&more] { more.cancel(); };
  std::string text = ": stream\n\n";
  while (!stopped_) {
    connection->allow(kIdle);
    auto chunk = fmt::format("{:x}\r\n{}\r\n", text.size(), text);
    const bool sent = co_await connection->send(std::move(chunk));
    if (!sent || events->ended) break;
    if (events->waiting.empty()) {
      connection->allow_forever();
      more.expires_after(kStillThere);
      co_await more.async_wait(kAwait);
    }
    text = events->waiting.empty() ? ": still there\n\n" : std::move(events->waiting.front());
    if (!events->waiting.empty()) events->waiting.pop_front();
  }
  events->on_change = nullptr;
}

}  // namespace cupel::rehearsal
