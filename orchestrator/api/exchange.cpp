#include "orchestrator/api/exchange.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/beast/http/status.hpp>
#include <charconv>

#include "base/text.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostQueryWords = 32;

/// Errors: kInvalid.
Result<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      plain += ' ';
      continue;
    }
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned code = 0;
    const auto* first = text.data() + i + 1;
    const auto* last = text.data() + std::min(i + 3, text.size());
    const auto [end, failure] = std::from_chars(first, last, code, 16);
    if (failure != std::errc{} || end != first + 2)
      return Error{Code::kInvalid,
                   "the target has a broken escape: % needs two hexadecimal digits"};
    plain += static_cast<char>(code);
    i += 2;
  }
  for (const char c : plain)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return Error{Code::kInvalid, "the target has a control character"};
  if (valid_utf8(plain) != plain) return Error{Code::kInvalid, "the target is no valid UTF-8"};
  return plain;
}

/// Now, as an IMF-fixdate. Source: RFC 9110, 5.6.7.
std::string date_now() {
  const auto now =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch();
  thread_local std::pair<std::chrono::seconds, std::string> last{-1, ""};
  if (last.first != now)
    last = {now, fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT",
                             fmt::gmtime(static_cast<std::time_t>(now.count())))};
  return last.second;
}

/// Of "https://host/path" the path; the host replaces that of the Host field. Source: RFC 9112,
/// 3.2.2.
std::string_view without_authority(std::string_view target, Request& request) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (lower_case(target.substr(0, scheme.size())) != scheme) continue;
    const auto rest = target.substr(scheme.size());
    const auto end = std::min(rest.find_first_of("/?"), rest.size());
    if (end == 0) return target;
    request.fields["host"] = rest.substr(0, end);
    return end == rest.size() ? std::string_view{"/"} : rest.substr(end);
  }
  return target;
}

}  // namespace

Result<void> read_target(std::string_view target, Request& request) {
  target = without_authority(target, request);
  if (!target.starts_with('/'))
    return Error{Code::kInvalid, "the target is no absolute path, such as /api/v1/runs"};
  const auto question = target.find('?');
  TRY(request.path, decoded(target.substr(0, question), false));
  for (const auto segment : split(request.path, '/'))
    if (segment == "." || segment == "..")
      return Error{Code::kInvalid, "the target has a '.' or '..' segment"};
  if (question == target.npos) return ok();
  for (const auto word : split(target.substr(question + 1), '&')) {
    if (word.empty()) continue;
    if (request.query.size() == kMostQueryWords)
      return Error{Code::kInvalid, "the target has too many query parameters"};
    const auto equals = word.find('=');
    TRY(auto name, decoded(word.substr(0, equals), true));
    std::string value;
    if (equals != word.npos) {
      TRY(value, decoded(word.substr(equals + 1), true));
    }
    request.query.emplace_back(std::move(name), std::move(value));
  }
  return ok();
}

std::string head_of(const Answer& answer, bool keep_alive) {
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(static_cast<http::status>(answer.status));
  auto head = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, std::string_view{reason});
  const auto add = [&](std::string_view name, std::string_view value) {
    head += fmt::format("{}: {}\r\n", name, value);
  };
  const bool bodiless = answer.status == 204 || answer.status == 304;
  if (!bodiless) add("Content-Type", answer.type);
  if (!answer.feed && !bodiless) add("Content-Length", fmt::to_string(answer.body->size()));
  add("Date", date_now());
  bool cached = false;
  for (const auto& [name, value] : answer.fields) {
    cached = cached || name == "Cache-Control";
    add(name, value);
  }
  if (!cached) add("Cache-Control", "no-store");
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("X-Frame-Options", "DENY");
  add("Cross-Origin-Resource-Policy", "same-origin");
  if (!keep_alive) add("Connection", "close");
  return head + "\r\n";
}

}  // namespace cupel::api
