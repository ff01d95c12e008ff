// The engine at its largest, with the real store and virtual time: transitions a second, memory,
// how time grows with the nodes, the restart of a run that is under way, and what waiting costs.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/store/resume.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/bench/cpu_time.h"
#include "tests/orchestrator/sim/virtual_time.h"

namespace cupel {
namespace {

using engine::EventKind;
using sim::VirtualClock;
using namespace std::chrono_literals;

constexpr std::size_t kSteps = 40;

double peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // KiB (man 2 getrusage)
}

struct Site {
  inventory::Inventory inventory{};
  playbooks::Plan plan{};

  explicit Site(std::size_t nodes) {
    inventory.profiles["p"].draw = {1000, 5000};
    for (std::size_t i = 0; i < nodes; ++i) {
      inventory::Node node;
      node.name = fmt::format("r{:03}-n{:02}", i / 32, i % 32);
      node.profile = "p";
      node.rack = fmt::format("r{:03}", i / 32);
      inventory.nodes.push_back(std::move(node));
    }
    std::vector<playbooks::PlannedStep> steps(kSteps);
    for (std::size_t i = 0; i < kSteps; ++i) {
      steps[i].kind = playbooks::StepKind::bmc_facts;
      steps[i].name = fmt::format("step-{}", i);
      steps[i].expected = 60s;
      steps[i].deadline = 24h;
      steps[i].tries = 3;
    }
    const auto shared = std::make_shared<const std::vector<playbooks::PlannedStep>>(steps);
    for (const auto& node : inventory.nodes) plan.nodes.push_back({&node, shared});
    plan.playbook = "bench";
    plan.nodes_at_once = static_cast<int>(nodes);
  }
};

/// Each step takes a minute or so, to the second; with `handles` it keeps one; `forever`: until it
/// is stopped.
struct Timed : engine::Steps {
  VirtualClock& clock;
  bool forever = false;
  bool handles = false;
  std::size_t begun = 0;

