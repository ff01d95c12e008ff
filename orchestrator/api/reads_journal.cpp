// The journal itself: pages of events, streams of them, what people asked of runs, the audit log.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/api/event_streams.h"
#include "orchestrator/api/event_text.h"
#include "orchestrator/api/handlers.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

/// How the controller answered a command, as the journal has it.
struct CommandAnswer {
  std::string_view word = "pending";
  std::string why{};
};

std::map<std::int64_t, CommandAnswer> answers_of(const LiveRun& live) {
  std::map<std::int64_t, CommandAnswer> answers;
  for (const auto& each : live.answers())
    answers[each.command] = {each.refused.empty() ? "accepted" : "refused", each.refused};
  return answers;
}

json::object command_row(const engine::Command& command, const CommandAnswer& answer) {
  json::object row{{"command", command.id},
                   {"kind", to_string(command.kind)},
                   {"by", command.by},
                   {"at", utc_ms(command.at)},
                   {"answer", answer.word}};
  const auto put = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) row[key] = printable(text);
  };
  put("node", command.node);
  put("step", command.step);
  put("reason", command.text);
  put("why", answer.why);
  return row;
}

/// All of the run that the person may see. Errors: kNotFound; kStorage.
Result<json::array> command_rows(RequestHandler& handler, const Call& call) {
  TRY(const auto run, handler.run_for(call));
  TRY(const auto* live, handler.runs().of(run->id, handler.journal()));
  TRY(const auto commands, handler.store().commands(run->id, 0));
  const auto answers = answers_of(*live);
  json::array items;
  for (const auto& command : commands) {
    if (!command.node.empty() && !handler.sees(call, run->id, command.node)) continue;
    const auto known = answers.find(command.id);
    auto answer = known == answers.end() ? CommandAnswer{} : known->second;
    if (known == answers.end() && live->over()) answer = {"refused", "the run has ended"};
    items.push_back(command_row(command, answer));
  }
  return items;
}

Reply stream(RequestHandler& handler, const Call& call, engine::RunId run) {
  auto after = std::string{call.request.field("last-event-id")};
  if (after.empty()) after = call.text("after");
  const Field cursor{.name = "Last-Event-ID", .kind = Field::Kind::cursor};
  if (!after.empty() && !wrong_text(cursor, after).empty())
    return invalid("Last-Event-ID is none of this service");
  auto place = stream_begin(handler, run, after);
  if (!place) return problem_of(place.error());
  Answer answer;
  answer.type = "text/event-stream";
  answer.feed = handler.shared().feed(*std::move(place), call.identity);
  if (!answer.feed)
    return Problem{503,
                   "busy",
                   "as many event streams are open as there may be, of yours or of all",
                   {},
                   std::chrono::seconds{10}};
  answer.fields.emplace_back("X-Accel-Buffering", "no");
  return answer;
}

constexpr std::string_view kWhole = "whole";

/// Whether there are events behind a page: it also ends where it has read enough bytes. Errors:
/// kStorage.
Result<bool> goes_on(RequestHandler& handler, store::EventQuery query,
                     const std::vector<store::EventText>& page) {
  if (page.empty()) return false;
  if (page.size() == query.most) return true;
  query.after = page.back().sequence;
  query.most = 1;
  TRY(const auto next, handler.journal().page(query));
  return !next.empty();
}

struct Page {
  Reply reply;
  bool goes_on = false;
};

