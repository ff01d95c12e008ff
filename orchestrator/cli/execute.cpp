#include "orchestrator/cli/execute.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>

#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/world.h"
#include "orchestrator/console/recorder.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/run_lock.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::EventKind;

constexpr std::chrono::seconds kTick{1};

/// What a report needs to know of the site, as it was when the run began.
boost::json::object plan_data(const Planned& planned) {
  boost::json::array racks;
  for (const auto& rack : planned.inventory.racks)
    racks.push_back({{"name", rack.name}, {"units", rack.units}});
  boost::json::array nodes;
  boost::json::array steps;
  for (const auto& each : planned.plan.nodes) {
    const auto& node = *each.node;
    nodes.push_back({{"name", node.name},
                     {"profile", node.profile},
                     {"rack", node.rack},
                     {"unit", node.unit},
                     {"height", planned.inventory.profile_of(node).units}});
  }
  for (const auto& step : planned.plan.step_names()) steps.emplace_back(step);
  return {{"playbook", planned.playbook.name},
          {"site", planned.inventory.site},
          {"racks", racks},
          {"nodes", nodes},
          {"steps", steps}};
}

Event run_event(EventKind kind, boost::json::object data = {}) {
  Event event;
  event.kind = kind;
  event.data = std::move(data);
  return event;
}

/// SIGINT and SIGTERM stop the run; a second one does not make it faster, since steps are cleaning
/// up.
Task<Result<void>> listen(engine::Engine& engine, store::Store& store, engine::RunId run) {
  boost::asio::signal_set signals{co_await asio::this_coro::executor, SIGINT, SIGTERM};
  for (;;) {
    const auto [failure, signal] = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
    if (failure) co_return ok();
    const auto cancel = store.cancel_requested(run);
    const bool wanted = cancel && cancel.assume_value();
    engine.stop(wanted ? engine::Stop::cancel : engine::Stop::interrupt);
  }
}

Task<Result<void>> tick(Progress& progress) {
  for (;;) {
    CO_TRY(co_await pause_for(kTick));
    progress.tick();
  }
}

/// The engine, with the signals, the clock and the consoles beside it for as long as it works.
Task<Result<void>> work(engine::Engine& engine, store::Store& store, engine::RunId run,
                        Progress& progress, console::Recording recording) {
  const auto executor = co_await asio::this_coro::executor;
  std::optional<Result<void>> ran;
  std::optional<Result<void>> listened;
  std::optional<Result<void>> ticked;
  std::optional<Result<void>> recorded;
  auto group = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::run_into(ran, engine.run()), asio::deferred),
      asio::co_spawn(executor, detail::run_into(listened, listen(engine, store, run)),
                     asio::deferred),
      asio::co_spawn(executor, detail::run_into(ticked, tick(progress)), asio::deferred),
      asio::co_spawn(executor,
                     detail::run_into(recorded, console::record_consoles(std::move(recording))),
                     asio::deferred));
  const auto [order, engine_bug, listen_bug, tick_bug, record_bug] =
      co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  for (const auto& bug : {engine_bug, listen_bug, tick_bug, record_bug})
    if (bug) std::rethrow_exception(bug);
  co_return std::move(*ran);
}

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
    auto object = report::to_json(summary.assume_value());
    object.at("summary").as_object()["controller"] = {
        {"peak_memory_bytes", spent.peak_memory_bytes}, {"cpu_seconds", spent.cpu_seconds}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else {
    std::fputs(report::to_text(summary.assume_value()).c_str(), stdout);
    say("  controller    {:.0f} MiB of memory at its peak, {:.1f} s of CPU\n",
        spent.peak_memory_bytes / (1 << 20), spent.cpu_seconds);
  }
  std::fflush(stdout);
}

Exit exit_of(const store::Store& store, engine::RunId run) {
  const auto summary = report::summarize(store, run);
  if (!summary) return Exit::unfinished;
  const auto& nodes = summary.assume_value().nodes;
  return summary.assume_value().count(burnin::Decision::pass) == nodes.size() ? Exit::passed
                                                                              : Exit::failed;
}

