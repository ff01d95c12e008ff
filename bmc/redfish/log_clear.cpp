#include "bmc/redfish/log_clear.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostServices = 32;
constexpr std::array<std::string_view, 2> kEventLogs{"sel", "eventlog"};
/// Of type SEL, and yet not the log: Gigabyte's and DGX' BIOS log, Dell's list of current faults.
constexpr std::array<std::string_view, 2> kOthers{"bios", "faultlist"};
constexpr double kHardlyAny = 3;  // a log that was cleared may begin with the line that says so

struct Log {
  std::string uri;
  Action clear;
  std::string entries;
};

Task<Result<std::vector<Log>>> logs_of(Client& client, std::string owner, const Rules& rules,
                                       Deadline deadline) {
  std::vector<Log> logs;
  if (owner.empty()) co_return logs;
  CO_TRY(const json::value body, co_await client.get(owner, deadline));
  const auto collection = link_at(body, "LogServices");
  const auto uris = co_await member_uris(client, collection, kMostServices, deadline);
  if (!uris && uris.error().code == Code::kNotFound) co_return logs;
  if (!uris) co_return uris.error();
  for (const auto& uri : *uris) {
    auto service = co_await client.get(uri, deadline);
    if (!service && service.error().code == Code::kNotFound) continue;
    if (!service) co_return std::move(service).error();
    auto clear = action_at(*service, "Actions/#LogService.ClearLog");
    if (clear && is_event_log(*service, rules))
      logs.push_back({uri, std::move(*clear), link_at(*service, "Entries")});
  }
  co_return logs;
}

/// How many entries there are; nothing where the BMC does not tell.
Task<std::optional<double>> count_of(Client& client, std::string entries, Deadline deadline) {
  if (entries.empty()) co_return std::nullopt;
  const auto list = co_await client.get(std::move(entries), deadline);
  if (!list) co_return std::nullopt;
  co_return number_at(*list, "Members@odata.count");
}

Task<Result<Sent>> ask_to_clear(Client& client, Action clear, Deadline deadline) {
  // AMI requires a word for "all of it", and says so in an ActionInfo or not at all.
  CO_TRY(const auto types, co_await allowed_words(client, clear, "ClearType", deadline));
  json::object body;
  if (std::ranges::find(types, "ClearAll") != types.end()) body["ClearType"] = "ClearAll";
  const bool reported = !body.empty();
  auto done = co_await send_act(client, clear.target, body, deadline);
  if (!done && !reported && is_http(done.error(), 400) && says(done.error(), "ClearType")) {
    body["ClearType"] = "ClearAll";
    done = co_await send_act(client, clear.target, body, deadline);
  }
  co_return done;
}

Task<Result<void>> clear(Client& client, Log log, Deadline deadline) {
  const auto before = co_await count_of(client, log.entries, deadline);
  CO_TRY(const Sent sent, co_await ask_to_clear(client, std::move(log.clear), deadline));
  const bool shows = before && *before > kHardlyAny;
  if (!shows && sent.lost) co_return *sent.lost;
  if (!shows) co_return ok();
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    const auto after = co_await count_of(client, log.entries, deadline);
    const bool cleared = after ? *after < *before : !sent.lost;
    if (cleared) co_return ok();
  }
  co_return sent.not_shown(
      {Code::kFailed, log.uri + ": the BMC accepted it, and the log is as long as before"});
}

}  // namespace

bool is_event_log(const json::value& service, const Rules& rules) {
  const auto id = lower_case(reported(service, "Id"));
  const auto is = [&](std::string_view name) { return lower_case(name) == id; };
  if (std::ranges::any_of(kEventLogs, is) || std::ranges::any_of(rules.event_logs, is)) return true;
  return reported(service, "LogEntryType") == "SEL" && std::ranges::none_of(kOthers, is);
}

Task<Result<void>> clear_event_log(Client& client, Layout layout, Deadline deadline) {
  std::vector<std::string> owners{layout.system};
  owners.insert(owners.end(), layout.baseboards.begin(), layout.baseboards.end());
  owners.push_back(layout.manager);
  std::set<std::string> known;
  for (const auto& owner : owners) {
    CO_TRY(auto logs, co_await logs_of(client, owner, *layout.rules, deadline));
    for (auto& log : logs) {
      if (!known.insert(normal(log.uri)).second) continue;
      CO_TRY(co_await clear(client, std::move(log), deadline));
    }
  }
  if (known.empty())
    co_return Error{Code::kUnsupported, "this BMC offers no clearing of its event log by Redfish"};
  co_return ok();
}

}  // namespace cupel::bmc::redfish