  explicit Timed(VirtualClock& its_clock) : clock{its_clock} {}
  Task<Result<void>> abort(engine::StepRequest) override { co_return ok(); }
  Task<Result<engine::StepEnd>> perform(engine::StepRequest request) override {
    const auto mine = begun++;
    if (handles && !request.handle) {
      auto handle = "job of " + request.node.name;
      CO_TRY(co_await request.started(std::move(handle)));
    }
    const auto time =
        forever ? std::chrono::seconds{12h} : std::chrono::seconds{30 + mine * 7919 % 60};
    CO_TRY(co_await clock.pause(time));
    engine::StepEnd end;
    end.detail = "read";
    co_return end;
  }
};

struct Silent : engine::Observer {
  std::size_t events = 0;
  engine::Engine* engine = nullptr;
  std::size_t stop_after = 0;
  EventKind counted = EventKind::step_ended;
  std::size_t count = 0;
  void on_event(const engine::Event& event, const engine::RunState&) override {
    ++events;
    if (event.kind == counted && ++count == stop_after) engine->stop(engine::Stop::interrupt);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

struct Kept : engine::Snapshots {
  store::Store& store;
  engine::RunId run;
  std::size_t count = 0;
  Kept(store::Store& its_store, engine::RunId its_run) : store{its_store}, run{its_run} {}
  void keep(std::int64_t sequence, std::string_view state) override {
    ++count;
    [[maybe_unused]] const auto kept = store.keep_snapshot(run, sequence, state);
  }
};

struct Folder {
  std::filesystem::path path;
  Folder() {
    auto name = (std::filesystem::temp_directory_path() / "cupel-bench-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

engine::RunId begin(store::Store& store, const Site& site) {
  store::Run run;
  run.playbook = "bench";
  for (const auto& node : site.inventory.nodes) run.nodes.push_back(node.name);
  return store.begin_run(run).value();
}

/// CPU seconds of a whole run.
double whole_run(std::size_t nodes, bool say) {
  const Folder folder;
  const Site site{nodes};
  auto store = store::Store::open(folder.path).value();
  const auto run = begin(*store, site);
  VirtualClock clock;
  Timed steps{clock};
  Silent observer;
  store::RunJournal journal{*store, run};
  Kept snapshots{*store, run};
  engine::Dispatcher dispatcher;
  dispatcher.know(site.inventory);
  engine::Engine engine{dispatcher, clock};
  engine.add({.run = run,
              .plan = site.plan,
              .state = engine::initial_state(site.plan),
              .journal = journal,
              .steps = steps,
              .observer = observer,
              .snapshots = &snapshots});
  asio::io_context io;
  const auto began = std::chrono::steady_clock::now();
  const auto cpu = bench::cpu_seconds();
  const auto ended = run_virtually(io, clock, engine.run());
  const auto spent = bench::cpu_seconds() - cpu;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  if (!ended || !*ended) fmt::print("FAILED: the run did not end\n");
  if (!say) return spent;
  const auto count = static_cast<double>(nodes * kSteps);
  fmt::print("{} nodes x {} steps: {} events, {} snapshots, {:.1f} s of CPU, {:.1f} s of wall\n",
             nodes, kSteps, observer.events, snapshots.count, spent, wall.count());
  fmt::print("  whole steps   {:9.0f} a second of CPU\n", count / spent);
  fmt::print("  transitions   {:9.0f} a second of CPU (began, ended)   bound: at least 20000\n",
             2 * count / spent);
  fmt::print("  memory        {:9.0f} MiB at its peak                  bound: under 1024\n",
             peak_mib());
  return spent;
}

void restart(std::size_t nodes) {
  const Folder folder;
  const Site site{nodes};
  auto store = store::Store::open(folder.path).value();
  const auto run = begin(*store, site);
  VirtualClock clock;
  store::RunJournal journal{*store, run};
  for (const bool again : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    auto state = store::standing(*store, run, site.plan).value();
    Timed steps{clock};
    steps.forever = true;
    steps.handles = true;
    Silent observer;
    observer.stop_after = nodes;
    observer.counted = again ? EventKind::step_began : EventKind::step_started;
    Kept snapshots{*store, run};
    engine::Dispatcher dispatcher;
    dispatcher.know(site.inventory);
    engine::Engine engine{dispatcher, clock};
    observer.engine = &engine;
    engine.add({.run = run,
                .plan = site.plan,
                .state = std::move(state),
                .journal = journal,
                .steps = steps,
                .observer = observer,
                .snapshots = &snapshots});
    asio::io_context io;
    [[maybe_unused]] const auto stopped = run_virtually(io, clock, engine.run());
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    if (again)
      fmt::print("restart: {} steps in flight re-attached in {:.2f} s       bound: under 3\n",
                 observer.count, wall.count());
  }
}

void idle(std::size_t nodes) {
  const Site site{nodes};
  struct Nowhere : engine::Journal {
    std::int64_t last = 0;
    Task<Result<void>> append(std::span<engine::Event> events) override {
      for (auto& event : events) event.sequence = ++last;
      co_return ok();
    }
  } journal;
  VirtualClock unused;
  struct Waits : engine::Steps {
    Task<Result<engine::StepEnd>> perform(engine::StepRequest) override {
      CO_TRY(co_await pause_for(1h));
      co_return engine::StepEnd{};
    }
    Task<Result<void>> abort(engine::StepRequest) override { co_return ok(); }
  } steps;
  Silent observer;
  engine::RealClock clock;
  engine::Dispatcher dispatcher;
  engine::Engine engine{dispatcher, clock};
  engine.add({.run = 1,
              .plan = site.plan,
              .state = engine::initial_state(site.plan),
              .journal = journal,
              .steps = steps,
              .observer = observer});
  asio::io_context io;
  auto watch = [](engine::Engine& its) -> Task<Result<void>> {
    CO_TRY(co_await pause_for(3s));
    const auto cpu = bench::cpu_seconds();
    CO_TRY(co_await pause_for(10s));
    fmt::print("idle: waiting nodes use {:.4f} % of a core             bound: under 0.1\n",
               (bench::cpu_seconds() - cpu) * 10);
    its.stop(engine::Stop::interrupt);
    co_return ok();
  };
  std::optional<Result<void>> watched;
  asio::co_spawn(io, detail::run_into(watched, watch(engine)), [](std::exception_ptr) {});
  [[maybe_unused]] const auto ended = run_to_end(io, engine.run());
}

}  // namespace
}  // namespace cupel

int main(int argc, char** argv) {
  const std::size_t nodes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  cupel::whole_run(nodes, true);
  const auto half = cupel::whole_run(nodes / 2, false);
  const auto full = cupel::whole_run(nodes, false);
  fmt::print(
      "doubling: {} nodes {:.2f} s, {} nodes {:.2f} s of CPU: x {:.2f}      bound: 2 +- 15 %\n",
      nodes / 2, half, nodes, full, full / half);
  cupel::restart(nodes);
  cupel::idle(nodes);
}
