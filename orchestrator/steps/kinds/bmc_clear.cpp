// The BMC's event log is cleared before a machine leaves, once all of it is kept as evidence; who
// can log in to the BMC then is listed. Idempotent: what a crash has left is read and cleared
// again.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/readable_json.h"
#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/steps/bmc_board.h"
#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::size_t kMostAccounts = 64, kLongestName = 80;

boost::json::object to_json(const bmc::LogEntry& entry) {
  boost::json::object object{{"id", entry.id},           {"severity", entry.severity},
                             {"message", entry.message}, {"message_id", entry.message_id},
                             {"sensor", entry.sensor},   {"source", entry.source}};
  if (!entry.direction.empty()) object["direction"] = entry.direction;
  if (entry.time) object["time"] = fmt::format("{:%FT%TZ}", *entry.time);
  return object;
}

/// What would be lost with it is not cleared. Errors: kFailed: it was not read whole.
Result<boost::json::object> whole_log(const bmc::EventLog& log) {
  if (log.cut || log.newest_missing || !log.unknown.empty())
    return Error{
        Code::kFailed,
        fmt::format("the BMC's event log was not read whole ({}), so it is not cleared",
                    log.unknown.empty() ? fmt::format("more than {} entries", log.entries.size())
                                        : printable(shortened(log.unknown.front().why, 120)))};
  boost::json::array entries;
  for (const auto& entry : log.entries) entries.push_back(to_json(entry));
  boost::json::object document{{"entries", std::move(entries)}};
  make_readable(document);
  return document;
}

/// Those that can log in. Errors: as the verb's, but for a BMC that does not list them: none.
Task<Result<std::vector<std::string>>> accounts_of(bmc::Bmc& bmc, Deadline deadline) {
  std::vector<std::string> names;
  const auto accounts = co_await bmc.accounts.read(deadline);
  if (!accounts && accounts.error().code != Code::kUnsupported) co_return accounts.error();
  if (!accounts) co_return names;
  for (const auto& each : accounts->value) {
    if (!each.enabled || each.user.empty()) continue;
    if (names.size() == kMostAccounts) {
      names.emplace_back("and more");
      break;
    }
    names.push_back(printable(shortened(each.user, kLongestName)));
  }
  co_return names;
}

Task<Result<StepEnd>> clear(StepEnvironment& environment, bmc::Bmc& bmc,
                            const StepRequest& request) {
  request.waiting("the BMC's event log");
  const auto most = bmc::EventLog::kMost;
  CO_TRY(const auto log, co_await bmc.log.read(std::nullopt, most, request.deadline));
  CO_TRY(const auto document, whole_log(log));
  boost::json::object found;
  CO_TRY(found["evidence"], environment.store.keep_evidence(boost::json::serialize(document)));
  CO_TRY(co_await bmc.log.clear(request.deadline));
  // Entries that come from here on are all new.
  environment.board->logs.erase(request.node.name);
  CO_TRY(const auto accounts, co_await accounts_of(bmc, request.deadline));
  const auto names =
      accounts.empty() ? std::string{"not reported"} : fmt::format("{}", fmt::join(accounts, ", "));
  found["facts"] = boost::json::object{{"bmc.accounts", names}};
  co_return done(fmt::format("event log cleared, {} entries kept as evidence; accounts that can "
                             "log in to the BMC: {}",
                             log.entries.size(), names),
                 std::move(found));
}

Task<Result<StepEnd>> perform_bmc_clear(StepEnvironment& environment, const StepRequest& request) {
  const auto verb = [&environment](bmc::Bmc& bmc, const StepRequest& asked) {
    return clear(environment, bmc, asked);
  };
  co_return co_await with_bmc(environment, request, verb);
}

}  // namespace

StepType bmc_clear() {
  return {.kind = playbooks::StepKind::bmc_clear, .perform = perform_bmc_clear};
}

}  // namespace cupel::steps::kinds
