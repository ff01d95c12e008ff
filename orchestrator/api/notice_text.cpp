#include "orchestrator/api/notice_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/base64.h"
#include "base/text.h"
#include "orchestrator/report/summary.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestText = 500;
constexpr std::size_t kLargestBody = 256u << 10;
constexpr std::size_t kMostSlackLines = 20, kLongestSlack = 3000;
constexpr std::size_t kBase64Line = 76;  // RFC 2045, 6.8

std::string slack_escaped(std::string_view text) {
  std::string escaped;
  for (const char each : text) {
    if (each == '&')
      escaped += "&amp;";
    else if (each == '<')
      escaped += "&lt;";
    else if (each == '>')
      escaped += "&gt;";
    else
      escaped += each;
  }
  return escaped;
}

std::string more(std::size_t left_out) { return fmt::format("and {} more", left_out); }

/// What a header may hold: a site's name is the site's own choice.
std::string ascii(std::string_view text) {
  std::string plain{text};
  for (char& each : plain)
    if (each < ' ' || each > '~') each = '?';
  return shortened(plain, 100);
}

std::string wrapped_base64(std::string_view text) {
  const auto whole = base64(text);
  std::string lines;
  for (std::size_t at = 0; at < whole.size(); at += kBase64Line)
    lines += whole.substr(at, kBase64Line) + "\r\n";
  return lines;
}

}  // namespace

void make_sendable(json::value& value) {
  if (auto* text = value.if_string())
    *text = shortened(printable(valid_utf8(std::string_view{*text})), kLongestText);
  if (auto* array = value.if_array())
    for (auto& each : *array) make_sendable(each);
  if (auto* object = value.if_object())
    for (auto& each : *object) make_sendable(each.value());
}

std::string notice_subject(const NoticeMessage& message) {
  std::vector<std::string> counts;
  for (const auto kind : kNoticeKinds) {
    const auto count = std::ranges::count(message.notices, kind, &Notice::what);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, kind));
  }
  if (message.dropped > 0) counts.push_back(more(message.dropped));
  return fmt::format("Cupel{}: {}", message.site.empty() ? "" : " " + ascii(message.site),
                     fmt::join(counts, ", "));
}

std::string webhook_body(const NoticeMessage& message) {
  json::array notices;
  std::size_t bytes = 0, dropped = message.dropped;
  for (const auto& each : message.notices) {
    bytes += json::serialize(each.body).size() + 1;
    if (bytes < kLargestBody - 1024)
      notices.push_back(each.body);
    else
      ++dropped;
  }
  json::object body{{"schema", 1},
                    {"id", message.id},
                    {"site", message.site},
                    {"time", report::utc(message.time)},
                    {"notices", std::move(notices)}};
  if (dropped > 0) body["dropped"] = dropped;
  return json::serialize(body);
}

std::string slack_body(const NoticeMessage& message) {
  auto text = slack_escaped(notice_subject(message));
  std::size_t lines = 0;
  for (const auto& each : message.notices) {
    const auto line = "\n" + slack_escaped(each.text());
    if (lines == kMostSlackLines || text.size() + line.size() > kLongestSlack) break;
    text += line;
    ++lines;
  }
  const auto left_out = message.notices.size() - lines + message.dropped;
  if (left_out > 0) text += "\n" + more(left_out);
  return json::serialize(json::object{{"text", text}});
}

std::string mail_text(const NoticeHook& hook, const NoticeMessage& message) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(message.time);
  std::string body;
  for (const auto& each : message.notices) body += each.text() + "\r\n";
  if (message.dropped > 0) body += more(message.dropped) + "\r\n";
  return fmt::format(
             "Date: {:%a, %d %b %Y %H:%M:%S} +0000\r\nFrom: <{}>\r\nTo: <{}>\r\nSubject: {}\r\n"
             "Message-ID: <{}{}>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
             "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n",
             fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), hook.from,
             fmt::join(hook.to, ">, <"), notice_subject(message), message.id,
             hook.from.substr(hook.from.find('@'))) +
         wrapped_base64(body);
}

}  // namespace cupel::api
