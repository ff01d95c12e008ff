#include "orchestrator/api/notice_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/enum_words.h"
#include "base/never_null.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/utc.h"
#include "inventory/names.h"
#include "inventory/read_access.h"
#include "orchestrator/api/named_list.h"

namespace cupel::api {
namespace {

using inventory::YamlFields;
using Kind = NoticeHook::Kind;

constexpr std::size_t kLongestUrl = 2048;
constexpr std::size_t kMostAddresses = 32, kLongestAddress = 254;  // RFC 5321, 4.5.3.1.3
constexpr std::chrono::seconds kLongestGroup = std::chrono::hours{24};
constexpr std::chrono::seconds kLeastMetrics{10}, kMostMetrics{3600};

/// One mailbox as RFC 5321 has it, of plain letters: nothing that ends a line or a "<...>".
bool is_address(std::string_view text) {
  const auto at = text.find('@');
  const bool parts = at != text.npos && at > 0 && at + 1 < text.size();
  return parts && text.size() <= kLongestAddress && text.find('@', at + 1) == text.npos &&
         std::ranges::all_of(text, [](char each) {
           return each > ' ' && each < '\x7f' &&
                  std::string_view{"<>()[],;:\\\""}.find(each) == std::string_view::npos;
         });
}

struct HookReading {
  YamlFields& fields;
  std::filesystem::path folder;

