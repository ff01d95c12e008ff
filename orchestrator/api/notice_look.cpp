#include "orchestrator/api/notice_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/notice_text.h"
#include "orchestrator/api/schedule_book.h"
#include "orchestrator/controller/event_words.h"
#include "orchestrator/controller/notify.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/report/summary.h"

namespace cupel::api {
namespace {

using engine::EventKind;

constexpr std::size_t kEventsAPage = 2000;
constexpr std::size_t kMostNewRuns = 1000;  // in one look
constexpr std::size_t kMostCauses = 5;

/// One look, and where what it finds goes.
struct Look {
  RequestHandler& handler;
  const std::vector<NoticeHook>& hooks;
  NoticeBook& book;
  engine::WallTime now;

  Result<void> read_runs();
  Result<void> read_run(engine::RunId run);
  void read_approvals();
  Result<void> read_schedules();
  void take(const store::EventText& text);
  void add_end(engine::RunId run, json::object& body);
  void put(std::string_view what, json::object body, const std::set<std::string>& racks);
  std::set<std::string> racks_of(engine::RunId run);
};

/// The few kinds that may raise one; of a step's end, whether it may be for an operator. So that
/// not every event of a large run is parsed.
bool may_matter(const store::EventText& text) {
  const auto kind = engine::event_kind(text.kind);
  if (!kind) return false;
  if (*kind != EventKind::step_ended) return true;
  return text.data.contains(to_string(engine::Outcome::needs_operator)) ||
         text.data.contains(to_string(engine::Outcome::bmc_unresponsive));
}

std::string line_of(engine::RunId run, const engine::Event& event) {
  std::string line = fmt::format("run {}", run);
  if (!event.node.empty()) line += ": " + event.node;
  if (!event.step.empty()) line += " " + event.step;
  return line + ": " + controller::words_of(event);
}

std::set<std::string> Look::racks_of(engine::RunId run) {
  std::set<std::string> racks;
  if (const auto head = handler.head_of(run); head && *head)
    for (const auto& [node, place] : (*head)->places) racks.insert(place.rack);
  return racks;
}

/// A hook of some racks takes what is about one of them; what has no rack, hooks of all take.
void Look::put(std::string_view what, json::object body, const std::set<std::string>& racks) {
  json::value sendable = std::move(body);
  make_sendable(sendable);
  const auto body_event = text_at(sendable, "event").value_or("");
  for (const auto& hook : hooks) {
    const bool here = hook.racks.is_all() || std::ranges::any_of(racks, [&](const auto& rack) {
                        return hook.racks.has(rack);
                      });
    if (!here || !hook.on.contains(what)) continue;
    // It can go on: its telemetry goes out once it is over.
    if (hook.takes_runs() && body_event == to_string(EventKind::run_interrupted)) continue;
    Notice notice{std::string{what}, now, sendable.get_object()};
    if (book.queues[hook.name].add(std::move(notice))) continue;
    ++book.tallies[hook.name].lost;
    ++handler.shared().counters.notices_failed;
  }
}

/// How many nodes ended how, and the first causes.
void Look::add_end(engine::RunId run, json::object& body) {
  const auto known = handler.store().run(run);
  LiveRun live{run};  // a large one is large: it is not kept
  const auto read = live.catch_up(handler.journal());
  if (!known || !read) return;
  std::map<std::string, int> counts;
  json::array causes;
  for (const auto& node : known->nodes) {
    const auto state = live.standing(node).state;
    ++counts[std::string{state}];
    if (state == to_string(burnin::Decision::pass) || causes.size() == kMostCauses) continue;
    if (const auto cause = live.cause(node); !cause.empty())
      causes.push_back(json::object{{"node", node}, {"cause", cause}});
  }
  std::vector<std::string> words;
  json::object nodes;
  for (const auto& [state, count] : counts) {
    words.push_back(fmt::format("{} {}", count, state));
    nodes[state] = count;
  }
  std::string line = fmt::format("{} ({}): {}", std::string_view{body["text"].as_string()},
                                 known->playbook, fmt::join(words, ", "));
  for (const auto& each : causes)
    line += fmt::format("; {}: {}", std::string_view{each.at("node").as_string()},
                        std::string_view{each.at("cause").as_string()});
  body["text"] = line;
  body["playbook"] = known->playbook;
  body["nodes"] = std::move(nodes);
  body["causes"] = std::move(causes);
}

void Look::take(const store::EventText& text) {
  auto data = may_matter(text) ? parse_json(text.data) : Result<json::value>{json::value{}};
  if (!data || !data->is_object()) return;
  engine::Event event;
  event.kind = *engine::event_kind(text.kind);
  event.node = text.node;
  event.step = text.step;
  event.time = text.time;
  event.data = std::move(data->get_object());
  const auto what = controller::notice_of(event);
  if (!what) return;
  auto body = controller::notice_json(*what, text.run, event);
  body["text"] = line_of(text.run, event);
  if (*what == "end") add_end(text.run, body);
  if (event.node.empty()) return put(*what, std::move(body), racks_of(text.run));
  const auto rack = handler.rack_of(text.run, event.node);
  if (!rack.empty()) body["rack"] = rack;
  put(*what, std::move(body), {rack});
}

Result<void> Look::read_run(engine::RunId run) {
  auto& at = book.runs[run];
  for (;;) {
    TRY(const auto page, handler.journal().page({.run = run, .after = at, .most = kEventsAPage}));
    if (page.empty()) return ok();
    for (const auto& each : page) {
      take(each);
      at = each.sequence;
    }
  }
}

Result<void> Look::read_runs() {
  TRY(const auto newest, handler.journal().newest_run());
  const auto until = std::min(newest, book.newest + static_cast<engine::RunId>(kMostNewRuns));
  for (; book.newest < until; ++book.newest) book.runs.try_emplace(book.newest + 1, 0);
  // Asked before they are read: what is over by now has all its events.
  TRY(const auto open, handler.journal().open_runs());
  for (auto next = book.runs.begin(); next != book.runs.end();) {
    const auto one = next++;
    TRY(const auto end, handler.ends().of(one->first));
    if (end.sequence > one->second) {
      TRY(read_run(one->first));
    }
    if (!std::ranges::binary_search(open, one->first)) book.runs.erase(one);
  }
  return ok();
}

/// What waits for approval is in no journal: nothing has happened. The controller says it.
void Look::read_approvals() {
  const auto status = controller::read_status(handler.shared().state);
  if (!status) return;
  // A run that nobody drives at the moment has reported it already.
  std::set<std::string> waiting;
  for (const auto& key : book.approvals) {
    const auto run = number<engine::RunId>(std::string_view{key}.substr(0, key.find('/')));
    if (run && book.runs.contains(*run) && status->find(*run) == nullptr) waiting.insert(key);
  }
  for (const auto& run : status->runs)
    for (const auto& [step, nodes] : run.approvals) {
      const auto key = fmt::format("{}/{}", run.run, step);
      waiting.insert(key);
      if (book.approvals.contains(key)) continue;
      put("approval",
          {{"notice", "approval"},
           {"run", run.run},
           {"time", report::utc(now)},
           {"step", step},
           {"nodes", nodes},
           {"text", fmt::format("run {}: {} waits for approval on {} node{}: cupel approve {}",
                                run.run, step, nodes, nodes == 1 ? "" : "s", run.run)}},
          racks_of(run.run));
    }
  book.approvals = std::move(waiting);
}

Result<void> Look::read_schedules() {
  const auto site = handler.shared().site.get();
  if (site->settings.schedules.empty()) return ok();
  TRY(const auto turns, ScheduleBook::open(handler.shared().state));
  for (const auto& schedule : site->settings.schedules) {
    const auto* turn = turns.last(schedule.name);
    if (turn == nullptr || turn->outcome == "begun") continue;
    auto& seen = book.schedules[schedule.name];
    if (std::exchange(seen, turn->due) == turn->due) continue;
    if (turn->outcome != "refused" && turn->outcome != "skipped") continue;
    put("schedule",
        {{"notice", "schedule"},
         {"schedule", schedule.name},
         {"time", report::utc(now)},
         {"due", report::utc(turn->due)},
         {"outcome", turn->outcome},
         {"why", turn->why},
         {"text", fmt::format("schedule {}, due {}, was {}: {}", schedule.name,
                              report::utc(turn->due), turn->outcome, turn->why)}},
        {});
  }
  return ok();
}

}  // namespace

Result<NoticeBook> begin_notices(RequestHandler& handler) {
  NoticeBook book;
  TRY(book.newest, handler.journal().newest_run());
  TRY(const auto open, handler.journal().open_runs());
  for (const auto run : open) {
    TRY(const auto end, handler.ends().of(run));
    book.runs[run] = end.sequence;
  }
  if (const auto status = controller::read_status(handler.shared().state))
    for (const auto& run : status->runs)
      for (const auto& [step, nodes] : run.approvals)
        book.approvals.insert(fmt::format("{}/{}", run.run, step));
  TRY(const auto turns, ScheduleBook::open(handler.shared().state));
  for (const auto& schedule : handler.shared().site.get()->settings.schedules)
    if (const auto* turn = turns.last(schedule.name)) book.schedules[schedule.name] = turn->due;
  return book;
}

Result<void> look_for_notices(RequestHandler& handler, const std::vector<NoticeHook>& hooks,
                              NoticeBook& book, engine::WallTime now) {
  Look look{handler, hooks, book, now};
  TRY(look.read_runs());
  look.read_approvals();
  return look.read_schedules();
}

}  // namespace cupel::api
