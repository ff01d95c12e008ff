#include "orchestrator/api/listener.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <list>
#include <thread>
#include <type_traits>

#include "base/log.h"
#include "base/network_of.h"
#include "base/text.h"
#include "base/transfer_coding.h"
#include "orchestrator/api/endpoint.h"
#include "orchestrator/api/problem.h"

namespace cupel::api {
namespace {

namespace http = boost::beast::http;
using asio::generic::stream_protocol;
using Socket = stream_protocol::socket;
using PlainStream = boost::beast::basic_stream<stream_protocol>;
using TlsStream = boost::beast::ssl_stream<PlainStream>;
constexpr auto kAwaited = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPiece = 256u * 1024;
constexpr std::size_t kDropped = 16u * 1024;
constexpr int kMostRequestsOfOne = 100'000;
// 30 days; for this host name alone, on all of its ports. A browser does not take it where it warns
// of the certificate, nor of an IP address. Source: RFC 6797, 6.1, 8.1 and 8.1.1.
constexpr std::string_view kTransportSecurity = "max-age=2592000";

/// A socket on which connections come in.
struct Door {
  Door(asio::io_context& io, const stream_protocol& protocol, int descriptor, bool plain)
      : acceptor{io, protocol, descriptor}, is_local{plain} {}
  asio::basic_socket_acceptor<stream_protocol> acceptor;
  bool is_local;
};

/// Empty also where the name has characters that are not printable: without them it would be
/// another.
std::string certificate_name(SSL* ssl) {
  if (SSL_get_verify_result(ssl) != X509_V_OK) return {};
  const std::unique_ptr<X509, void (*)(X509*)> certificate{SSL_get1_peer_certificate(ssl),
                                                           X509_free};
  if (!certificate) return {};
  std::array<char, 256> name{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()),
                                             NID_commonName, name.data(), name.size());
  // A name with a NUL in it is cut there by others.
  const bool whole = size > 0 && std::cmp_equal(std::strlen(name.data()), size);
  const bool sound = whole && printable(name.data()) == name.data();
  return sound ? std::string{name.data()} : std::string{};
}

/// What came over a connection.
struct Incoming {
  Request request{};
  std::optional<Problem> refused{};  // the answer to what cannot be read; then the connection ends
  bool keep = false;                 // the connection may go on behind the answer
};

bool is_no_http(const boost::system::error_code& failure) {
  return failure.category() == make_error_code(http::error::bad_method).category() &&
         failure != http::error::end_of_stream && failure != http::error::partial_message;
}

/// Of the head alone: a field in a trailer is not one of the request (RFC 9110, 6.5.1). Errors:
/// kInvalid: its target, or not one Host (RFC 9112, 3.2).
Result<void> take_head(const http::request<http::string_body>& message, Request& request) {
  constexpr unsigned kHttp11 = 11;
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= kHttp11))
    return Error{Code::kInvalid, "the request is to have one Host field"};
  request.method = std::string_view{message.method_string()};
  for (const auto& field : message) {
    auto& value = request.fields[lower_case(std::string_view{field.name_string()})];
    if (!value.empty()) value += ", ";
    value += std::string_view{field.value()};
  }
  return read_target(std::string_view{message.target()}, request);
}

}  // namespace

struct Listener::Impl {
  Impl(ListenerLimits asked, Handler answering)
      : limits{asked}, handler{std::move(answering)}, work{asio::make_work_guard(io)} {}
  ~Impl() {
    stop();
    for (const auto& path : made) ::unlink(path.c_str());
  }

  void stop() {
    io.stop();
    if (thread.joinable()) thread.join();
  }
  void open_door(int descriptor, int family, bool is_local);
  Task<void> accept(Door& door);
  void begin(Socket socket, bool is_local);
  struct Count {
    std::size_t open = 0, strangers = 0;
  };
  /// The Unix sockets, or the network: neither takes the other's connections.
  struct Side {
    Count all{};
    std::map<std::string, Count> of_each{};
  };
  /// A connection that is counted.
  struct Guest {
    Side* side;
    std::string who{};
    bool is_known = false;
  };
  using GuestPtr = std::shared_ptr<Guest>;
  Task<void> serve(PlainStream stream, Peer peer, GuestPtr guest);
  Task<void> serve_tls(PlainStream stream, Peer peer, GuestPtr guest);
  template <class Stream>
  Task<void> answer_all(Stream& stream, const Peer& peer, Guest& guest);
  template <class Stream>
  Task<std::optional<Incoming>> read(Stream& stream, boost::beast::flat_buffer& buffer,
                                     std::chrono::milliseconds patience);
  template <class Stream>
  Task<bool> write(Stream& stream, const Answer& answer, bool head_only, bool keep);
  template <class Stream>
  Task<bool> write_text(Stream& stream, std::string_view text);
  template <class Stream>
  Task<void> linger(Stream& stream);
  /// nullptr: there is no room.
  GuestPtr enter(const Peer& peer);
  void know(Guest& guest);
  void leave(Guest& guest);

