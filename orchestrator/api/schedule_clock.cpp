#include "orchestrator/api/schedule_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/schedule_book.h"
#include "orchestrator/handoff/slurm.h"
#include "orchestrator/report/summary.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::chrono::minutes kOnTime{10};  // a start that is later was missed
constexpr std::chrono::hours kAheadOfUs{24};
constexpr std::chrono::minutes kLongestPause{1};

/// Of what was started. Errors: kInvalid, with the sentence that the API would answer.
Result<engine::RunId> start(RequestHandler& handler, const Schedule& schedule) {
  auto nodes = schedule.nodes;
  if (schedule.idle_only) {
    const auto inventory = handler.shared().inventory.get();
    if (!inventory) return Error{Code::kInvalid, "this service has no inventory"};
    TRY(nodes, handoff::idle_nodes(*inventory, schedule.nodes));
  }
  json::object set;
  for (const auto& [name, value] : schedule.set) set[name] = value;
  Identity identity{.name = "schedule " + schedule.name, .role = Role::operates};
  identity.kind = Identity::Kind::schedule;
  identity.racks = inventory::RackScope::all();
  identity.origin = "service.yaml";
  const Request request{};
  Call call{request, identity};
  call.body = {{"playbook", schedule.playbook},
               {"nodes", nodes},
               {"set", std::move(set)},
               {"reason", "schedule " + schedule.name + ": " + when_of(schedule)}};
  const auto reply = start_run(handler, call);
  if (const auto* problem = std::get_if<Problem>(&reply)) {
    auto why = problem->detail;
    for (const auto& fault : problem->faults) why += "; " + fault.what;
    return Error{Code::kInvalid, std::move(why)};
  }
  const auto& answer = std::get<Answer>(reply);
  const auto body = answer.body ? parse_json(*answer.body) : Result<json::value>{json::value{}};
  const auto run = body ? cupel::number_at(*body, "run") : std::nullopt;
  return run ? Result<engine::RunId>{static_cast<engine::RunId>(*run)}
             : Error{Code::kFailed, "the run has no number"};
}

ScheduleTurn turn_of(RequestHandler& handler, const Schedule& schedule, engine::WallTime due) {
  const auto run = start(handler, schedule);
  if (run) {
    log::info({.run = *run}, "schedule-started",
              fmt::format("schedule {}: run {} of {}", schedule.name, *run, schedule.playbook));
    return {.due = due, .outcome = "started", .run = *run};
  }
  log::error(
      {}, "schedule-refused",
      fmt::format("schedule {} started nothing: {}", schedule.name, printable(run.error().what)));
  return {.due = due, .outcome = "refused", .why = run.error().what};
}

Result<void> look_at(RequestHandler& handler, ScheduleBook& book, const Schedule& schedule,
                     engine::WallTime now) {
  const auto due = last_due(schedule, now);
  const auto* last = book.last(schedule.name);
  // A time far ahead of ours was written by a clock that was wrong.
  if (last == nullptr || last->due > now + kAheadOfUs)
    return book.put(schedule.name, {.due = due, .outcome = "first-seen"});
  if (last->due >= due) return ok();
  if (schedule.skips_missed && now - due > kOnTime) {
    log::warning({}, "schedule-skipped",
                 fmt::format("schedule {}: its time {} was missed, and missed times are skipped",
                             schedule.name, report::utc(due)));
    return book.put(
        schedule.name,
        {.due = due, .outcome = "skipped", .why = "the service did not run when it was due"});
  }
  TRY(book.put(schedule.name, {.due = due, .outcome = "begun"}));  // never twice
  return book.put(schedule.name, turn_of(handler, schedule, due));
}

}  // namespace

void start_due(RequestHandler& handler, engine::WallTime now) {
  const auto site = handler.shared().site.get();
  const auto& schedules = site->settings.schedules;
  if (schedules.empty()) return;
  auto book = ScheduleBook::open(handler.shared().state);
  Result<void> kept = book ? Result<void>{ok()} : Result<void>{book.error()};
  if (book) {
    std::vector<std::string> known;
    for (const auto& each : schedules) known.push_back(each.name);
    book->keep_only(known);
    for (const auto& each : schedules)
      if (kept) kept = look_at(handler, *book, each, now);
  }
  if (!kept)
    log::error({}, "schedules-stopped", "no schedule is started: " + printable(kept.error().what));
}

std::chrono::milliseconds until_next(const SiteSettings& settings, engine::WallTime now) {
  std::chrono::milliseconds least = kLongestPause;
  for (const auto& each : settings.schedules)
    least = std::min<std::chrono::milliseconds>(least, next_due(each, now) - now);
  return std::max(least, std::chrono::milliseconds{1});
}

}  // namespace cupel::api