Page events_of(RequestHandler& handler, const Call& call, engine::RunId run) {
  const auto cursor = call.text("cursor");
  const store::EventQuery query{
      .run = run,
      .after = cursor.empty() ? call.integer("after", 0) : number<std::int64_t>(cursor).value_or(0),
      .node = call.text("node"),
      .step = call.text("step"),
      .kind = call.text("kind"),
      .most = static_cast<std::size_t>(call.integer("limit", 100))};
  const auto page = handler.journal().page(query);
  if (!page) return {problem_of(page.error())};
  const auto more = goes_on(handler, query, *page);
  if (!more) return {problem_of(more.error())};
  const auto shown_as = call.text("whole") == "true" ? &event_json : &listed_event_json;
  std::string text = "{\"items\":[";
  std::size_t shown = 0;
  for (const auto& each : *page) {
    if (!may_see(handler, call.identity, each)) continue;
    if (shown++ > 0) text += ',';
    text += shown_as(each, call.identity);
  }
  text += ']';
  if (*more) text += fmt::format(",\"next\":\"{}\"", page->back().sequence);
  Answer answer;
  answer.body = shared_text(text + "}");
  return {std::move(answer), *more};
}

}  // namespace

Reply list_events(RequestHandler& handler, const Call& call) {
  const auto version = handler.journal().version();
  if (!version) return problem_of(version.error());
  const auto run = handler.run_for(call);
  if (!run) return problem_of(run.error());
  // Events are only added: a page with others behind it stays as it is. Which racks have which
  // nodes may change.
  const bool stays = call.identity.sees_all_racks();
  if (const auto* whole = stays ? handler.kept_answer(call, kWhole) : nullptr) return *whole;
  auto mark = std::to_string(*version);
  if (const auto* same = handler.kept_answer(call, mark)) return *same;
  auto page = events_of(handler, call, (*run)->id);
  if (stays && page.goes_on) mark = kWhole;
  return handler.keep(call, std::move(mark), std::move(page.reply));
}

Reply read_event(RequestHandler& handler, const Call& call) {
  const auto run = handler.run_for(call);
  if (!run) return problem_of(run.error());
  const auto sequence = call.integer("sequence", 0);
  const auto page = handler.journal().page({.run = (*run)->id, .after = sequence - 1, .most = 1});
  if (!page) return problem_of(page.error());
  const bool found = !page->empty() && page->front().sequence == sequence;
  if (!found || !may_see(handler, call.identity, page->front()))
    return not_found(fmt::format("run {} has no event {}", call.text("run"), sequence));
  Answer answer;
  answer.body = shared_text(event_json(page->front(), call.identity));
  return answer;
}

Reply stream_run(RequestHandler& handler, const Call& call) {
  const auto run = handler.run_for(call);
  if (!run) return problem_of(run.error());
  return stream(handler, call, (*run)->id);
}

Reply stream_all(RequestHandler& handler, const Call& call) { return stream(handler, call, 0); }

Reply list_commands(RequestHandler& handler, const Call& call) {
  auto items = command_rows(handler, call);
  if (!items) return problem_of(items.error());
  return list_answer(*std::move(items), {});
}

Reply read_command(RequestHandler& handler, const Call& call) {
  auto items = command_rows(handler, call);
  if (!items) return problem_of(items.error());
  const auto requested = call.integer("command", 0);
  for (const auto& each : *items)
    if (each.at("command").to_number<std::int64_t>() == requested) return json_answer(each);
  return not_found(fmt::format("run {} has no command {}", call.text("run"), requested));
}

Reply list_audit(RequestHandler& handler, const Call& call) {
  if (!call.identity.sees_all_racks())
    return Problem{403, "forbidden", "this is of all racks, and you may see some of them"};
  const auto most = static_cast<std::size_t>(call.integer("limit", 100));
  const auto page =
      handler.audit().page(number<std::int64_t>(call.text("cursor")).value_or(0), most);
  if (!page) return problem_of(page.error());
  json::array items;
  for (const auto& each : *page)
    items.push_back({{"sequence", each.sequence},
                     {"time", utc_ms(each.time)},
                     {"who", each.who},
                     {"origin", each.origin},
                     {"what", each.what},
                     {"data", each.data},
                     {"hash", each.hash}});
  return list_answer(std::move(items),
                     page->size() == most ? std::to_string(page->back().sequence) : std::string{});
}

}  // namespace cupel::api