  std::function<void(std::exception_ptr)> when_lost = [](std::exception_ptr bug) {
    log_bug("listener-stopped", std::move(bug));
  };
  ListenerLimits limits;
  Handler handler;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::shared_ptr<asio::ssl::context> tls{};
  std::list<Door> doors{};
  Side local{}, network{};
  std::atomic<std::size_t> open{0};
  std::vector<std::filesystem::path> made{};
  std::thread thread{};
};

Listener::Listener(ListenerLimits limits, Handler handler)
    : impl_{std::make_unique<Impl>(limits, std::move(handler))} {}
Listener::~Listener() = default;

asio::io_context& Listener::io() { return impl_->io; }
std::size_t Listener::connections() const { return impl_->open; }

void Listener::Impl::open_door(int descriptor, int family, bool is_local) {
  doors.emplace_back(io, stream_protocol{family, 0}, descriptor, is_local);
}

Result<void> Listener::listen_unix(const std::filesystem::path& path) {
  TRY(const int descriptor, listening_unix_socket(path));
  impl_->made.push_back(path);
  impl_->open_door(descriptor, AF_UNIX, true);
  return ok();
}

Result<std::string> Listener::listen_tls(const std::string& address) {
  TRY(const auto socket, listening_tcp_socket(address));
  impl_->open_door(socket.descriptor, socket.family, false);
  return "https://" + socket.address;
}

Result<std::string> Listener::adopt(int descriptor) {
  TRY(const auto socket, adopted_socket(descriptor));
  const bool is_local = socket.family == AF_UNIX;
  impl_->open_door(socket.descriptor, socket.family, is_local);
  return is_local ? socket.address : "https://" + socket.address;
}

Result<void> Listener::use(const TlsFiles& files) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  auto* native = context->native_handle();
  try {
    SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    SSL_CTX_set_num_tickets(native, 0);
    context->use_certificate_chain(asio::buffer(files.certificate));
    context->use_private_key(asio::buffer(files.key), asio::ssl::context::pem);
    if (SSL_CTX_check_private_key(native) != 1)
      return Error{Code::kInvalid, "the certificate's key is of another certificate"};
    if (!files.client_ca.empty()) {
      context->add_certificate_authority(asio::buffer(files.client_ca));
      context->set_verify_mode(asio::ssl::verify_peer);
    }
  } catch (const std::exception& error) {
    return Error{Code::kInvalid, fmt::format("the service's certificate: {}", error.what())};
  }
  asio::post(impl_->io, [impl = impl_.get(), context] { impl->tls = context; });
  if (!impl_->thread.joinable()) impl_->tls = context;
  return ok();
}

void Listener::stop() { impl_->stop(); }

void log_bug(std::string_view event, std::exception_ptr bug) {
  if (!bug) return;
  try {
    std::rethrow_exception(std::move(bug));
  } catch (const std::exception& error) {
    log::error({}, event, error.what());
  }
}

void Listener::on_lost(std::function<void(std::exception_ptr)> lost) {
  impl_->when_lost = std::move(lost);
}

void Listener::start() {
  for (auto& door : impl_->doors) asio::co_spawn(impl_->io, impl_->accept(door), impl_->when_lost);
  impl_->thread = std::thread{[impl = impl_.get()] {
    while (!impl->io.stopped()) try {
        impl->io.run();
      } catch (const std::exception& bug) {
        log::error({}, "service-bug", bug.what());
      }
  }};
}

