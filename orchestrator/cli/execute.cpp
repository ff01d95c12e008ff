#include "orchestrator/cli/execute.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <map>

#include "base/login.h"
#include "base/paths.h"
#include "orchestrator/cli/follow.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/terminal_front.h"
#include "orchestrator/controller/background.h"
#include "orchestrator/controller/state_folder.h"
#include "orchestrator/report/drained.h"
#include "orchestrator/report/leftovers.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::cli {
namespace {

using controller::Submitted;
using engine::RunPhase;
using store::ControllerLock;

/// What this process has needed so far.
struct Cost {
  double peak_memory_bytes = 0;
  double cpu_seconds = 0;
};

Cost cost() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  // ru_maxrss is in KiB (man 2 getrusage).
  return {static_cast<double>(usage.ru_maxrss) * 1024,
          seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

/// Of a run that is over, what a person does now.
std::string next_commands(const Context& context, const report::RunSummary& summary) {
  if (summary.run.phase != RunPhase::ended) return {};
  const bool all_pass = summary.count(burnin::Decision::pass) == summary.nodes.size();
  const auto id = summary.run.id;
  const auto actions = all_pass
                           ? std::string{}
                           : fmt::format("what to do at the nodes: {}; ",
                                         advised(context, fmt::format("cupel actions {}", id)));
  return fmt::format("  next          {}the report: {}\n", actions,
                     advised(context, fmt::format("cupel report {0} --html run-{0}.html", id)));
}

/// `spent`: of the controller, where that is this process. What a process needs that looks on says
/// nothing of the run.
void print_summary(const Context& context, const store::Store& store, engine::RunId run,
                   const std::optional<Cost>& spent) {
  const auto summary = report::summarize(store, run);
  if (!summary) return;
  if (context.json) {
    auto object = report::to_json(*summary);
    if (spent)
      object.at("summary").as_object()["controller"] = {
          {"peak_memory_bytes", spent->peak_memory_bytes}, {"cpu_seconds", spent->cpu_seconds}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else {
    std::fputs(advised_in(context, report::to_text(*summary)).c_str(), stdout);
    if (spent)
      say("  controller    {:.0f} MiB of memory at its peak, {:.1f} s of CPU\n",
          spent->peak_memory_bytes / (1 << 20), spent->cpu_seconds);
    say("{}", next_commands(context, *summary));
  }
  std::fflush(stdout);
}

Exit exit_of(const store::Store& store, engine::RunId run) {
  const auto summary = report::summarize(store, run);
  if (!summary) return Exit::unfinished;
  const auto& nodes = summary->nodes;
  return summary->count(burnin::Decision::pass) == nodes.size() ? Exit::passed : Exit::failed;
}

/// That a run which was stopped has left its settings on nodes; empty where it has not.
std::string still_set(const Context& context, const store::Store& store, engine::RunId run) {
  const auto events = store.events(run);
  if (!events) return {};
  const auto count = report::leftovers(*events).set.size();
  if (count == 0) return {};
  return fmt::format("; {} node{} its settings until then, or until `{}` puts them back", count,
                     count == 1 ? " keeps" : "s keep",
                     advised(context, fmt::format("cupel cancel {}", run)));
}

/// Why it is halted, by step; "": its canary.
std::map<std::string, std::string> halts_of(const store::Store& store, engine::RunId run) {
  const auto events = store.events(run);
  return events ? report::progress_of(run, *events, report::wall_now()).halts
                : std::map<std::string, std::string>{};
}

/// `then`: how it goes on.
Exit print_error_of_halts(const Context& context, engine::RunId run,
                          const std::map<std::string, std::string>& halts,
                          const std::string& then) {
  std::string why;
  for (const auto& [step, each] : halts)
    why += fmt::format("{}{}{}", why.empty() ? "" : "; ", step.empty() ? "" : step + ": ", each);
  return print_error(
      context,
      Error{Code::kCancelled,
            fmt::format("run {} is halted: {}. See what is wrong: {}; then: {}{}", run, why,
                        advised(context, fmt::format("cupel actions {}", run)),
                        advised(context, fmt::format("cupel continue {}", run)), then)},
      Exit::halted);
}

/// What the run's end means, as its journal has it. `spent`: as print_summary() has it.
Exit conclude(const Context& context, const store::Store& store, engine::RunId id,
              const std::optional<Cost>& spent = {}) {
  const auto run = store.run(id);
  if (!run) return print_error(context, run.error(), Exit::unfinished);
  print_summary(context, store, id, spent);
  const auto phase = run->phase;
  if (phase == RunPhase::ended) return exit_of(store, id);
  const auto resume = advised(context, fmt::format("cupel resume {}", id));
  if (phase == RunPhase::interrupted)
    if (const auto halts = halts_of(store, id); !halts.empty())
      return print_error_of_halts(context, id, halts,
                                  fmt::format(", and {}{}", resume, still_set(context, store, id)));
  const auto what =
      phase == RunPhase::cancelled
          ? fmt::format("run {} was cancelled{}", id, report::still_drained(store, id))
          : fmt::format("run {} was stopped; go on with: {}{}", id, resume,
                        still_set(context, store, id));
  return print_error(context, Error{Code::kCancelled, what}, Exit::unfinished);
}

/// Input that is wrong has touched nothing.
Exit exit_for(const Error& error) {
  const bool wrong = error.code == Code::kInvalid || error.code == Code::kConflict;
  return wrong ? Exit::invalid : Exit::unfinished;
}

/// Drives the run, and whatever is submitted meanwhile.
Exit control(Context& context, store::Store& store, std::unique_ptr<Planned> planned,
             Submitted submitted) {
  const auto logs = start_log(context, "none");
  if (!logs) return print_error(context, logs.error(), Exit::invalid);
  TerminalFront front{context};
  const auto run = submitted.run.id;
  auto settings = controller_settings(context);
  settings.ends_when_halted = ends_when_halted(context);
  const auto drove = controller::drive(front, store, std::move(planned), std::move(submitted),
                                       std::move(settings));
  if (drove) return conclude(context, store, run, cost());
  const bool wrong = drove.error().code != Code::kStorage;
  return print_error(context, drove.error(), wrong ? Exit::invalid : Exit::unfinished);
}

/// Of a run that another process drives: what it waits for, and what its nodes are by now.
Exit conclude_waiting(const Context& context, const store::Store& store, engine::RunId id) {
  print_summary(context, store, id, {});
  if (const auto halts = halts_of(store, id); !halts.empty())
    return print_error_of_halts(context, id, halts, {});
  if (!context.json)
    say("run {} stays open for nodes that wait for repair: {}; see it: {}\n", id,
        advised(context, fmt::format("cupel actions {}", id)),
        advised(context, fmt::format("cupel follow {} --on-halt wait", id)));
  return exit_of(store, id);
}

/// Nothing where nobody has begun it yet, and nobody is there who would.
std::optional<Exit> watched(const Context& context, store::Store& store, const Planned& planned,
                            engine::RunId run) {
  switch (follow(context, store, planned.plan, run)) {
    case Followed::to_its_end:
      return conclude(context, store, run);
    case Followed::waits_for_hands:
      return conclude_waiting(context, store, run);
    case Followed::left:
      return print_error(
          context,
          Error{Code::kCancelled,
                fmt::format("run {} goes on without this terminal; see {}, or end it with: {}", run,
                            advised(context, "cupel status"),
                            advised(context, fmt::format("cupel cancel {}", run)))},
          Exit::unfinished);
    case Followed::abandoned:
      return print_error(context,
                         Error{Code::kUnreachable,
                               fmt::format("the controller of run {} is gone; go on with: {}", run,
                                           advised(context, fmt::format("cupel resume {}", run)))},
                         Exit::unfinished);
    case Followed::never_begun:
      return std::nullopt;
  }
  __builtin_unreachable();
}

/// Somebody else drives the run: shows its journal, and takes over where that process is gone
/// before it has begun.
Exit watch(Context& context, store::Store& store, std::unique_ptr<Planned> planned,
           const store::Run& run) {
  if (const auto exit = watched(context, store, *planned, run.id)) return *exit;
  auto mine = controller::take_over(store, run);
  // Another one that waited was faster: it takes the run up as the first one would have.
  if (!mine) return watch(context, store, std::move(planned), run);
  return control(context, store, std::move(planned), *std::move(mine));
}

/// `--log`, for a process that may work in another folder.
std::string log_from_root(const Context& context) {
  const bool file = !context.log.empty() && context.log != "stderr" && context.log != "none";
  return file ? absolute_path(context.log).string() : context.log;
}

/// Leaves the run to a controller without a terminal, and says which one.
Exit detached(const Context& context, const store::Store& store, engine::RunId run) {
  asio::io_context io{1};
  auto leaving = controller::leave_to_background(
      {.state = context.state, .programs = context.programs, .log = log_from_root(context)}, store,
      run);
  const auto process = run_to_end(io, std::move(leaving));
  if (!process) return print_error(context, process.error(), Exit::unfinished);
  const auto now = store.run(run);
  if (now && now->phase != RunPhase::running) return conclude(context, store, run);
  const auto log = controller::controller_log(store.folder()).string();
  if (context.json)
    std::printf("%s\n", boost::json::serialize(
                            boost::json::object{{"run", run}, {"pid", *process}, {"log", log}})
                            .c_str());
  else
    say("run {} goes on in the background: process {}{}\n"
        "see it: {}    end it: {}\n",
        run, *process, is_there(log) ? ", log " + log : std::string{},
        advised(context, fmt::format("cupel follow {}", run)),
        advised(context, fmt::format("cupel cancel {}", run)));
  return Exit::passed;
}

/// That a run which was handed to the living controller is no refusal.
void say_submitted(const Context& context, const store::Store& store, engine::RunId run,
                   std::string_view what) {
  if (context.json) return;
  const auto holder = ControllerLock::holder(store.folder());
  const auto who = holder && holder->pid != 0
                       ? fmt::format("process {} on {}", holder->pid, holder->host)
                       : std::string{"another process"};
  say("run {} {}: {} drives it together with its other runs, and this terminal shows it. Ctrl-C "
      "here leaves it going\n",
      run, what, who);
}

/// By this process, or shown by it, or left to the background.
Exit go_on(Context& context, store::Store& store, std::unique_ptr<Planned> planned,
           Submitted submitted, Where where) {
  const auto run = submitted.run;
  if (submitted.lock) return control(context, store, std::move(planned), std::move(submitted));
  if (where == Where::background) return detached(context, store, run.id);
  say_submitted(context, store, run.id, submitted.at_work ? "is at work already" : "was submitted");
  return watch(context, store, std::move(planned), run);
}

}  // namespace

OptionRow on_halt_option(Context& context, std::string_view what) {
  return {"--on-halt",
          [&context](const std::string& text) { context.ends_when_halted = text == "end"; },
          what,
          {.among = {"wait", "end"}}};
}

Exit execute_elsewhere(Context& context, store::Store& store, const Planned& planned,
                       const store::Run& run) {
  if (const auto exit = watched(context, store, planned, run.id)) return *exit;
  return print_error(
      context,
      Error{Code::kUnreachable,
            fmt::format("run {} was submitted, and no controller lives: {}, or {}", run.id,
                        advised(context, fmt::format("cupel resume {}", run.id)),
                        advised(context, "cupel controller"))},
      Exit::unfinished);
}

Exit execute_new(Context& context, std::unique_ptr<Planned> planned, Where where) {
  auto opened = open_store_for(context, planned->inventory);
  if (!opened) return print_error_of_store(context, opened.error());
  auto& store = **opened;
  auto submitted = controller::submit(
      store, *planned, {.flags = context.run, .begun_by = login_name(), .where = where});
  if (!submitted) return print_error(context, submitted.error(), exit_for(submitted.error()));
  context.begun = submitted->run.id;
  return go_on(context, store, std::move(planned), *std::move(submitted), where);
}

Exit execute_again(Context& context, std::unique_ptr<Planned> planned, store::Run run,
                   Where where) {
  auto opened = open_store_for(context, planned->inventory);
  if (!opened) return print_error_of_store(context, opened.error());
  auto& store = **opened;
  auto submitted = controller::submit_again(store, *planned, std::move(run),
                                            {.flags = context.run, .where = where});
  if (!submitted) return print_error(context, submitted.error(), exit_for(submitted.error()));
  return go_on(context, store, std::move(planned), *std::move(submitted), where);
}

}  // namespace cupel::cli
