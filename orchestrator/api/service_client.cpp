#include "orchestrator/api/service_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>

#include "base/digest.h"
#include "base/json.h"
#include "base/task.h"
#include "base/text.h"
#include "orchestrator/api/kept_login.h"

namespace cupel::api {
namespace {

using asio::ip::tcp;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kClientPatience{60};
constexpr std::size_t kLargestAnswer = 256u << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// Sends, and reads until the service closes.
template <class Stream>
Task<Result<std::string>> spoken(Stream& stream, const std::string& request) {
  const auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(request), kAsTuple);
  if (lost) co_return Error{Code::kUnreachable, "the connection broke: " + lost.message()};
  asio::streambuf answer{kLargestAnswer};
  const auto [ended, size] = co_await asio::async_read(stream, answer, kAsTuple);
  if (answer.size() == 0)
    co_return Error{Code::kUnreachable, "it closed without an answer: " + ended.message()};
  co_return std::string{asio::buffers_begin(answer.data()), asio::buffers_end(answer.data())};
}

Task<Result<std::string>> over_unix(const std::string& path, const std::string& request) {
  asio::local::stream_protocol::socket socket{co_await asio::this_coro::executor};
  const auto [refused] = co_await socket.async_connect({path}, kAsTuple);
  if (refused) co_return Error{Code::kUnreachable, refused.message()};
  co_return co_await spoken(socket, request);
}

Task<Result<std::string>> over_tls(const ServerAddress& server, const std::string& request) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ssl::context context{asio::ssl::context::tls_client};
  boost::system::error_code bad_ca;
  if (server.ca.empty())
    (void)context.set_default_verify_paths(bad_ca);
  else
    (void)context.load_verify_file(server.ca, bad_ca);
  if (bad_ca)
    co_return Error{Code::kInvalid, fmt::format("$CUPEL_CA {}: {}", server.ca, bad_ca.message())};
  tcp::resolver resolver{executor};
  const auto [unknown, found] = co_await resolver.async_resolve(server.host, server.port, kAsTuple);
  if (unknown) co_return Error{Code::kUnreachable, unknown.message()};
  asio::ssl::stream<tcp::socket> stream{executor, context};
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::host_name_verification{server.host});
  const auto [refused, endpoint] =
      co_await asio::async_connect(stream.lowest_layer(), found, kAsTuple);
  if (refused) co_return Error{Code::kUnreachable, refused.message()};
  const auto [untrusted] =
      co_await stream.async_handshake(asio::ssl::stream_base::client, kAsTuple);
  if (untrusted)
    co_return Error{Code::kUntrusted,
                    untrusted.message() + ": name its certificate authority with $CUPEL_CA"};
  co_return co_await spoken(stream, request);
}

Code code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kRefused;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 429:
    case 503:
      return Code::kBusy;
    case 504:
      return Code::kTimeout;
    case 507:
      return Code::kStorage;
    default:
      return status >= 500 ? Code::kFailed : Code::kInvalid;
  }
}

/// What the problem says, with each of its errors that its sentence does not have.
std::string reported_by(const boost::json::value& problem, int status) {
  constexpr std::size_t kMostListed = 10;
  auto text = text_at(problem, "detail").value_or(fmt::format("HTTP {}", status));
  const auto* errors = find(problem, "errors");
  if (errors == nullptr || !errors->is_array()) return printable(text);
  const auto& all = errors->get_array();
  const auto sentence = text;
  for (std::size_t i = 0; i < std::min(kMostListed, all.size()); ++i) {
    const auto what = text_at(all[i], "what").value_or("");
    if (!sentence.contains(what))
      text += fmt::format("; {}: {}", text_at(all[i], "where").value_or(""), what);
  }
  if (all.size() > kMostListed) text += fmt::format("; and {} more", all.size() - kMostListed);
  return printable(text);
}

/// The body; a problem as its error.
Result<std::string> body_of(std::string answer) {
  const auto end = answer.find("\r\n\r\n");
  const auto status = answer.starts_with("HTTP/1.1 ") && answer.size() > 12
                          ? number<int>(std::string_view{answer}.substr(9, 3))
                          : std::nullopt;
  if (end == answer.npos || !status) return Error{Code::kMalformed, "it speaks no HTTP/1.1"};
  auto body = answer.substr(end + 4);
  if (*status < 400) return body;
  const auto problem = parse_json(body);
  return Error{code_of(*status),
               problem ? reported_by(*problem, *status) : fmt::format("HTTP {}", *status)};
}