Listener::Impl::GuestPtr Listener::Impl::enter(const Peer& peer) {
  auto& side = peer.local ? local : network;
  const auto who = peer.local ? fmt::format("user {}", peer.user) : network_of(peer.address);
  auto& count = side.of_each[who];
  const bool full =
      side.all.open >= limits.connections || count.open >= limits.connections_per_address;
  const bool strangers = !peer.local && (side.all.strangers >= limits.strangers ||
                                         count.strangers >= limits.strangers_per_address);
  if (full || strangers) {
    // Or each address that is refused would stay.
    if (count.open == 0) side.of_each.erase(who);
    return nullptr;
  }
  for (auto* each : {&side.all, &count}) ++each->open, ++each->strangers;
  ++open;
  return std::make_shared<Guest>(Guest{&side, who});
}

void Listener::Impl::know(Guest& guest) {
  if (std::exchange(guest.is_known, true)) return;
  --guest.side->all.strangers;
  --guest.side->of_each[guest.who].strangers;
}

void Listener::Impl::leave(Guest& guest) {
  know(guest);
  --open;
  --guest.side->all.open;
  const auto at = guest.side->of_each.find(guest.who);
  if (--at->second.open == 0) guest.side->of_each.erase(at);
}

Task<void> Listener::Impl::accept(Door& door) {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    auto [failure, socket] = co_await door.acceptor.async_accept(kAwaited);
    if (failure == asio::error::operation_aborted) co_return;
    if (failure) {
      // Out of descriptors, most likely: they do not come back by asking at once.
      (void)co_await pause_for(std::chrono::milliseconds{100});
      continue;
    }
    begin(std::move(socket), door.is_local);
  }
}

void Listener::Impl::begin(Socket socket, bool is_local) {
  const auto peer = peer_of(socket.native_handle(), is_local);
  if (!peer) return;
  const auto guest = enter(*peer);
  if (!guest) return;
  set_no_delay(socket.native_handle());
  PlainStream stream{std::move(socket)};
  auto serving = is_local ? serve(std::move(stream), *peer, guest)
                          : serve_tls(std::move(stream), *peer, guest);
  asio::co_spawn(io, std::move(serving), [this, guest](std::exception_ptr bug) {
    leave(*guest);
    log_bug("service-bug", bug);
  });
}

Task<void> Listener::Impl::serve(PlainStream stream, Peer peer, GuestPtr guest) {
  co_await answer_all(stream, peer, *guest);
}

Task<void> Listener::Impl::serve_tls(PlainStream plain, Peer peer, GuestPtr guest) {
  const auto context = tls;
  if (!context) co_return;
  TlsStream stream{std::move(plain), *context};
  boost::beast::get_lowest_layer(stream).expires_after(limits.head_patience);
  const auto [refused] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwaited);
  if (refused) co_return;
  peer.certificate = certificate_name(stream.native_handle());
  co_await answer_all(stream, peer, *guest);
}

template <class Stream>
Task<void> Listener::Impl::answer_all(Stream& stream, const Peer& peer, Guest& guest) {
  boost::beast::flat_buffer buffer{limits.head + static_cast<std::size_t>(limits.body)};
  auto patience = limits.head_patience;
  for (int served = 0; served < kMostRequestsOfOne; ++served) {
    auto incoming = co_await read(stream, buffer, patience);
    if (!incoming) co_return;
    auto& request = incoming->request;
    request.peer = peer;
    const bool head_only = request.method == "HEAD";
    Answer answer;
    if (incoming->refused)
      answer = answer_of(*incoming->refused);
    else
      answer = co_await handler(std::move(request));
    if (answer.to_known) know(guest);
    // In clear it is not to be sent. Source: RFC 6797, 7.2.
    if constexpr (std::is_same_v<Stream, TlsStream>)
      answer.fields.emplace_back("Strict-Transport-Security", kTransportSecurity);
    const bool keep = incoming->keep && !answer.close && !answer.feed;
    const bool whole = co_await write(stream, answer, head_only, keep);
    if (!whole) co_return;
    if (!keep) break;
    patience = limits.idle;
  }
  co_await linger(stream);
}

