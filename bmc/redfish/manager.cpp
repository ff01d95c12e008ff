#include "bmc/redfish/manager.h"

#include <algorithm>

#include "base/text.h"
#include "bmc/redfish/network.h"
#include "bmc/redfish/refusals.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr std::size_t kMostServers = 16;
constexpr auto kCloseEnough = 60s;

Seconds now() { return std::chrono::floor<std::chrono::seconds>(system_clock::now()); }

/// "+05:30" or "-05:00"; "Z" is none.
std::optional<std::chrono::minutes> offset_of(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return 0min;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = number<unsigned>(text.substr(1, 2)),
             minutes = number<unsigned>(text.substr(4));
  if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
  const auto all = std::chrono::minutes{*hours * 60 + *minutes};
  return text[0] == '-' ? -all : all;
}

Task<Result<Document>> manager_of(Client& client, Layout layout, Deadline deadline) {
  if (layout.manager.empty())
    co_return Error{Code::kUnsupported, "the BMC shows no manager: nothing to restart or to set"};
  CO_TRY(json::value body, co_await client.get(layout.manager, deadline));
  co_return Document{layout.manager, std::move(body)};
}

Result<BmcClock> clock_in(const Document& manager, steady_clock::duration round_trip) {
  BmcClock clock;
  clock.reported = reported(manager.body, "DateTime");
  const auto time = parse_date(clock.reported, reported(manager.body, "DateTimeLocalOffset"));
  if (!time) {
    const std::string what = clock.reported.empty() ? "no DateTime" : "no date: " + clock.reported;
    return Error{Code::kUnsupported, manager.uri + " tells " + what};
  }
  clock.time = *time;
  const auto half = std::chrono::floor<std::chrono::seconds>(round_trip / 2);
  clock.ahead = clock.time + half - now();
  return clock;
}

/// Why a clock cannot be set, if the BMC takes its time from elsewhere.
Task<Result<void>> because_of_ntp(Client& client, Layout layout, Error refusal, Deadline deadline) {
  const auto protocols = co_await read_protocols(client, layout, deadline);
  const bool ntp = protocols && is_enabled(protocols->body, "NTP") == true;
  if (ntp) {
    refusal.code = Code::kConflict;
    refusal.what +=
        "; NTP is on, so the BMC sets its clock itself: switch its service NTP off, or "
        "give it a server that it reaches";
  }
  co_return refusal;
}

}  // namespace

std::optional<Seconds> parse_date(std::string_view text, std::string_view offset) {
  text = trimmed(text);
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  if (text[10] != 'T' && text[10] != 't' && text[10] != ' ') return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t size) {
    return number<unsigned>(text.substr(at, size)).value_or(9999);
  };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2), hour = part(11, 2),
             minute = part(14, 2), second = part(17, 2);
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                         std::chrono::month{month}, std::chrono::day{day}};
  const bool real = date.ok() && hour < 24 && minute < 60 && second < 61;
  if (!real || year < 1980 || year > 2200) return std::nullopt;
  auto zone = text.substr(19);
  if (zone.starts_with('.'))
    zone.remove_prefix(std::min(zone.find_first_not_of(".0123456789"), zone.size()));
  const auto east = offset_of(zone.empty() ? offset : zone);
  if (!east) return std::nullopt;
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second} - *east;
}

std::string date_text(Seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  const auto padded = [](long value, std::size_t width) {
    auto digits = std::to_string(value);
    return std::string(width - std::min(width, digits.size()), '0') + digits;
  };
  return padded(int{date.year()}, 4) + "-" + padded(unsigned{date.month()}, 2) + "-" +
         padded(unsigned{date.day()}, 2) + "T" + padded(clock.hours().count(), 2) + ":" +
         padded(clock.minutes().count(), 2) + ":" + padded(clock.seconds().count(), 2) + "+00:00";
}

Task<Result<Accepted>> reset_manager(Client& client, Layout layout, Deadline deadline) {
  CO_TRY(const Document manager, co_await manager_of(client, layout, deadline));
  auto action = action_at(manager.body, "Actions/#Manager.Reset");
  if (!action)
    co_return Error{Code::kUnsupported, manager.uri +
                                            " has no reset action: it cannot be restarted "
                                            "by Redfish"};
  CO_TRY(const auto words, co_await allowed_words(client, *action, "ResetType", deadline));
  const auto has = [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  std::string word;
  for (const auto* one : {"GracefulRestart", "ForceRestart"})
    if (word.empty() && (words.empty() || has(one))) word = one;
  if (word.empty())
    co_return Error{Code::kUnsupported, manager.uri + " has no restart among its resets"};
  json::value body{{"ResetType", word}};
  CO_TRY(const Answer accepted, co_await act(client, action->target, std::move(body), deadline));
  co_return Accepted{task_of(accepted)};
}

Task<Result<BmcClock>> read_clock(Client& client, Layout layout, Deadline deadline) {
  const auto asked = steady_clock::now();
  CO_TRY(const Document manager, co_await manager_of(client, layout, deadline));
  CO_TRY(BmcClock clock, clock_in(manager, steady_clock::now() - asked));
  const auto protocols = co_await read_protocols(client, layout, deadline);
  if (!protocols) co_return clock;
  for (auto& server : texts_of(find(protocols->body, "NTP/NTPServers"))) {
    const std::string name{trimmed(printable(server))};
    if (!name.empty() && clock.ntp_servers.size() < kMostServers) clock.ntp_servers.push_back(name);
  }
  co_return clock;
}

Task<Result<void>> set_clock(Client& client, Layout layout, Seconds time, Deadline deadline) {
  const auto begun = steady_clock::now();
  CO_TRY(const Document manager, co_await manager_of(client, layout, deadline));
  if (find(manager.body, "DateTime") == nullptr)
    co_return Error{Code::kUnsupported, manager.uri + " has no clock that could be set"};
  json::object body{{"DateTime", date_text(time)}};
  // A BMC that lives in a zone of its own would take the time for that zone's.
  const auto offset = reported(manager.body, "DateTimeLocalOffset");
  if (!offset.empty() && offset_of(offset) != 0min) body["DateTimeLocalOffset"] = "+00:00";
  auto done = co_await send_change(client, manager.uri, std::move(body), deadline);
  if (!done)
    co_return co_await because_of_ntp(client, layout, explained(std::move(done).error()), deadline);
  const auto asked = steady_clock::now();
  CO_TRY(const Document after, co_await manager_of(client, layout, deadline));
  CO_TRY(const BmcClock clock, clock_in(after, steady_clock::now() - asked));
  const auto passed = std::chrono::floor<std::chrono::seconds>(steady_clock::now() - begun);
  const auto off = clock.time - (time + passed);
  if (off < kCloseEnough && off > -kCloseEnough) co_return ok();
  if (done->lost) co_return *std::move(done->lost);
  Error kept{Code::kFailed,
             manager.uri + ": the BMC accepted the time and still tells " + clock.reported};
  co_return co_await because_of_ntp(client, layout, std::move(kept), deadline);
}

}  // namespace cupel::bmc::redfish