std::string request_of(const ServerAddress& server, std::string_view method,
                       const std::string& target) {
  const auto host = server.socket.empty() ? fmt::format("{}:{}", server.host, server.port)
                                          : std::string{"localhost"};
  auto text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nConnection: close\r\n",
                  method, target, host);
  if (!server.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", server.token);
  return text;
}

}  // namespace

Result<ServerAddress> server_address(const std::string& url, std::string_view named) {
  ServerAddress server;
  const Error wrong{
      Code::kInvalid,
      fmt::format("{} is to be https://HOST:PORT or unix:/PATH, not '{}'", named, printable(url))};
  if (url.starts_with("unix:/")) {
    server.socket = url.substr(5);
    return server;
  }
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return wrong;
  auto rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.pop_back();
  const auto colon = rest.rfind(':');
  server.port = colon == rest.npos ? "443" : rest.substr(colon + 1);
  server.host = rest.substr(0, colon);
  if (server.host.size() > 2 && server.host.front() == '[')
    server.host = server.host.substr(1, server.host.size() - 2);
  if (server.host.empty() || !number<std::uint16_t>(server.port) ||
      server.host.find_first_of("/ \r\n") != server.host.npos)
    return wrong;
  return server;
}

Result<std::optional<ServerAddress>> server_of_environment() {
  const auto named = variable("CUPEL_SERVER");
  if (named.empty()) return std::optional<ServerAddress>{};
  const auto token = variable("CUPEL_TOKEN");
  if (printable(token) != token || token.contains(' '))
    return Error{Code::kInvalid,
                 "$CUPEL_TOKEN is no token; make one with cupel token add NAME --role viewer"};
  TRY(auto server, server_address(named, "$CUPEL_SERVER"));
  server.token = token;
  server.ca = variable("CUPEL_CA");
  if (server.socket.empty() && server.token.empty()) {
    TRY(server.token, token_of_login(server));
  }
  return std::optional{std::move(server)};
}

Result<std::string> ServiceClient::ask(const std::string& request) const {
  asio::io_context io{1};
  auto work =
      server_.socket.empty() ? over_tls(server_, request) : over_unix(server_.socket, request);
  auto answer = run_to_end(io, with_deadline(Deadline::in(kClientPatience), std::move(work)));
  const auto where = server_.socket.empty()
                         ? fmt::format("https://{}:{}", server_.host, server_.port)
                         : server_.socket;
  if (!answer) return std::move(answer).error().within(where);
  return body_of(*std::move(answer));
}

Result<json::value> ServiceClient::get(const std::string& target) const {
  TRY(const auto body, ask(request_of(server_, "GET", target) + "\r\n"));
  return parse_json(body);
}

Result<std::string> ServiceClient::text(const std::string& target) const {
  return ask(request_of(server_, "GET", target) + "\r\n");
}

Result<json::value> ServiceClient::post(const std::string& target, const json::object& body) const {
  const auto text = json::serialize(body);
  TRY(const auto answer,
      ask(request_of(server_, "POST", target) +
          fmt::format("Idempotency-Key: {}\r\nContent-Type: application/json\r\nContent-Length: "
                      "{}\r\n\r\n{}",
                      random_hex(16), text.size(), text)));
  return parse_json(answer);
}

Result<json::array> ServiceClient::list(const std::string& target, std::size_t most) const {
  json::array all;
  std::string cursor;
  for (;;) {
    const auto* joint = target.contains('?') ? "&" : "?";
    TRY(auto page,
        get(cursor.empty() ? target : fmt::format("{}{}cursor={}", target, joint, cursor)));
    auto* object = page.if_object();
    auto* items = object == nullptr ? nullptr : object->if_contains("items");
    if (items == nullptr || !items->is_array())
      return Error{Code::kMalformed, "the service's answer is no list"};
    for (auto& each : items->get_array()) all.push_back(std::move(each));
    const auto next = text_at(page, "next");
    if (!next) return all;
    if (all.size() > most) return Error{Code::kMalformed, "the service's list has no end"};
    cursor = *next;
  }
}

}  // namespace cupel::api