/// Closes in stages: a close while bytes of the client are unread makes the kernel send a reset,
/// which may take the answer from the client. Bounded by bytes and by time. Source: RFC 9112, 9.6;
/// of TLS, 9.8.
template <class Stream>
Task<void> Listener::Impl::linger(Stream& stream) {
  auto& lowest = boost::beast::get_lowest_layer(stream);
  lowest.expires_after(limits.linger_patience);
  // It sends the closure alert, and fails where the client still sends: that is dropped below.
  if constexpr (std::is_same_v<Stream, TlsStream>) (void)co_await stream.async_shutdown(kAwaited);
  boost::system::error_code gone;
  lowest.socket().shutdown(Socket::shutdown_send, gone);
  std::vector<char> dropped(kDropped);
  for (std::uint64_t left = limits.linger; !gone && left > 0;) {
    const auto [ended, size] = co_await lowest.async_read_some(asio::buffer(dropped), kAwaited);
    gone = ended;
    left -= std::min<std::uint64_t>(left, size);
  }
}

/// Nothing: the connection is over.
template <class Stream>
Task<std::optional<Incoming>> Listener::Impl::read(Stream& stream,
                                                   boost::beast::flat_buffer& buffer,
                                                   std::chrono::milliseconds patience) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(limits.head);
  parser.body_limit(limits.body);
  auto& lowest = boost::beast::get_lowest_layer(stream);
  lowest.expires_after(patience);
  Incoming incoming;
  const auto [bad_head, head] = co_await http::async_read_header(stream, buffer, parser, kAwaited);
  boost::system::error_code failure = bad_head;
  Result<void> taken = ok();
  if (!failure) {
    const auto& known = parser.get();
    constexpr auto kCoding = http::field::transfer_encoding;
    if (!has_known_coding(known.version(), known.count(kCoding), known[kCoding])) {
      incoming.refused = {501, "invalid", "the only transfer coding that is known here is chunked"};
      co_return incoming;
    }
    taken = take_head(known, incoming.request);
    if (known.version() >= 11 &&
        boost::beast::iequals(known[http::field::expect], "100-continue")) {
      const bool sent = co_await write_text(stream, "HTTP/1.1 100 Continue\r\n\r\n");
      if (!sent) co_return std::nullopt;
    }
    lowest.expires_after(limits.body_patience);
    const auto [bad_body, body] = co_await http::async_read(stream, buffer, parser, kAwaited);
    failure = bad_body;
  }
  if (failure == http::error::header_limit || failure == http::error::buffer_overflow)
    incoming.refused = {431, "too-large", fmt::format("the head is over {} bytes", limits.head)};
  else if (failure == http::error::body_limit)
    incoming.refused = {413, "too-large", fmt::format("the body is over {} bytes", limits.body)};
  else if (failure && is_no_http(failure))
    incoming.refused = {400, "invalid", "this is no HTTP/1.1 request: " + failure.message()};
  else if (failure)
    co_return std::nullopt;
  if (incoming.refused) co_return incoming;
  auto message = parser.release();
  incoming.keep = message.keep_alive();
  incoming.request.body = std::move(message.body());
  if (!taken) {
    incoming.refused = {400, "invalid", taken.error().what};
    incoming.keep = false;
  }
  co_return incoming;
}

template <class Stream>
Task<bool> Listener::Impl::write_text(Stream& stream, std::string_view text) {
  while (!text.empty()) {
    boost::beast::get_lowest_layer(stream).expires_after(limits.write_patience);
    const auto piece = text.substr(0, kPiece);
    const auto [lost, sent] =
        co_await asio::async_write(stream, asio::buffer(piece.data(), piece.size()), kAwaited);
    if (lost) co_return false;
    text.remove_prefix(sent);
  }
  co_return true;
}

template <class Stream>
Task<bool> Listener::Impl::write(Stream& stream, const Answer& answer, bool head_only, bool keep) {
  const bool bodiless = head_only || answer.status == 204 || answer.status == 304;
  auto text = head_of(answer, keep);
  const bool small = answer.body && !answer.feed && answer.body->size() < kPiece;
  if (small && !bodiless) text += *answer.body;
  if (!co_await write_text(stream, text)) co_return false;
  if (bodiless) co_return true;
  if (!answer.feed) co_return small || co_await write_text(stream, *answer.body);
  for (;;) {
    boost::beast::get_lowest_layer(stream).expires_never();
    const auto piece = co_await answer.feed->next();
    if (!piece) co_return false;
    const bool sent = co_await write_text(stream, *piece);
    if (!sent) co_return false;
  }
}

}  // namespace cupel::api
