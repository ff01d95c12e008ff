// `cupel status`: the newest runs, and how those that work stand: what runs, what waits and for
// what, what is late; or one run, with its steps. Reads the journal and the controller's status;
// asks no BMC and nobody else.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ranges>

#include "base/json.h"
#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/controller/run_view.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/report/wrapped.h"
#include "orchestrator/store/damaged_run.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kRunsShown = 20;
constexpr std::size_t kReasonsShown = 8;

namespace json = boost::json;
using controller::RunStatus;

std::int64_t number(const json::value& view, std::string_view key) {
  const auto* value = find(view, key);
  if (value == nullptr || !value->is_number()) return 0;
  boost::system::error_code no_integer;
  const auto count = value->to_number<std::int64_t>(no_integer);
  return no_integer ? 0 : count;
}

std::string text(const json::value& view, std::string_view key) {
  return printable(text_at(view, key).value_or(""));
}

const json::array& items_at(const json::value& view, std::string_view key) {
  static const json::array none;
  const auto* value = find(view, key);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

/// One run, or the headings: columns that leave a narrow terminal room for the nodes.
template <class Number>
void say_row(const Number& id, std::string_view began, std::string_view state, const Number& pass,
             const Number& fail, const Number& inconclusive, std::string_view what) {
  say("{:>4}  {:<17}  {:<11}  {:>4} {:>4} {:>12}  {}\n", id, began, state, pass, fail, inconclusive,
      what);
}
constexpr std::size_t kColumns = 62;  // in front of the last one

void say_headings() {
  say_row<std::string_view>("run", "began", "state", "pass", "fail", "inconclusive",
                            "playbook, nodes");
}

/// A line about the run above it.
template <class... Values>
void add(fmt::format_string<Values...> format, Values&&... values) {
  constexpr std::size_t kIndent = 9;
  const auto line = fmt::format(format, std::forward<Values>(values)...);
  say("{}{}\n", std::string(kIndent, ' '), report::wrapped(line, kIndent, terminal_width()));
}

void say_held(const RunStatus& status) {
  for (const auto& each : status.held | std::views::take(kReasonsShown))
    add("blocked: {} ({} nodes, {} first)", printable(each.why), each.nodes, printable(each.first));
}

void say_approvals(const RunStatus& status, const json::value& view) {
  const auto* messages = find(view, "messages");
  for (const auto& [step, nodes] : status.approvals) {
    const auto message = messages == nullptr ? std::string{} : text(*messages, step);
    add("{} nodes wait for approval: {}{}cupel approve {} {}", nodes, message,
        message.empty() ? "" : ": ", status.run, printable(step));
  }
}

void say_standing(const report::RunProgress& standing, const RunStatus& status,
                  const json::value& view) {
  add("{}", printable(to_text(standing)));
  if (standing.paused) add("paused{}: cupel unpause {}", printable(standing.paused_by), status.run);
  for (const auto& [step, why] : standing.halts)
    add("halted {}: {}; look, then: cupel continue {}{}",
        step.empty() ? "behind the canary" : "at " + printable(step), printable(why), status.run,
        step.empty() ? "" : " " + printable(step));
  say_approvals(status, view);
  for (const auto& each : standing.overdue)
    add("overdue: {} {} since {}", printable(each.node), printable(each.step),
        report::span_text(each.running));
  say_held(status);
  if (status.hands_until)
    add("waits until {} for repairs: cupel actions {}", report::utc(*status.hands_until),
        status.run);
}

void say_failures(const json::value& view) {
  for (const auto& group : items_at(view, "failures"))
    for (const auto& cluster : items_at(group, "clusters"))
      add("cluster: {}", text(cluster, "text"));
}

/// The nodes in words: a row of the API's list has their count alone.
std::string nodes_of(const json::value& view) {
  const auto range = text(view, "range");
  return range.empty() ? fmt::format("({} nodes)", number(view, "nodes")) : range;
}

/// Not of a run of which some racks are seen.
std::string driver_of(const json::value& view) {
  const auto pid = number(view, "driven_by");
  return pid == 0 ? "" : fmt::format("; process {} drives it", pid);
}

/// `view`: controller::run_view(), or a run as the API's list has it.
void say_run(const json::value& view) {
  const auto status =
      view.is_object() ? controller::run_status_from(view.get_object()) : RunStatus{};
  const auto room = std::max<std::size_t>(terminal_width(), kColumns + 23) - kColumns;
  const auto what =
      fmt::format("{}{} {}", flag_at(view, "rehearsal") == true ? "REHEARSAL of " : "",
                  text(view, "playbook"), nodes_of(view));
  const auto count = [&](burnin::Decision decision) { return number(view, to_string(decision)); };
  say_row<std::int64_t>(status.run, text(view, "began").substr(0, 16) + "Z", text(view, "state"),
                        count(burnin::Decision::pass), count(burnin::Decision::fail),
                        count(burnin::Decision::inconclusive),
                        shortened(what, terminal_width() == 0 ? 100 : room));
  const auto left = std::chrono::ceil<std::chrono::seconds>(status.ends - report::wall_now());
  if (left.count() > 0) add("{} to go{}", report::span_text(left), driver_of(view));
  const auto* standing = find(view, "standing");
  if (standing == nullptr) return;
  say_standing(report::progress_from(status.run, *standing), status, view);
  say_failures(view);
}

bool run_is_over(const json::value& view) {
  const auto state = text(view, "state");
  return state == to_string(engine::RunPhase::ended) ||
         state == to_string(engine::RunPhase::cancelled);
}

/// A run whose journal cannot be read: controller::damaged_run_view(). The others stand as they do.
Exit list_damaged(const Context& context, const json::value& view, json::array& all) {
  const auto exit = run_is_over(view) ? Exit::passed : Exit::unfinished;
  if (context.json) {
    all.push_back(view);
    return exit;
  }
  say_row<std::string_view>(fmt::to_string(number(view, "run")),
                            text(view, "began").substr(0, 16) + "Z", text(view, "state"), "-", "-",
                            "-", text(view, "playbook") + " " + nodes_of(view));
  add("{}", text(view, "error"));
  return exit;
}

/// Of a run with racks that the user may not see: what the API has of the others. Errors: as
/// ServiceClient.
Result<json::value> part_there(const api::ServiceClient& client, engine::RunId run) {
  TRY(auto view, client.get(fmt::format("/api/v1/runs/{}", run)));
  const bool running = text_at(view, "state") == to_string(engine::RunPhase::running);
  if (running && find(view, "ends") == nullptr) view.as_object()["state"] = "interrupted";
  return view;
}

Result<json::value> view_there(const api::ServiceClient& client, engine::RunId run) {
  auto view = client.get(fmt::format("/api/v1/runs/{}/status?steps=false", run));
  if (view || view.error().code != Code::kRefused) return view;
  return part_there(client, run);
}

/// Whether it is about the service and not about one run.
bool ends_the_list(Code code) {
  return is_transient(code) || code == Code::kUntrusted || code == Code::kCancelled;
}

/// The same of a service elsewhere.
Exit status_there(const Context& context, const api::ServiceClient& client) {
  const auto page = client.get(fmt::format("/api/v1/runs?limit={}", kRunsShown));
  if (!page) return print_error_of_service(context, page.error());
  auto worst = Exit::passed;
  json::array all;
  if (!context.json) say_headings();
  for (const auto& row : items_at(*page, "items")) {
    if (find(row, "error") != nullptr) {
      if (list_damaged(context, row, all) != Exit::passed) worst = Exit::unfinished;
      continue;
    }
    auto view = view_there(client, number(row, "run"));
    if (!view && ends_the_list(view.error().code))
      return print_error_of_service(context, view.error());
    if (!view) {
      auto damaged = row.is_object() ? row.get_object() : json::object{};
      damaged["error"] = view.error().what;
      if (list_damaged(context, damaged, all) != Exit::passed) worst = Exit::unfinished;
      continue;
    }
    if (context.json)
      all.push_back(*std::move(view));
    else
      say_run(*view);
  }
  if (context.json) say("{}\n", json::serialize(all));
  return worst;
}

/// The line of the run in the list, and a row for each of its steps.
void say_with_steps(const json::value& view) {
  say_headings();
  say_run(view);
  std::vector<Row> rows{{"step", "done", "running", "failed", "skipped", "open", "failed on"}};
  for (const auto& step : items_at(view, "steps")) {
    Row row{text(step, "step")};
    for (const auto* key : {"done", "running", "failed", "skipped", "open"})
      row.push_back(fmt::to_string(number(step, key)));
    std::vector<std::string> failed_on;
    for (const auto& node : items_at(step, "failed_on"))
      if (node.is_string()) failed_on.push_back(printable(node.get_string()));
    row.push_back(inventory::fold(failed_on));
    rows.push_back(std::move(row));
  }
  if (rows.size() > 1) say("\n{}", table(rows));
}

Exit say_one(const Context& context, const json::value& view) {
  if (context.json)
    say("{}\n", json::serialize(view));
  else
    say_with_steps(view);
  return Exit::passed;
}

Exit status_of(const Context& context, const store::Store& store, engine::RunId named) {
  const auto run = meant_run(store, named);
  if (!run) return print_error(context, run.error(), Exit::invalid);
  const auto known = controller::read_status(context.state);
  auto view = controller::run_view_with_steps(store, *run, known, CUPEL_VERSION);
  if (view) return say_one(context, *std::move(view));
  return print_error(context,
                     Error{view.error().code, words_of_damage(store, run->id, view.error())},
                     Exit::unfinished);
}

Exit status_of_there(const Context& context, const api::ServiceClient& client,
                     engine::RunId named) {
  const auto run = named != 0 ? Result<engine::RunId>{named} : newest_run(client);
  if (!run) return print_error_of_service(context, run.error());
  const auto view = client.get(fmt::format("/api/v1/runs/{}/status", *run));
  return view ? say_one(context, *view) : print_error_of_service(context, view.error());
}

/// `named`: the run that is meant, 0 being the newest; nothing: the newest runs.
Exit status(const Context& context, std::optional<engine::RunId> named) {
  const auto there = service_to_ask(context);
  if (!there) return print_error(context, there.error(), Exit::invalid);
  if (*there)
    return named ? status_of_there(context, **there, *named) : status_there(context, **there);
  const auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  const auto& store = **opened;
  if (named) return status_of(context, store, *named);
  const auto known = controller::read_status(context.state);
  const auto runs = store.runs(kRunsShown);
  if (!runs) return print_error(context, runs.error(), Exit::unfinished);
  auto worst = Exit::passed;
  json::array all;
  if (!context.json) say_headings();
  for (const auto& run : *runs) {
    auto view = controller::run_view(store, run, known, CUPEL_VERSION);
    if (!view) {
      const auto what = words_of_damage(store, run.id, view.error());
      const auto damaged = controller::damaged_run_view(run, run.nodes, what);
      if (list_damaged(context, damaged, all) != Exit::passed) worst = Exit::unfinished;
      continue;
    }
    if (context.json)
      all.push_back(*std::move(view));
    else
      say_run(*std::move(view));
  }
  if (context.json) say("{}\n", json::serialize(all));
  return worst;
}

}  // namespace

CommandRow status_command(Context& context) {
  auto run = std::make_shared<std::optional<engine::RunId>>();
  CommandRow row{"status", "the newest runs and their state, or one run with its steps"};
  row.footer =
      "Examples: cupel status\n"
      "          cupel status 12\n"
      "          cupel status --last";
  row.options = {
      {"RUN", run.get(), "its number; 0: the newest [the 20 newest, without steps]"},
      {"--last", [run] { *run = 0; }, "the newest run, with its steps", {.excludes = {"RUN"}}},
      json_flag(context)};
  row.run = [&context, run] { return status(context, *run); };
  return row;
}

}  // namespace cupel::cli