/// What the engine's end means for the run, said.
Exit conclude(const Context& context, const store::Store& store, engine::RunId run,
              const engine::Engine& engine, const Result<void>& ended) {
  if (ended) {
    print_summary(context, store, run);
    return exit_of(store, run);
  }
  const auto& error = ended.assume_error();
  if (error.code == Code::kStorage) {
    const auto what = fmt::format(
        "{}. Nothing more was started, and what was written is kept. Make "
        "room, then: cupel resume {}",
        error.what, run);
    return complain(context, Error{error.code, what}, Exit::unfinished);
  }
  print_summary(context, store, run);
  const auto what = engine.why_stopped(run) == engine::Stop::cancel
                        ? fmt::format("run {} was cancelled; its nodes stay drained", run)
                        : fmt::format("run {} was stopped; go on with: cupel resume {}", run, run);
  return complain(context, Error{Code::kCancelled, what}, Exit::unfinished);
}

/// The consoles that a run is to record: none where a person said so.
console::Recording recording_of(const Context& context, const Planned& planned, World& world,
                                engine::RunId run) {
  console::Recording recording;
  recording.bmc = [&world](const inventory::Node& node) { return world.bmc(node); };
  recording.folder = console::console_folder(context.state, run);
  recording.locks = context.state / "locks";
  if (!context.consoles) return recording;
  for (const auto& each : planned.plan.nodes) recording.nodes.push_back(each.node);
  return recording;
}

/// Replays what there is, writes `first`, and works.
Exit execute(Context& context, Planned& planned, store::Store& store, World& world,
             engine::RunId run, Event first) {
  const auto lock = store::RunLock::take(store.folder(), run);
  if (!lock) return complain(context, lock.assume_error(), Exit::invalid);
  auto state = engine::initial_state(planned.plan);
  const auto events = store.events(run);
  if (!events) return complain(context, events.assume_error(), Exit::unfinished);
  for (const auto& event : events.assume_value()) apply(state, event);
  const auto progress = make_progress(planned.plan, run, context.json);

  store::RunJournal journal{store, run};
  steps::NodeSteps steps{world.doors()};
  engine::Dispatcher dispatcher{{.slots = planned.plan.limits}};
  dispatcher.know(planned.inventory);
  engine::RealClock clock;
  engine::Engine engine{dispatcher, clock};
  engine.add({.run = run,
              .plan = planned.plan,
              .state = std::move(state),
              .journal = journal,
              .steps = steps,
              .observer = *progress,
              .first = std::move(first)});
  auto recording = recording_of(context, planned, world, run);
  const auto ended =
      run_to_end(world.io(), work(engine, store, run, *progress, std::move(recording)));
  progress->finish();
  return conclude(context, store, run, engine, ended);
}

}  // namespace

Exit execute_new(Context& context, Planned& planned) {
  auto store = store::Store::open(context.state);
  if (!store) return complain(context, store.assume_error(), Exit::unfinished);
  World world{planned.inventory, *store.assume_value()};
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : planned.plan.nodes) nodes.push_back(each.node);
  const auto secrets = world.check_secrets(nodes);
  if (!secrets) return complain(context, secrets.assume_error(), Exit::invalid);

  store::Run run;
  run.playbook = planned.playbook.name;
  run.playbook_file = planned.playbook.file;
  run.playbook_text = planned.playbook.text;
  run.inventory_file = std::filesystem::absolute(planned.inventory.file).string();
  run.inventory_digest = planned.inventory.digest;
  for (const auto* node : nodes) run.nodes.push_back(node->name);
  const auto id = store.assume_value()->begin_run(run);
  if (!id) {
    const bool held = id.assume_error().code == Code::kConflict;
    return complain(context, id.assume_error(), held ? Exit::invalid : Exit::unfinished);
  }
  return execute(context, planned, *store.assume_value(), world, id.assume_value(),
                 run_event(EventKind::run_started, plan_data(planned)));
}

Exit execute_again(Context& context, Planned& planned, const store::Run& run) {
  auto store = store::Store::open(context.state);
  if (!store) return complain(context, store.assume_error(), Exit::unfinished);
  World world{planned.inventory, *store.assume_value()};
  // A crash between the run's row and its first event leaves a run without a plan to show.
  const auto events = store.assume_value()->events(run.id);
  if (!events) return complain(context, events.assume_error(), Exit::unfinished);
  auto first = events.assume_value().empty() ? run_event(EventKind::run_started, plan_data(planned))
                                             : run_event(EventKind::run_resumed);
  return execute(context, planned, *store.assume_value(), world, run.id, std::move(first));
}

}  // namespace cupel::cli