  std::string path(std::string_view key) {
    const auto named = fields.text(key).value_or("");
    if (named.empty() || std::filesystem::path{named}.is_absolute()) return named;
    return (folder / named).lexically_normal().string();
  }
  /// The text itself is never quoted: it may be the secret.
  std::optional<inventory::SecretRef> secret(std::string_view key) {
    const auto text = fields.text(key);
    if (!text) return std::nullopt;
    auto found = inventory::secret_of(*text, folder);
    if (!found)
      fields.report(fields.place(key),
                    fmt::format("{} is a secret and does not belong here: \"file:PATH\" or "
                                "\"env:NAME\" names where it is kept",
                                key));
    return found;
  }
  std::set<std::string, std::less<>> kinds(std::string_view key) {
    std::set<std::string, std::less<>> found;
    for (const auto& word : fields.texts(key)) {
      if (std::ranges::find(kNoticeKinds, word) == std::end(kNoticeKinds))
        fields.report(fields.place(key), fmt::format("'{}' is none of {}", printable(word),
                                                     fmt::join(kNoticeKinds, ", ")));
      found.insert(word);
    }
    if (fields.has(key) && found.empty())
      fields.report(fields.place(key), "names nothing: leave it out");
    return found;
  }
};

void take_webhook(HookReading& reading, NoticeHook& hook) {
  auto& fields = reading.fields;
  const auto text = fields.required("webhook");
  hook.secret_url = inventory::secret_of(text, reading.folder);
  hook.secret = reading.secret("token");
  if (hook.secret_url || text.empty()) return;
  hook.url = text;
  auto fault = fault_in_hook_url(hook.kind, text);
  if (!fault && text.contains('?'))
    fault =
        "the address has a query, which may be a secret: \"file:PATH\" or \"env:NAME\" names "
        "where it is kept";
  if (fault) fields.report(fields.place("webhook"), *fault);
}

void take_mail(HookReading& reading, NoticeHook& hook) {
  auto& fields = reading.fields;
  hook.to = fields.texts("mail");
  hook.from = fields.required("from");
  hook.url = fields.required("server");
  hook.user = fields.text("user").value_or("");
  hook.secret = reading.secret("password");
  for (const auto& each : hook.to)
    if (!is_address(each))
      fields.report(fields.place("mail"),
                    fmt::format("'{}' is no mail address", printable(shortened(each, 100))));
  if (hook.to.empty() || hook.to.size() > kMostAddresses)
    fields.report(fields.place("mail"), fmt::format("has 1 to {} addresses", kMostAddresses));
  if (!hook.from.empty() && !is_address(hook.from))
    fields.report(fields.place("from"),
                  fmt::format("'{}' is no mail address", printable(shortened(hook.from, 100))));
  if (const auto fault = fault_in_hook_url(hook.kind, hook.url); fault && !hook.url.empty())
    fields.report(fields.place("server"), *fault);
  if (hook.user.empty() != !fields.has("password"))
    fields.report(fields.place(), "user and password belong together");
}

/// Every run that is over, whole: nothing is picked, grouped or held back.
void take_otlp(HookReading& reading, NoticeHook& hook) {
  auto& fields = reading.fields;
  hook.kind = Kind::otlp;
  hook.url = fields.required("otlp");
  hook.secret = reading.secret("token");
  hook.group = std::chrono::seconds{0};
  hook.metrics = fields.duration("metrics");
  if (hook.metrics && (*hook.metrics < kLeastMetrics || *hook.metrics > kMostMetrics))
    fields.report(fields.place("metrics"), "is 10s at least, and 1h at most");
  auto fault = hook.url.empty() ? std::nullopt : fault_in_hook_url(hook.kind, hook.url);
  if (!fault && hook.url.contains('?'))
    fault = "the address has a query: it ends in front of /v1/traces";
  if (fault) fields.report(fields.place("otlp"), *fault);
  for (const auto* key : {"on", "urgent", "racks", "group", "quiet"})
    if (fields.has(key))
      fields.report(
          fields.place(key),
          fmt::format("{} does not go with otlp, which gets each run once it is over", key));
}

void take_target(HookReading& reading, NoticeHook& hook) {
  auto& fields = reading.fields;
  const int named =
      fields.has("webhook") + fields.has("slack") + fields.has("mail") + fields.has("otlp");
  if (named != 1) {
    fields.report(fields.place(), "a notice goes to one of webhook, slack, mail and otlp");
    return;
  }
  hook.ca = reading.path("ca");
  if (fields.has("slack")) {
    hook.kind = Kind::slack;
    hook.secret_url = reading.secret("slack");
  } else if (fields.has("mail")) {
    hook.kind = Kind::mail;
    take_mail(reading, hook);
  } else if (fields.has("otlp")) {
    take_otlp(reading, hook);
  } else {
    take_webhook(reading, hook);
  }
}

void take_quiet(YamlFields& above, const std::string& file,
                std::vector<inventory::Problem>& problems, NoticeHook& hook) {
  const auto* value = above.value("quiet");
  if (value == nullptr) return;
  YamlFields fields{*value, "quiet", file, problems};
  QuietHours quiet;
  for (auto [key, minute] : {std::pair{"from", &quiet.from}, std::pair{"to", &quiet.to}}) {
    const auto text = fields.required(key);
    const auto found = minute_of_day(text);
    if (!found && !text.empty())
      fields.report(
          fields.place(key),
          fmt::format("'{}' is no time of the day: \"22:00\", in quotes", printable(text)));
    *minute = found.value_or(std::chrono::minutes{0});
  }
  const auto before = problems.size();
  fields.finish();
  if (before == problems.size() && quiet.from == quiet.to && fields.has("from") && fields.has("to"))
    fields.report(fields.place(), "begins when it ends: leave it out, or take this hook out");
  hook.quiet = quiet;
}

NoticeHook hook_of(YamlFields& fields, const inventory::YamlValue& map, const std::string& file,
                   std::vector<inventory::Problem>& problems) {
  HookReading reading{fields, absolute_path(file).parent_path()};
  NoticeHook hook;
  hook.name = fields.required("name");
  if (const auto fault = inventory::fault_in_name(inventory::Named::rack, hook.name);
      fault && !hook.name.empty())
    fields.report(fields.place("name"), *fault);
  take_target(reading, hook);
  if (hook.takes_runs()) {
    hook.on = {"end"};
    fields.finish();
    return hook;
  }
  hook.on = reading.kinds("on");
  if (hook.on.empty()) hook.on = {std::begin(kNoticeKinds), std::end(kNoticeKinds)};
  hook.urgent = reading.kinds("urgent");
  hook.racks = inventory::scope_in(fields, map);
  hook.group = fields.duration("group").value_or(hook.group);
  if (hook.group > kLongestGroup) fields.report(fields.place("group"), "is 24h at most");
  take_quiet(fields, file, problems, hook);
  if (!hook.urgent.empty() && !hook.quiet)
    fields.report(fields.place("urgent"), "says what passes quiet hours, and there are none");
  fields.finish();
  return hook;
}

}  // namespace

std::vector<NoticeHook> notice_hooks_of(YamlFields& above, const std::string& file,
                                        std::vector<inventory::Problem>& problems) {
  return read_named(above, {"notices", "notice", kMostHooks}, file, problems,
                    [&](YamlFields& fields, const inventory::YamlValue& map) {
                      return hook_of(fields, map, file, problems);
                    });
}

std::string_view to_string(Kind kind) { return enum_word<'-'>(kind); }

std::optional<std::string> fault_in_hook_url(Kind kind, std::string_view url) {
  const auto parsed = boost::urls::parse_uri(never_null(url));
  const bool mail = kind == Kind::mail;
  if (!parsed || url.size() > kLongestUrl || parsed->host().empty())
    return fmt::format("the address is no URL such as {}",
                       mail ? "smtps://mail.example.com:465" : "https://hooks.example.com/cupel");
  if (parsed->has_userinfo())
    return "the address has a user in it: name it by its own key, and its password by a file";
  const auto scheme = lower_case(parsed->scheme());
  if (mail) {
    if (scheme != "smtp" && scheme != "smtps")
      return "a mail server is smtps://HOST:465, or smtp://HOST:587 with STARTTLS";
    if (!parsed->path().empty() || parsed->has_query() || parsed->has_fragment())
      return "a mail server has a host and a port, and no path";
    return std::nullopt;
  }
  if (scheme != "https" && !(scheme == "http" && is_loopback_url(url)))
    return "the address must begin with https://; http:// goes to loopback addresses alone";
  if (parsed->has_fragment()) return "the address has a fragment (#), which no server is sent";
  return std::nullopt;
}

/// By hand: Boost.URL 1.81 reads "127.0.0.1.example.com" as the address 127.0.0.1.
std::string hook_host(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return {};
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (url.contains('@')) return {};
  if (url.starts_with('[')) return std::string{url.substr(1, url.find(']') - 1)};
  return std::string{url.substr(0, url.find(':'))};
}

bool is_loopback_url(std::string_view url) {
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(hook_host(url), failed);
  return !failed && address.is_loopback();
}

bool is_quiet(const NoticeHook& hook, engine::WallTime now) {
  if (!hook.quiet) return false;
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  std::tm day{};
  if (::localtime_r(&seconds, &day) == nullptr) return false;
  const auto minute = std::chrono::hours{day.tm_hour} + std::chrono::minutes{day.tm_min};
  const auto [from, to] = *hook.quiet;
  const bool after = minute >= from, before = minute < to;
  return from < to ? after && before : after || before;
}

engine::WallTime quiet_until(const NoticeHook& hook, engine::WallTime now) {
  if (!is_quiet(hook, now)) return now;
  return next_due({.at = hook.quiet->to}, now);
}

}  // namespace cupel::api
