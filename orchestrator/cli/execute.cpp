#include "orchestrator/cli/execute.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/json.hpp>

#include "base/login.h"
#include "orchestrator/cli/background.h"
#include "orchestrator/cli/controller_log.h"
#include "orchestrator/cli/follow.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/terminal_front.h"
#include "orchestrator/controller/controller.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/report/drained.h"
#include "orchestrator/report/left_behind.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::cli {
namespace {

using controller::Connections;

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

void print_summary(const Context& context, const store::Store& store, engine::RunId run) {
  const auto summary = report::summarize(store, run);
  if (!summary) return;
  const auto spent = cost();
  if (context.json) {
    auto object = report::to_json(*summary);
    object.at("summary").as_object()["controller"] = {
        {"peak_memory_bytes", spent.peak_memory_bytes}, {"cpu_seconds", spent.cpu_seconds}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else {
    std::fputs(report::to_text(*summary).c_str(), stdout);
    say("  controller    {:.0f} MiB of memory at its peak, {:.1f} s of CPU\n",
        spent.peak_memory_bytes / (1 << 20), spent.cpu_seconds);
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
std::string still_set(const store::Store& store, engine::RunId run) {
  const auto events = store.events(run);
  if (!events) return {};
  const auto count = report::left_behind(*events).set.size();
  if (count == 0) return {};
  return fmt::format(
      "; {} node{} its settings until then, or until `cupel cancel {}` puts them back", count,
      count == 1 ? " keeps" : "s keep", run);
}

/// What the run's end means, as its journal has it.
Exit conclude(const Context& context, const store::Store& store, engine::RunId id) {
  const auto run = store.run(id);
  if (!run) return complain(context, run.error(), Exit::unfinished);
  print_summary(context, store, id);
  const auto phase = run->phase;
  if (phase == RunPhase::ended) return exit_of(store, id);
  const auto what =
      phase == RunPhase::cancelled
          ? fmt::format("run {} was cancelled{}", id, report::still_drained(store, id))
          : fmt::format("run {} was stopped; go on with: cupel resume {}{}", id, id,
                        still_set(store, id));
  return complain(context, Error{Code::kCancelled, what}, Exit::unfinished);
}

/// Drives the run, and whatever is submitted meanwhile. The lock is held as long as this takes.
Exit control(Context& context, store::Store& store, std::unique_ptr<Planned> planned,
             const store::Run& run, ControllerLock) {
  const auto logs = start_log(context, "none");
  if (!logs) return complain(context, logs.error(), Exit::invalid);
  TerminalFront front{context};
  controller::Controller drives{front, store, controller_settings(context)};
  const auto added = drives.add(std::move(planned), run);
  if (!added) {
    const bool wrong = added.error().code != Code::kStorage;
    return complain(context, added.error(), wrong ? Exit::invalid : Exit::unfinished);
  }
  const auto ran = drives.work();
  if (!ran && ran.error().code == Code::kStorage) {
    // A journal that is damaged says itself what helps; else it is the disk.
    const auto damaged = store.broken_at(run.id);
    const bool whole = damaged && !*damaged;
    const auto what = fmt::format(
        "{}. Nothing more was started, and what was written is kept{}", ran.error().what,
        whole ? fmt::format(". Make room, then: cupel resume {}", run.id) : "");
    return complain(context, Error{Code::kStorage, what}, Exit::unfinished);
  }
  return conclude(context, store, run.id);
}

/// Nothing where nobody has begun it yet, and nobody is there who would.
std::optional<Exit> watched(const Context& context, store::Store& store, const Planned& planned,
                            engine::RunId run) {
  switch (follow(context, store, planned.plan, run)) {
    case Followed::to_its_end:
      return conclude(context, store, run);
    case Followed::left:
      return complain(
          context,
          Error{Code::kCancelled, fmt::format("run {0} goes on without this terminal; see cupel "
                                              "status, or end it with: cupel cancel {0}",
                                              run)},
          Exit::unfinished);
    case Followed::abandoned:
      return complain(context,
                      Error{Code::kUnreachable,
                            fmt::format("the controller of run {0} is gone; go on with: cupel "
                                        "resume {0}",
                                        run)},
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
  auto lock = ControllerLock::take(store.folder());
  // Another one that waited was faster: it takes the run up as the first one would have.
  if (!lock) return watch(context, store, std::move(planned), run);
  return control(context, store, std::move(planned), run, *std::move(lock));
}

/// Leaves the run to a controller without a terminal, and says which one.
Exit detached(const Context& context, const store::Store& store, engine::RunId run) {
  const auto process = leave_to_background(context, store, run);
  if (!process) return complain(context, process.error(), Exit::unfinished);
  const auto now = store.run(run);
  if (now && now->phase != RunPhase::running) return conclude(context, store, run);
  const auto log = controller_log(store.folder()).string();
  if (context.json)
    std::printf("%s\n", boost::json::serialize(
                            boost::json::object{{"run", run}, {"pid", *process}, {"log", log}})
                            .c_str());
  else
    say("run {0} goes on in the background: process {1}{2}\n"
        "see it: cupel follow {0}    end it: cupel cancel {0}\n",
        run, *process, std::filesystem::exists(log) ? ", log " + log : std::string{});
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

/// Whether the secrets can be had, said before anything is written.
Result<void> check_secrets(const Planned& planned, store::Store& store) {
  Connections connections{planned.inventory, store};
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : planned.plan.nodes) nodes.push_back(each.node);
  return connections.check_secrets(nodes);
}

/// One that stays in the background holds the lock itself.
Result<ControllerLock> lock_if_here(Where where, const store::Store& store) {
  if (where == Where::background) return Error{Code::kConflict, "left to the background"};
  return ControllerLock::take(store.folder());
}

}  // namespace

Exit execute_elsewhere(Context& context, store::Store& store, const Planned& planned,
                       const store::Run& run) {
  if (const auto exit = watched(context, store, planned, run.id)) return *exit;
  return complain(
      context,
      Error{Code::kUnreachable, fmt::format("run {0} was submitted, and no controller lives: cupel "
                                            "resume {0}, or cupel controller",
                                            run.id)},
      Exit::unfinished);
}

Exit execute_new(Context& context, std::unique_ptr<Planned> planned, Where where) {
  auto opened = open_store_for(context, planned->inventory);
  if (!opened) return complain_of_store(context, opened.error());
  auto& store = **opened;
  const auto secrets = check_secrets(*planned, store);
  if (!secrets) return complain(context, secrets.error(), Exit::invalid);

  auto lock = lock_if_here(where, store);
  if (!lock && lock.error().code != Code::kConflict)
    return complain(context, lock.error(), Exit::unfinished);
  store::Run run;
  run.playbook = planned->playbook.name;
  run.playbook_file = planned->playbook.file;
  run.playbook_text = planned->playbook.text;
  run.inventory_file = std::filesystem::absolute(planned->inventory.file).string();
  run.inventory_digest = planned->inventory.digest;
  for (const auto& each : planned->plan.nodes) run.nodes.push_back(each.node->name);
  run.phase = lock ? RunPhase::running : RunPhase::submitted;
  auto options = controller::with({}, context.run);
  options.rehearsal = is_of_virtual_rack(planned->inventory.file);
  options.begun_by = login_name();
  run.options = to_text(options);
  const auto id = store.begin_run(run);
  if (!id) {
    const bool held = id.error().code == Code::kConflict;
    return complain(context, id.error(), held ? Exit::invalid : Exit::unfinished);
  }
  run.id = *id;
  if (lock) return control(context, store, std::move(planned), run, *std::move(lock));
  if (where == Where::background) return detached(context, store, run.id);
  say_submitted(context, store, run.id, "was submitted");
  return watch(context, store, std::move(planned), run);
}

Exit execute_again(Context& context, std::unique_ptr<Planned> planned, store::Run run,
                   Where where) {
  auto opened = open_store_for(context, planned->inventory);
  if (!opened) return complain_of_store(context, opened.error());
  auto& store = **opened;
  auto lock = lock_if_here(where, store);
  if (!lock && lock.error().code != Code::kConflict)
    return complain(context, lock.error(), Exit::unfinished);
  const bool driven =
      !lock && controller::find(controller::read_status(store.folder()), run.id) != nullptr;
  if (!driven) {
    run.options = to_text(controller::with(controller::run_options_of(run.options), context.run));
    const auto kept = store.keep_options(run.id, run.options);
    if (!kept) return complain(context, kept.error(), Exit::unfinished);
  }
  if (lock) return control(context, store, std::move(planned), run, *std::move(lock));
  if (!driven) {
    const auto secrets = check_secrets(*planned, store);
    if (!secrets) return complain(context, secrets.error(), Exit::invalid);
    const auto submitted = store.submit_again(run.id);
    if (!submitted) return complain(context, submitted.error(), Exit::unfinished);
  }
  if (where == Where::background) return detached(context, store, run.id);
  say_submitted(context, store, run.id, driven ? "is at work already" : "was submitted");
  return watch(context, store, std::move(planned), run);
}

}  // namespace cupel::cli
