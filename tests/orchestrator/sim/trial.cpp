#include "tests/orchestrator/sim/trial.h"

#include <boost/asio/post.hpp>
#include <boost/json/serialize.hpp>

namespace cupel::sim {

using engine::Event;
using engine::EventKind;
using engine::RunState;

Task<Result<void>> MemoryJournal::append(std::span<Event> more) {
  const bool dies = ++writes == crash_at;
  // As a database over a network: the rest of the rack goes on meanwhile.
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  if (dies && !after_fsync) throw Crash{};
  for (auto& event : more) {
    event.sequence = static_cast<std::int64_t>(events.size()) + 1;
    event.time = clock->wall();
    events.push_back(event);
  }
  if (dies) throw Crash{};
  co_return ok();
}

namespace {

/// Holds the engine's state against the journal's, at every event.
struct Watching : engine::Observer {
  Trial& trial;
  RunState folded;
  engine::Engine* engine = nullptr;

  Watching(Trial& of, RunState from) : trial{of}, folded{std::move(from)} {}
  void on_event(const Event& event, const RunState& state) override {
    apply(folded, event);
    if (!(folded == state)) trial.complaints.push_back("the fold is not the engine's state");
    check_jobs(event);
    trial.measure(*engine);
    const bool unneeded = trial.cancel_at > 0 && trial.journal.events.size() >= trial.cancel_at;
    if (unneeded) engine->stop(1, engine::Stop::cancel);
    if (trial.on_event) trial.on_event(*engine, event);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
  /// What the run has let go runs nowhere any more.
  void check_jobs(const Event& event) {
    const bool over = event.kind == EventKind::step_ended || event.kind == EventKind::step_shed ||
                      event.kind == EventKind::step_stopped;
    const bool end = event.kind == EventKind::run_ended || event.kind == EventKind::run_cancelled;
    for (const auto& [name, machine] : trial.world.machines) {
      const bool abort = end || (over && event.node == name);
      if (abort && trial.world.has_job(name))
        trial.complaints.push_back(name + " still has a job after " +
                                   std::string{to_string(event.kind)} + " " + event.step);
    }
  }
};

}  // namespace

Trial::Trial(std::uint64_t seed, std::size_t nodes, Weather weather, double loaded)
    : rack{nodes, loaded}, world{clock, rack, seed, weather} {
  journal.clock = &clock;
}

RunState Trial::fold() const {
  auto state = engine::initial_state(rack.plan);
  for (const auto& event : journal.events) apply(state, event);
  return state;
}

void Trial::measure(engine::Engine& engine) {
  for (const auto& [name, machine] : world.machines) {
    const auto now = clock.now();
    const bool loaded = std::ranges::any_of(
        machine.jobs, [&](const auto& job) { return job.second.heavy && job.second.ends > now; });
    if (!loaded) continue;
    if (world.weather.hungry > 0 && world.chance(world.weather.hungry))
      world.make_hungry(name, static_cast<double>(world.between(500, 2000).count()));
    const bool hungry = std::ranges::any_of(
        machine.jobs, [&](const auto& job) { return job.second.over_until > now; });
    if (hungry) engine.measured(name, world.draw(name));
  }
}

Ends Trial::control() {
  Ends ends;
  engine::Dispatcher dispatcher{{.slots = rack.plan.limits}};
  dispatcher.know(rack.inventory);
  WorldSteps steps{world, journal.events};
  Watching watching{*this, fold()};
  engine::Engine engine{dispatcher, clock};
  watching.engine = &engine;
  Event first;
  first.kind = journal.events.empty() ? EventKind::run_started : EventKind::run_resumed;
  engine.add({.run = 1,
              .plan = rack.plan,
              .state = fold(),
              .journal = journal,
              .steps = steps,
              .observer = watching,
              .first = first});
  measure(engine);
  asio::io_context io;  // dies first, with all that ran in it
  try {
    ends.ended = run_virtually(io, clock, engine.run());
    if (!ends.ended) complaints.push_back("the run is stuck");
  } catch (const Crash&) {
    ends.crashed = true;
  }
  clock.forget_sleepers();
  ends.state = engine.state(1);
  ends.held = engine.held();
  if (ends.ended) {
    if (!ends.held.empty()) complaints.push_back("something is still offered");
    double watts = 0;
    for (const auto& [level, drawn] : dispatcher.draw())
      if (level.ends_with("room")) watts += drawn;
    // Idle nodes draw 1000 W each: any more is a lease that was left.
    if (watts > 1000.0 * static_cast<double>(rack.inventory.nodes.size()) + 1)
      complaints.push_back("watts are still held");
  }
  return ends;
}

bool Trial::to_the_end(int most) {
  for (int i = 0; i < most; ++i) {
    const auto ends = control();
    if (!ends.crashed && !ends.ended) return false;
    if (!ends.ended) continue;
    if (ends.state.phase == engine::RunPhase::cancelled) {
      check_cancelled(ends.state);
      return true;
    }
    if (!*ends.ended) continue;
    check_end(ends.state);
    return true;
  }
  complaints.push_back("no end after " + std::to_string(most) + " controllers");
  return false;
}

void Trial::check_end(const RunState& state) {
  if (!(fold() == state)) complaints.push_back("the journal tells another story than the engine");
  for (const auto& [name, node] : state.nodes)
    for (std::size_t i = 0; i < node.steps.size(); ++i)
      if (!node.steps[i].over()) complaints.push_back(name + " is not through");
  std::map<std::pair<std::string, std::string>, const Event*> done;
  for (const auto& event : journal.events)
    if (event.kind == EventKind::step_ended && event.data.at("outcome").as_string() == "done")
      done[{event.node, event.step}] = &event;
  for (const auto& [name, machine] : world.machines) {
    if (machine.in_slurm && machine.firmware != 1)
      complaints.push_back(name + " was handed over with old firmware");
    const auto soak = done.find({name, "soak"});
    if (machine.in_slurm && soak == done.end())
      complaints.push_back(name + " was handed over without its record");
    if (soak == done.end()) continue;
    // The result is that of a job that ran to its end, to the last digit.
    const auto result = soak->second->data.at("result").as_double();
    const bool kept = std::ranges::any_of(machine.jobs, [&](const auto& job) {
      return job.second.result == result && !job.second.killed;
    });
    if (!kept) complaints.push_back(name + ": the soak's result was lost");
  }
  for (const auto& rule : world.broken_rules) complaints.push_back(rule);
}

void Trial::check_cancelled(const RunState& state) {
  if (!(fold() == state)) complaints.push_back("the journal tells another story than the engine");
  for (const auto& [name, node] : state.nodes)
    for (const auto& step : node.steps)
      if (step.phase == engine::StepState::Phase::running)
        complaints.push_back(name + " is in the middle of a step for ever");
  for (const auto& rule : world.broken_rules) complaints.push_back(rule);
}

std::vector<std::string> Trial::transcript() const {
  std::vector<std::string> lines;
  for (const auto& event : journal.events)
    lines.push_back(std::to_string(event.time.time_since_epoch().count()) + " " +
                    std::string{to_string(event.kind)} + " " + event.node + " " + event.step + " " +
                    boost::json::serialize(event.data));
  return lines;
}

}  // namespace cupel::sim
