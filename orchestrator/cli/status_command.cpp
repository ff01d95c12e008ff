// `cupel status`: the newest runs, and how those that work stand: what runs, what waits and for
// what, what is late; or one run, with its steps. Reads the journal and the controller's status;
// asks no BMC and nobody else.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ranges>

#include "base/text.h"
#include "base/utc.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/damaged_run.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/report/kept_summary.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/step_counts.h"
#include "orchestrator/report/wrapped.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kRunsShown = 20;
constexpr std::size_t kReasonsShown = 8;

std::int64_t number(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return 0;
  boost::system::error_code no_integer;
  const auto count = value->to_number<std::int64_t>(no_integer);
  return no_integer ? 0 : count;
}

using controller::ControllerStatus;
using controller::RunStatus;
using Known = std::optional<ControllerStatus>;  // nothing where no controller lives

/// Until the run's end, as far as its controller can tell.
std::chrono::seconds left_of(const RunStatus& status) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(status.ends - report::wall_now());
  return std::max(left, std::chrono::seconds{0});
}

std::string state_of(const Known& known, const store::Run& run) {
  if (run.phase != engine::RunPhase::running) return std::string{to_string(run.phase)};
  // Its controller died without a word: the journal says "running", nobody says that he drives it.
  return controller::find(known, run.id) == nullptr ? "interrupted" : "running";
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

/// What the playbook tells whoever approves the step; empty where it tells nothing.
std::string told_at(const store::Run& run, std::string_view step) {
  std::vector<inventory::Problem> ignored;
  const auto playbook = playbooks::parse_playbook(run.playbook_text, run.playbook_file, ignored);
  if (!playbook) return {};
  const auto at = std::ranges::find(playbook->steps, step, &playbooks::PlaybookStep::name);
  if (at == playbook->steps.end() || !at->with.contains("message")) return {};
  return at->with.at("message") + ": ";
}

void say_approvals(const RunStatus& status, const store::Run& run) {
  for (const auto& [step, nodes] : status.approvals)
    add("{} nodes wait for approval: {}cupel approve {} {}", nodes, printable(told_at(run, step)),
        run.id, printable(step));
}

void say_standing(const store::Run& run, const report::RunProgress& standing,
                  const RunStatus* status) {
  add("{}", to_text(standing));
  if (standing.paused) add("paused{}: cupel unpause {}", standing.paused_by, standing.run);
  for (const auto& [step, why] : standing.halts)
    add("halted {}: {}; look, then: cupel continue {}{}",
        step.empty() ? "behind the canary" : "at " + printable(step), printable(why), standing.run,
        step.empty() ? "" : " " + printable(step));
  if (status != nullptr) say_approvals(*status, run);
  for (const auto& each : standing.overdue)
    add("overdue: {} {} since {}", printable(each.node), printable(each.step),
        report::span_text(each.running));
  if (status != nullptr) say_held(*status);
  if (status != nullptr && status->hands_until)
    add("waits until {} for repairs: cupel actions {}", report::utc(*status->hands_until),
        standing.run);
}

void say_failures(const std::vector<report::FailureGroup>& groups) {
  for (const auto& group : groups)
    for (const auto& cluster : group.clusters)
      add("cluster: {}", printable(to_text(group, cluster)));
}

bool works(const store::Run& run) {
  return run.phase == engine::RunPhase::running || run.phase == engine::RunPhase::submitted;
}

/// A run as it is shown: of one that works more than its summary.
struct Shown {
  store::Run run{};
  std::string nodes{};  // in words
  boost::json::object summary{};
  std::optional<report::RunProgress> standing{};
  std::vector<report::FailureGroup> failures{};
};

/// Nodes that are not judged yet are no inconclusive ones.
void mark_in_work(boost::json::object& object, const report::RunSummary& summary) {
  std::int64_t in_work = 0;
  auto& nodes = object.at("nodes").as_array();
  for (std::size_t i = 0; i < summary.nodes.size(); ++i) {
    if (!report::is_in_work(summary.run, summary.nodes[i])) continue;
    nodes[i].as_object()["verdict"] = "in work";
    ++in_work;
  }
  object["in_work"] = in_work;
  object[to_string(burnin::Decision::inconclusive)] =
      static_cast<std::int64_t>(summary.count(burnin::Decision::inconclusive)) - in_work;
}

/// Errors: kStorage.
Result<Shown> shown_of(const store::Store& store, const store::Run& run) {
  Shown shown{.run = run, .nodes = inventory::fold(run.nodes)};
  if (!works(run)) {
    TRY(shown.summary, report::kept_summary(store, run, CUPEL_VERSION));
    return shown;
  }
  TRY(const auto summary, report::summarize(store, run.id));
  TRY(const auto events, store.events(run.id));
  shown.summary = report::to_json(summary)["summary"].as_object();
  mark_in_work(shown.summary, summary);
  shown.standing = report::progress_of(run.id, events, report::wall_now());
  shown.failures = report::failures_of(summary);
  return shown;
}

boost::json::object told_of(const Known& all, Shown shown) {
  auto object = std::move(shown.summary);
  object["state"] = state_of(all, shown.run);
  if (shown.standing) object["standing"] = to_json(*shown.standing);
  const auto* status = controller::find(all, shown.run.id);
  if (status == nullptr) return object;
  object["eta_s"] = left_of(*status).count();
  auto known = to_json(*status);
  for (const auto* key : {"held", "approvals", "hands_until"})
    if (auto* value = known.if_contains(key)) object[key] = std::move(*value);
  return object;
}

void say_run(const Known& all, const Shown& shown) {
  const auto& run = shown.run;
  const auto* status = controller::find(all, run.id);
  const auto room = std::max<std::size_t>(terminal_width(), kColumns + 23) - kColumns;
  const auto what = (shown.summary.contains("rehearsal") ? "REHEARSAL of " : "") + run.playbook +
                    " " + shown.nodes;
  const auto count = [&](burnin::Decision decision) {
    return number(shown.summary, to_string(decision));
  };
  say_row<std::int64_t>(run.id, report::utc(run.began).substr(0, 16) + "Z", state_of(all, run),
                        count(burnin::Decision::pass), count(burnin::Decision::fail),
                        count(burnin::Decision::inconclusive),
                        shortened(printable(what), terminal_width() == 0 ? 100 : room));
  if (status != nullptr && left_of(*status).count() > 0)
    add("{} to go; process {} drives it", report::span_text(left_of(*status)), all->pid);
  if (!shown.standing) return;
  say_standing(run, *shown.standing, status);
  say_failures(shown.failures);
}

bool run_is_over(const store::Run& run) {
  return run.phase == engine::RunPhase::ended || run.phase == engine::RunPhase::cancelled;
}

/// A run whose journal cannot be read.
void say_damaged(const store::Run& run, const std::string& what) {
  say_row<std::string_view>(std::to_string(run.id), report::utc(run.began).substr(0, 16) + "Z",
                            to_string(run.phase), "-", "-", "-",
                            printable(run.playbook + " " + inventory::fold(run.nodes)));
  add("{}", printable(what));
}

/// The standing of a run as GET /api/v1/runs/RUN has it.
report::RunProgress progress_from(engine::RunId run, const boost::json::value& told) {
  report::RunProgress progress;
  progress.run = run;
  const auto count = [&](std::string_view key) {
    return static_cast<std::size_t>(std::max(0.0, number_at(told, key).value_or(0)));
  };
  progress.between_tries = count("between_tries");
  progress.failed = count("failed");
  progress.paused = flag_at(told, "paused") == true;
  if (const auto* running = find(told, "running"); running != nullptr && running->is_object())
    for (const auto& [step, nodes] : running->get_object())
      if (nodes.is_number())
        progress.running[std::string{step}] = static_cast<std::size_t>(nodes.to_number<double>());
  if (const auto* halted = find(told, "halted"); halted != nullptr && halted->is_object())
    for (const auto& [step, why] : halted->get_object())
      if (why.is_string()) progress.halts[std::string{step}] = why.get_string();
  if (const auto* overdue = find(told, "overdue"); overdue != nullptr && overdue->is_array())
    for (const auto& each : overdue->get_array())
      progress.overdue.push_back({.node = text_at(each, "node").value_or(""),
                                  .step = text_at(each, "step").value_or(""),
                                  .running = std::chrono::milliseconds{static_cast<std::int64_t>(
                                      number_at(each, "running_ms").value_or(0))}});
  return progress;
}

/// Errors: as ServiceClient.
Result<Shown> shown_there(const api::ServiceClient& client, const boost::json::value& row) {
  Shown shown;
  shown.run.id = static_cast<engine::RunId>(number_at(row, "run").value_or(0));
  shown.run.playbook = text_at(row, "playbook").value_or("");
  shown.run.phase =
      engine::run_phase(text_at(row, "state").value_or("")).value_or(engine::RunPhase::submitted);
  const auto began = utc_of(text_at(row, "began").value_or("").substr(0, 19) + "Z");
  if (began) shown.run.began = engine::WallTime{*began};
  shown.nodes = fmt::format("({} nodes)", number_at(row, "nodes").value_or(0));
  if (row.is_object()) shown.summary = row.get_object();
  if (!works(shown.run)) return shown;
  TRY(const auto whole, client.get(fmt::format("/api/v1/runs/{}", shown.run.id)));
  if (whole.is_object()) shown.summary = whole.get_object();
  if (const auto* standing = find(whole, "standing"))
    shown.standing = progress_from(shown.run.id, *standing);
  return shown;
}

/// What the service's controller says of the runs that it drives. Errors: as ServiceClient.
Result<Known> known_there(const api::ServiceClient& client) {
  TRY(const auto service, client.get("/api/v1/status"));
  const auto read = controller::controller_status_from(boost::json::serialize(service));
  return read ? Known{*read} : Known{};
}

/// The same of a service elsewhere: with --json each run as its API has it.
Exit status_there(const Context& context, const api::ServiceClient& client) {
  const auto page = client.get(fmt::format("/api/v1/runs?limit={}", kRunsShown));
  if (!page) return complain_of_service(context, page.error());
  const auto known = known_there(client);
  if (!known) return complain_of_service(context, known.error());
  boost::json::array all;
  if (!context.json) say_headings();
  const auto* items = find(*page, "items");
  if (items == nullptr || !items->is_array()) return Exit::passed;
  for (const auto& row : items->get_array()) {
    auto shown = shown_there(client, row);
    if (!shown) return complain_of_service(context, shown.error());
    if (context.json)
      all.push_back(std::move(shown->summary));
    else
      say_run(*known, *shown);
  }
  if (context.json) std::printf("%s\n", boost::json::serialize(all).c_str());
  return Exit::passed;
}

/// The line of the run in the list, and a row for each of its steps.
Exit say_steps(const Context& context, const store::Store& store, const Known& known,
               engine::RunId named) {
  const auto run = meant_run(store, named);
  if (!run) return complain(context, run.error(), Exit::invalid);
  auto shown = shown_of(store, *run);
  if (!shown)
    return complain(context,
                    Error{shown.error().code, words_of_damage(store, run->id, shown.error())},
                    Exit::unfinished);
  const auto events = store.events(run->id);
  if (!events) return complain(context, events.error(), Exit::unfinished);
  const auto steps = report::step_counts(*events);
  if (context.json) {
    auto object = told_of(known, *std::move(shown));
    object["steps"] = report::to_json(steps);
    say("{}\n", boost::json::serialize(object));
    return Exit::passed;
  }
  say_headings();
  say_run(known, *shown);
  std::vector<Row> rows{{"step", "done", "running", "failed", "skipped", "open", "failed on"}};
  for (const auto& row : steps)
    rows.push_back({row.step, fmt::to_string(row.done), fmt::to_string(row.running),
                    fmt::to_string(row.failed), fmt::to_string(row.skipped),
                    fmt::to_string(row.open), inventory::fold(row.failed_on)});
  if (!steps.empty()) say("\n{}", table(rows));
  return Exit::passed;
}

/// On a copy of the run, so that the same is printed as on the service's machine.
Exit say_steps_there(const Context& context, const api::ServiceClient& client,
                     engine::RunId named) {
  const auto number = named != 0 ? Result<engine::RunId>{named} : newest_run(client);
  if (!number) return complain_of_service(context, number.error());
  const auto known = known_there(client);
  if (!known) return complain_of_service(context, known.error());
  const auto copy = RunCopy::make(client, *number);
  if (!copy) return complain_of_service(context, copy.error());
  return say_steps(context, (*copy)->store(), *known, *number);
}

/// `named`: the run that is meant, 0 being the newest; nothing: the newest runs.
Exit status(const Context& context, std::optional<engine::RunId> named) {
  const auto there = service_to_ask(context);
  if (!there) return complain(context, there.error(), Exit::invalid);
  if (*there)
    return named ? say_steps_there(context, **there, *named) : status_there(context, **there);
  const auto opened = store::Store::open(context.state);
  if (!opened) return complain(context, opened.error(), Exit::unfinished);
  const auto& store = **opened;
  const auto known = controller::read_status(context.state);
  if (named) return say_steps(context, store, known, *named);
  const auto runs = store.runs(kRunsShown);
  if (!runs) return complain(context, runs.error(), Exit::unfinished);
  auto worst = Exit::passed;
  boost::json::array all;
  if (!context.json) say_headings();
  for (const auto& run : *runs) {
    auto shown = shown_of(store, run);
    if (!shown) {
      // The others stand as they do.
      const auto what = words_of_damage(store, run.id, shown.error());
      if (context.json)
        all.push_back({{"run", run.id}, {"state", to_string(run.phase)}, {"error", what}});
      else
        say_damaged(run, what);
      worst = run_is_over(run) ? worst : Exit::unfinished;
      continue;
    }
    if (context.json)
      all.push_back(told_of(known, *std::move(shown)));
    else
      say_run(known, *shown);
  }
  if (context.json) std::printf("%s\n", boost::json::serialize(all).c_str());
  return worst;
}

}  // namespace

CommandRow status_command(Context& context) {
  auto run = std::make_shared<std::optional<engine::RunId>>();
  CommandRow row{"status", "the newest runs and their state, or one run with its steps"};
  row.footer =
      "Examples: cupel status\n"
      "          cupel status 12";
  row.options = {{"RUN", run.get(), "its number; 0: the newest [the 20 newest, without steps]"},
                 json_flag(context)};
  row.run = [&context, run] { return status(context, *run); };
  return row;
}

}  // namespace cupel::cli
