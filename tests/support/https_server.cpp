#include "tests/support/https_server.h"

#include <openssl/evp.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <mutex>
#include <set>
#include <thread>

#include "base/task.h"
#include "base/text.h"
#include "tests/support/captures.h"
#include "tests/support/certificate.h"
#include "tests/support/small_machine.h"

namespace cupel::test {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Stream = beast::ssl_stream<beast::tcp_stream>;
using HttpRequest = http::request<http::string_body>;
using HttpResponse = http::response<http::string_body>;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kSessions = "/redfish/v1/SessionService/Sessions";

std::string error_body(std::string_view id, std::string_view text) {
  return serialize(
      json::value{{"error",
                   {{"code", "Base.1.8.GeneralError"},
                    {"message", "See ExtendedInfo."},
                    {"@Message.ExtendedInfo",
                     json::array{json::object{
                         {"MessageId", id}, {"Message", text}, {"Severity", "Critical"}}}}}}});
}

std::string without_slash(std::string_view uri) {
  std::string path{uri.substr(0, uri.find_first_of("?#"))};
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

struct HttpsServer::Impl final : Resources {
  explicit Impl(Options chosen) : options{std::move(chosen)} { start(options.port); }
  ~Impl() override { stop(); }

  void start(std::uint16_t requested) {
    certificate = make_certificate();
    tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    tls->use_certificate(asio::buffer(certificate.certificate_pem), asio::ssl::context::pem);
    tls->use_private_key(asio::buffer(certificate.key_pem), asio::ssl::context::pem);
    if (!options.client_ca.empty()) {
      tls->add_certificate_authority(asio::buffer(options.client_ca));
      tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    if (!ticket_keys.empty())
      SSL_CTX_set_tlsext_ticket_keys(tls->native_handle(), ticket_keys.data(), ticket_keys.size());
    io = std::make_unique<asio::io_context>(1);
    tcp::acceptor acceptor{*io};
    acceptor.open(tcp::v4());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind({asio::ip::make_address(options.address), requested});
    acceptor.listen();
    port = acceptor.local_endpoint().port();
    asio::co_spawn(*io, accept(std::move(acceptor)), [](std::exception_ptr) {});
    thread = std::thread{[this] { io->run(); }};
  }

  void stop() {
    io->stop();
    thread.join();
    listeners.clear();
    io.reset();  // ends every connection
    in_flight = 0;
  }

  Task<void> accept(tcp::acceptor acceptor) {
    for (;;) {
      auto [failure, socket] = co_await acceptor.async_accept(kAwait);
      if (failure) co_return;
      asio::co_spawn(*io, serve(std::move(socket)), [](std::exception_ptr) {});
    }
  }

  Task<void> serve(tcp::socket socket) {
    socket.set_option(tcp::no_delay(true));
    Stream stream{beast::tcp_stream{std::move(socket)}, *tls};
    auto [broken] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
    if (broken) co_return;
    note_connection(SSL_session_reused(stream.native_handle()) == 1);
    beast::flat_buffer buffer;
    for (;;) {
      HttpRequest request;
      auto [failure, size] = co_await http::async_read(stream, buffer, request, kAwait);
      if (failure) co_return;
      const auto habit = begin(request);
      const auto number = this->number();
      if (!habit && request.target() == kEventStream && is_allowed(request)) {
        end();
        co_await stream_events(stream);
        co_return;
      }
      if (habit && habit->kind == Habit::Kind::reset_connection) {
        end();
        co_return reset(stream);
      }
      if (habit && habit->kind == Habit::Kind::cut) {
        end();
        co_return co_await cut_off(stream, *habit);
      }
      const auto think =
          habit && habit->kind == Habit::Kind::never_answer ? std::chrono::hours{1} : thinking();
      while (!has_gathered() || !may_answer(number))
        (void)co_await pause_for(std::chrono::milliseconds{1});
      if (think.count() > 0) (void)co_await pause_for(think);
      const bool loses_answer = habit && habit->kind == Habit::Kind::act_and_reset;
      HttpResponse response = habit && !loses_answer ? badly(*habit) : properly(request);
      if (loses_answer) {
        end();
        co_return reset(stream);
      }
      change_by_last_word(request, response);
      end();
      response.version(11);
      response.keep_alive(true);
      response.prepare_payload();
      auto [lost, sent] = co_await http::async_write(stream, response, kAwait);
      if (lost) co_return;
    }
  }

  bool is_allowed(const HttpRequest& request) {
    const std::lock_guard lock{mutex};
    return is_known(request);
  }

  /// Whatever is published, as it comes, until the streams are ended.
  /// Source: WHATWG HTML, 9.2.5 (text/event-stream).
  Task<void> stream_events(Stream& stream) {
    asio::steady_timer news{*io, asio::steady_timer::time_point::max()};
    auto reported = std::make_shared<Listener>(Listener{&news, {}, false});
    listeners.push_back(reported);
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(head), kAwait);
    while (!lost) {
      const std::string text = std::exchange(reported->text, {});
      if (!text.empty())
        std::tie(lost, sent) = co_await asio::async_write(stream, asio::buffer(text), kAwait);
      if (reported->ended) break;
      if (!text.empty()) continue;
      (void)co_await news.async_wait(kAwait);
    }
    std::erase(listeners, reported);
  }

  void tell(std::string text, bool ended) {
    asio::post(*io, [this, text = std::move(text), ended] {
      for (const auto& listener : listeners) {
        listener->text += text;
        listener->ended |= ended;
        listener->news->cancel();
      }
    });
  }

  static Task<void> cut_off(Stream& stream, const Habit& habit) {
    std::string head = "HTTP/1.1 " + std::to_string(habit.status) + " No\r\n";
    for (const auto& [name, value] : habit.headers) head += name + ": " + value + "\r\n";
    head += "Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n<html><body>";
    (void)co_await asio::async_write(stream, asio::buffer(head), kAwait);
    beast::get_lowest_layer(stream).socket().close();
  }

  static void reset(Stream& stream) {
    auto& socket = beast::get_lowest_layer(stream).socket();
    socket.set_option(asio::socket_base::linger(true, 0));
    socket.close();
  }

  void note_connection(bool resumed) {
    const std::lock_guard lock{mutex};
    ++asked.connections;
    if (resumed) ++asked.resumed;
  }

  std::chrono::milliseconds thinking() {
    const std::lock_guard lock{mutex};
    return options.thinking;
  }

  bool has_gathered() {
    const std::lock_guard lock{mutex};
    return asked.most_in_flight >= options.gathers;
  }

  bool may_answer(int number) {
    const std::lock_guard lock{mutex};
    return !options.answers || number <= *options.answers;
  }

  /// Of the request that came last.
  int number() {
    const std::lock_guard lock{mutex};
    return asked.requests;
  }

  std::optional<Habit> begin(const HttpRequest& request) {
    const std::lock_guard lock{mutex};
    ++asked.requests;
    asked.most_in_flight = std::max(asked.most_in_flight, ++in_flight);
    const std::string method{request.method_string()}, target{request.target()};
    asked.lines.push_back(method + " " + target);
    if (request[http::field::accept_encoding] != "identity") ++asked.compressible;
    for (auto& habit : habits) {
      const bool fits = habit.times > 0 && (habit.method.empty() || habit.method == method) &&
                        target.starts_with(habit.path);
      if (!fits) continue;
      if (habit.skip-- > 0) continue;
      --habit.times;
      return habit;
    }
    return std::nullopt;
  }

  void end() {
    const std::lock_guard lock{mutex};
    --in_flight;
  }

  static HttpResponse reply(int status, std::string body = {}) {
    HttpResponse response;
    response.result(static_cast<unsigned>(status));
    if (!body.empty()) response.set(http::field::content_type, "application/json");
    response.body() = std::move(body);
    return response;
  }

  static HttpResponse badly(const Habit& habit) {
    auto response = reply(habit.status, habit.body);
    for (const auto& [name, value] : habit.headers) response.set(name, value);
    return response;
  }

  void change_by_last_word(const HttpRequest& request, HttpResponse& response) {
    const std::lock_guard lock{mutex};
    if (!options.last_word) return;
    Exchanged now{.method = std::string{request.method_string()},
                  .path = std::string{request.target()},
                  .token = std::string{request["X-Auth-Token"]},
                  .authorization = std::string{request[http::field::authorization]},
                  .body = request.body(),
                  .status = static_cast<int>(response.result_int()),
                  .answer = response.body()};
    options.last_word(now);
    response.result(static_cast<unsigned>(now.status));
    response.body() = std::move(now.answer);
    if (!response.body().empty()) response.set(http::field::content_type, "application/json");
  }

  HttpResponse properly(const HttpRequest& request) {
    const std::lock_guard lock{mutex};
    const auto path = without_slash(std::string{request.target()});
    if (path == kSessions && request.method() == http::verb::post) return log_in(request);
    if (path == "/redfish/v1" && request.method() == http::verb::get) return get(path, request);
    if (!is_known(request))
      return reply(401, error_body("Base.1.8.NoValidSession", "There is no valid session."));
    if (request.method() == http::verb::get) return get(path, request);
    if (request.method() == http::verb::delete_) return log_out(path);
    if (auto written = by_writes(path, request)) return std::move(*written);
    if (request.method() == http::verb::patch) return patch(path, request);
    if (request.method() == http::verb::post && path.ends_with("ComputerSystem.Reset"))
      return press(path, request);
    return reply(405, error_body("Base.1.8.OperationNotAllowed", "Not here."));
  }

  HttpResponse log_in(const HttpRequest& request) {
    ++asked.logins;
    if (options.sessions_exhausted)
      return reply(
          503, error_body("IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached."));
    const auto body = parse_json(request.body());
    const auto user = body ? text_at(*body, "UserName").value_or("") : "";
    const auto own = passwords.find(user);
    const auto right = own != passwords.end() ? own->second : options.password;
    const bool known = user == "admin" || own != passwords.end();
    const bool good = known && text_at(*body, "Password") == right;
    if (!good) {
      ++asked.refused;
      return reply(401, error_body("Base.1.8.AuthorizationFailed", "The password is incorrect."));
    }
    const std::string id = options.session_prefix + std::to_string(++last_session);
    const std::string token = "token-" + id;
    sessions[id] = token;
    const auto uri = std::string{kSessions} + "/" + id;
    auto response = reply(201, serialize(json::value{{"@odata.id", uri}, {"Id", id}}));
    response.set("X-Auth-Token", token);
    response.set("Location", uri);
    return response;
  }

  bool is_known(const HttpRequest& request) {
    const std::string token{request["X-Auth-Token"]};
    if (!token.empty() && std::exchange(options.refuses_tokens_once, false)) return false;
    for (const auto& [id, known] : sessions)
      if (known == token) return true;
    const std::string basic{request[http::field::authorization]};
    if (basic.empty()) return false;
    const std::string plain = "admin:" + options.password;
    std::string encoded(plain.size() * 2 + 4, '\0');
    const auto length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                        reinterpret_cast<const unsigned char*>(plain.data()),
                                        static_cast<int>(plain.size()));
    encoded.resize(static_cast<std::size_t>(length));
    if (basic == "Basic " + encoded) return true;
    ++asked.refused;
    return false;
  }

  HttpResponse log_out(const std::string& path) {
    const bool gone =
        path.starts_with(kSessions) && sessions.erase(path.substr(kSessions.size() + 1)) > 0;
    return gone ? reply(204) : reply(404, error_body("Base.1.8.ResourceMissing", "No such."));
  }

  std::optional<json::value> document(const std::string& path) {
    if (const auto changed = changes.find(path); changed != changes.end()) return changed->second;
    if (options.tree.empty()) {
      auto small = small_machine(path);
      if (auto* object = small.if_object(); object != nullptr && !options.serial.empty())
        if (auto* serial = object->if_contains("SerialNumber")) *serial = options.serial;
      return small.is_null() ? std::nullopt : std::optional{small};
    }
    const auto text = captured_answer(options.tree, path);
    if (!text) return std::nullopt;
    auto parsed = parse_json(*text);
    if (!parsed) return std::nullopt;
    return *std::move(parsed);
  }

  /// DSP0266, 7.3.1: each member in place of its link.
  void expand(json::value& collection) {
    auto* members = collection.as_object().if_contains("Members");
    if (members == nullptr || !members->is_array()) return;
    for (auto& member : members->get_array()) {
      const auto whole = document(without_slash(text_at(member, "@odata.id").value_or("")));
      if (!whole || !whole->is_object()) continue;
      member = *whole;
      if (!options.dropped_by_expand.empty()) member.get_object().erase(options.dropped_by_expand);
    }
  }

  HttpResponse get(const std::string& path, const HttpRequest& request) {
    auto found = document(path);
    if (!found) return reply(404, error_body("Base.1.8.ResourceMissing", "No such resource."));
    if (pending && path == pending->system && pending->looks-- <= 0) {
      found->as_object()["PowerState"] = pending->state;
      changes[path] = *found;
      pending.reset();
    }
    const bool expanding = std::string{request.target()}.find("$expand") != std::string::npos;
    if (expanding && !options.expands)
      return reply(501, error_body("Base.1.8.QueryNotSupported", "Querying is not supported."));
    if (expanding) expand(*found);
    // DSP0266, 6.5 and 7.2: the same tag in the header, and 304 where it is still that one.
    const auto etag = expanding ? std::string{} : text_at(*found, "@odata.etag").value_or("");
    const std::string match{request[http::field::if_none_match]};
    if (!etag.empty() && match == etag) {
      ++asked.unchanged;
      auto response = reply(304);
      response.set(http::field::etag, etag);
      return response;
    }
    auto response = reply(200, serialize(*found));
    if (!etag.empty()) response.set(http::field::etag, etag);
    asked.body_bytes += response.body().size();
    return response;
  }

  HttpResponse patch(const std::string& path, const HttpRequest& request) {
    auto found = document(path);
    if (!found) return reply(404, error_body("Base.1.8.ResourceMissing", "No such resource."));
    const std::string match{request[http::field::if_match]};
    asked.patches.push_back(path + " " + match + " " + request.body());
    if (options.wants_if_match && match.empty())
      return reply(428, error_body("Base.1.8.PreconditionRequired", "If-Match is missing."));
    const auto etag = text_at(*found, "@odata.etag").value_or("");
    if (options.wants_if_match && match != etag && match != "*")
      return reply(412, error_body("Base.1.8.PreconditionFailed", "The ETag does not match."));
    const auto body = parse_json(request.body());
    const auto* boot = body ? find(*body, "Boot") : nullptr;
    if (boot == nullptr || !boot->is_object() || options.forgets_patches) return reply(204);
    auto& target = found->as_object()["Boot"];
    for (const auto& entry : boot->get_object()) target.as_object()[entry.key()] = entry.value();
    changes[path] = *found;
    return reply(204);
  }

  /// The hook of a test that knows how its machine takes writes; ETags are checked before it.
  std::optional<HttpResponse> by_writes(const std::string& path, const HttpRequest& request) {
    const bool patches = request.method() == http::verb::patch;
    if (!options.writes || (!patches && request.method() != http::verb::post)) return std::nullopt;
    const std::string match{request[http::field::if_match]};
    if (patches) asked.patches.push_back(path + " " + match + " " + request.body());
    const auto before = patches ? document(path) : std::nullopt;
    const auto etag = before ? text_at(*before, "@odata.etag").value_or("") : "";
    if (patches && options.wants_if_match && match.empty())
      return reply(428, error_body("Base.1.8.PreconditionRequired", "If-Match is missing."));
    if (patches && options.wants_if_match && match != etag && match != "*")
      return reply(412, error_body("Base.1.8.PreconditionFailed", "The ETag does not match."));
    if (patches && options.forgets_patches) return reply(204);
    auto body = parse_json(request.body());
    const std::string method{request.method_string()};
    auto written = options.writes(method, path, body ? *body : json::value{}, *this);
    if (!written) return std::nullopt;
    return reply(written->status, std::move(written->body));
  }

  std::optional<json::value> read(const std::string& uri) override { return document(uri); }
  void write(const std::string& uri, json::value body) override { changes[uri] = std::move(body); }
  void set_password(const std::string& user, const std::string& password) override {
    passwords[user] = password;
  }
  void end_sessions() override { sessions.clear(); }

  HttpResponse press(const std::string& path, const HttpRequest& request) {
    const auto body = parse_json(request.body());
    const auto type = body ? text_at(*body, "ResetType").value_or("") : "";
    asked.resets.push_back(type);
    const auto system = path.substr(0, path.find("/Actions/"));
    const bool off = type == "ForceOff" || type == "GracefulShutdown";
    pending = Pending{system, off ? "Off" : "On", options.looks_until_power_changes};
    return reply(204);
  }

  struct Listener {
    asio::steady_timer* news;
    std::string text;
    bool ended;
  };

  struct Pending {
    std::string system, state;
    int looks = 0;
  };

  mutable std::mutex mutex;
  Options options;
  Asked asked;
  std::vector<Habit> habits;
  std::map<std::string, std::string> sessions;   // id to token
  std::map<std::string, std::string> passwords;  // of users, once they were changed
  std::map<std::string, json::value> changes;    // URI to what it is now
  std::optional<Pending> pending;
  int last_session = 0, in_flight = 0;
  std::vector<std::shared_ptr<Listener>> listeners;  // of the thread alone
  std::vector<unsigned char> ticket_keys;            // empty: as OpenSSL draws them

  SelfSigned certificate;
  std::unique_ptr<asio::ssl::context> tls;
  std::unique_ptr<asio::io_context> io;
  std::thread thread;
  std::uint16_t port = 0;
};

HttpsServer::HttpsServer(Options options) : impl_{std::make_unique<Impl>(std::move(options))} {}
HttpsServer::~HttpsServer() = default;

inventory::Endpoint HttpsServer::endpoint() const { return {impl_->options.address, impl_->port}; }
std::string HttpsServer::fingerprint() const { return impl_->certificate.fingerprint; }
std::string HttpsServer::certificate_pem() const { return impl_->certificate.certificate_pem; }

void HttpsServer::misbehave(Habit habit) {
  const std::lock_guard lock{impl_->mutex};
  impl_->habits.push_back(std::move(habit));
}

void HttpsServer::set(const std::string& uri, json::value body) {
  const std::lock_guard lock{impl_->mutex};
  impl_->changes[uri] = std::move(body);
}

void HttpsServer::expire_sessions() {
  const std::lock_guard lock{impl_->mutex};
  impl_->sessions.clear();
}

void HttpsServer::change(const std::function<void(Options&)>& how) {
  const std::lock_guard lock{impl_->mutex};
  how(impl_->options);
}

void HttpsServer::restart_with_new_certificate(bool same_ticket_keys) {
  impl_->stop();
  auto& keys = impl_->ticket_keys;
  keys.clear();
  if (same_ticket_keys) {
    auto* before = impl_->tls->native_handle();
    keys.resize(static_cast<std::size_t>(SSL_CTX_get_tlsext_ticket_keys(before, nullptr, 0)));
    SSL_CTX_get_tlsext_ticket_keys(before, keys.data(), keys.size());
  }
  impl_->start(impl_->port);
}

void HttpsServer::speak_tls_1_2() {
  SSL_CTX_set_max_proto_version(impl_->tls->native_handle(), TLS1_2_VERSION);
}

void HttpsServer::speak_tls_1_1() {
  SSL_CTX_set_max_proto_version(impl_->tls->native_handle(), TLS1_1_VERSION);
}

void HttpsServer::publish(const std::string& event_stream_text) {
  impl_->tell(event_stream_text, false);
}
void HttpsServer::end_streams() { impl_->tell({}, true); }

Asked HttpsServer::asked() const {
  const std::lock_guard lock{impl_->mutex};
  Asked now = impl_->asked;
  now.open_sessions = static_cast<int>(impl_->sessions.size());
  return now;
}

}  // namespace cupel::test
