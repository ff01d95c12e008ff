#include "orchestrator/engine/engine.h"

#include <boost/asio/bind_cancellation_slot.hpp>

#include "base/readable_json.h"
#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/engine/active_run.h"
#include "orchestrator/engine/state_codec.h"

namespace cupel::engine {
namespace {

/// With nothing to wait for but the world, somebody's nudge ends the sleep.
constexpr auto kFar = std::chrono::hours{24 * 365};

/// A snapshot costs as much as the run is large: so often that both stay small beside the events.
constexpr std::size_t kEventsBetweenSnapshots = 5000;

bool ends_run(EventKind kind) {
  return kind == EventKind::run_ended || kind == EventKind::run_cancelled ||
         kind == EventKind::run_interrupted;
}

}  // namespace

Engine::Engine(Dispatcher& dispatcher, Clock& clock) : dispatcher_{dispatcher}, clock_{clock} {}
Engine::~Engine() = default;

void Engine::add(RunSetup setup) {
  auto fresh = std::make_unique<ActiveRun>(std::move(setup));
  auto& run = *fresh;
  runs_.push_back(std::move(fresh));
  if (run.setup.first) queue(run, *std::exchange(run.setup.first, std::nullopt), {});
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    auto& node = run.nodes[i];
    using Phase = StepState::Phase;
    const auto& steps = node.state->steps;
    const bool under_way =
        std::ranges::find(steps, Phase::running, &StepState::phase) != steps.end();
    if (under_way) {
      // Under way in the world, whatever the plan allows: it goes on.
      node.place = NodeRun::Place::open;
      ++run.open;
      run.mark(i);
      continue;
    }
    const bool fresh_node =
        std::ranges::all_of(steps, [](const auto& step) { return step.phase == Phase::waiting; });
    run.room.emplace(run.waits_for_wave(i) ? 2 : fresh_node ? 1 : 0, i);
  }
  nudge();
}

bool Engine::forget(RunId id) {
  const auto* run = find(id);
  if (run == nullptr) return true;
  if (!run->finished || run->works > 0 || !run->queue.empty()) return false;
  std::erase_if(runs_, [run](const auto& each) { return each.get() == run; });
  return true;
}

Task<Result<void>> Engine::run() {
  executor_ = co_await asio::this_coro::executor;
  const auto above = co_await asio::this_coro::cancellation_state;
  if (auto slot = above.slot(); slot.is_connected())
    slot.assign([this](asio::cancellation_type) { stop(Stop::interrupt); });
  std::optional<bool> slot;
  auto working = [](Engine& engine) -> Task<bool> {
    co_await engine.loop();
    co_return true;
  };
  auto work = detail::run_into(slot, working(*this));
  co_await asio::co_spawn(executor_, std::move(work),
                          asio::bind_cancellation_slot(sleeper_.slot(), asio::use_awaitable));
  if (broken_) co_return *broken_;
  for (const auto& run : runs_)
    if (run->state().phase != RunPhase::ended)
      co_return Error{Code::kCancelled, "the run was stopped"};
  co_return ok();
}

Task<void> Engine::loop() {
  for (;;) {
    nudged_ = false;
    co_await turn();
    const bool all = std::ranges::all_of(runs_, [](const auto& run) { return run->finished; });
    if (all) co_return;
    if (nudged_ || queued()) continue;
    // What wakes the sleeper is emitted into this coroutine: nothing may stand between.
    asleep_ = true;
    [[maybe_unused]] const auto woken = co_await clock_.pause_until(next_alarm());
    asleep_ = false;
  }
}

Task<void> Engine::turn() {
  carry_out_stops();
  fire_timers();
  for (const auto ticket : std::exchange(returned_, {})) digest(*works_.at(ticket));
  while (queued()) co_await commit();
  if (!broken_) {
    shed();
    settle();
    begin();
  }
  finish_runs();
}

Engine::Time Engine::next_alarm() const {
  auto when = clock_.now() + kFar;
  if (!timers_.empty()) when = std::min(when, timers_.begin()->first);
  if (const auto look = dispatcher_.next_look()) when = std::min(when, *look);
  for (const auto& run : runs_)
    if (!run->finished && run->hands_until) when = std::min(when, *run->hands_until);
  return when;
}

void Engine::nudge() {
  nudged_ = true;
  if (std::exchange(asleep_, false)) sleeper_.emit(asio::cancellation_type::terminal);
}

ActiveRun* Engine::find(RunId run) const {
  const auto at = std::ranges::find(runs_, run, [](const auto& each) { return each->setup.run; });
  return at == runs_.end() ? nullptr : at->get();
}

bool Engine::finished(RunId run) const {
  const auto* found = find(run);
  return found == nullptr || found->finished;
}

void Engine::queue(ActiveRun& run, Event event, Then then) {
  if (broken_) {
    if (then.receipt != nullptr) then.receipt->give(*broken_);
    if (then.what != Then::What::nothing) release(*then.work);
    return;
  }
  // Any byte may come from a node or a BMC: none of them stops a run.
  event.node = valid_utf8(event.node);
  event.step = valid_utf8(event.step);
  make_readable(event.data);
  run.queue.push_back(std::move(event));
  run.thens.push_back(then);
}

bool Engine::queued() const {
  return std::ranges::any_of(runs_, [](const auto& run) { return !run->queue.empty(); });
}

/// What happens while a journal writes is queued behind it, reported by returned_, or a request to
/// stop: all of it is looked at when this has ended. What was written takes effect before anything
/// else of its run is written.
Task<void> Engine::commit() {
  // By index: a run may be added or forgotten while another one's events are being written. One
  // that is passed over then is written in the next round.
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    auto& run = *runs_[i];
    if (run.queue.empty()) continue;
    auto events = std::exchange(run.queue, {});
    const auto thens = std::exchange(run.thens, {});
    if (!broken_) {
      run.writing = true;
      auto written = co_await run.setup.journal.append(events);
      run.writing = false;
      if (!written) break_down(std::move(written).error());
    }
    if (broken_) {
      for (const auto& then : thens) {
        if (then.receipt != nullptr) then.receipt->give(*broken_);
        if (then.what != Then::What::nothing) release(*then.work);
      }
      continue;
    }
    take_effect(run, events, thens);
    keep_snapshot(run, events.size());
  }
}

void Engine::take_effect(ActiveRun& run, std::span<const Event> events,
                         std::span<const Then> thens) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    apply(run.state(), events[i]);
    run.setup.observer.on_event(events[i], run.state());
    follow(run, events[i]);
    follow(run, thens[i]);
  }
}

void Engine::keep_snapshot(ActiveRun& run, std::size_t more) {
  run.since_snapshot += more;
  if (run.setup.snapshots == nullptr) return;
  // Somebody will go on with it: at once then, too.
  const bool due = run.since_snapshot >= kEventsBetweenSnapshots + run.step_count / 2 ||
                   run.state().phase == RunPhase::interrupted;
  if (!due) return;
  run.since_snapshot = 0;
  run.setup.snapshots->keep(run.state().last_sequence, encode(run.state()));
}

/// What the world, the other nodes and people learn from an event.
void Engine::follow(ActiveRun& run, const Event& event) {
  run.hands_until.reset();
  switch (event.kind) {
    case EventKind::run_paused:
      withdraw_all(run, "");
      break;
    case EventKind::run_halted:
      if (const auto* step = event.data.if_contains("step"); step != nullptr && step->is_string())
        if (!step->get_string().empty()) withdraw_all(run, step->get_string());
      break;
    case EventKind::run_unpaused:
    case EventKind::run_released:
    case EventKind::step_approved:
      run.mark_all();
      break;
    default:
      break;
  }
  if (ends_run(event.kind)) run.finished = true;
  const auto node = run.by_name.find(event.node);
  if (node == run.by_name.end()) return;
  auto& mine = run.nodes[node->second];
  run.mark(node->second);
  if (!mine.groups.empty()) run.mark_groups_of(node->second);
  if (event.kind == EventKind::step_ended) check_circuit(run, event);
  // Ready, and no longer needed.
  auto* work = mine.work;
  if (work == nullptr || work->stage != Work::Stage::offered) return;
  const auto at =
      static_cast<std::size_t>(std::ranges::find(work->nodes, node->second) - work->nodes.begin());
  const bool needed = !run.step(*work, at).over() && event.kind != EventKind::node_retried;
  if (!needed) release(*work);
}

void Engine::follow(ActiveRun& run, const Then& then) {
  if (then.receipt != nullptr) then.receipt->give(ok());
  if (then.work == nullptr) return;
  auto& work = *then.work;
  switch (then.what) {
    case Then::What::nothing:
      return;
    case Then::What::launch:
      return run.stopping() && !work.last_act ? leave(work) : launch(work);
    case Then::What::pause:
      if (run.stopping() && !work.last_act) return leave(work);
      work.stage = Work::Stage::pausing;
      return schedule(work);
    case Then::What::close:
      return close(work);
  }
}

void Engine::break_down(Error error) {
  if (!broken_) broken_ = std::move(error);
  // Steps under way are stopped: what they do could no longer be written down.
  stop(Stop::interrupt);
}

void Engine::stop(Stop why) {
  for (const auto& run : runs_) stop(run->setup.run, why);
}

void Engine::stop(RunId id, Stop why) {
  auto* run = find(id);
  if (run == nullptr || run->finished) return;
  if (run->stop != Stop::no && why != Stop::cancel) return;
  run->stop = why;
  run->stop_carried_out = false;
  nudge();
}

void Engine::carry_out_stops() {
  const bool asked = std::ranges::any_of(
      runs_, [](const auto& run) { return run->stopping() && !run->stop_carried_out; });
  if (!asked) return;
  for (const auto& run : runs_)
    if (run->stop == Stop::cancel && !run->stop_carried_out) take_up(*run);
  std::vector<Work*> concerned;
  for (const auto& [ticket, work] : works_)
    if (work->run->stopping() && !work->run->stop_carried_out && !work->last_act)
      concerned.push_back(work.get());
  for (const auto& run : runs_)
    if (run->stopping()) run->stop_carried_out = true;
  for (auto* work : concerned) {
    using Stage = Work::Stage;
    const bool idle = work->stage == Stage::offered || work->stage == Stage::pausing;
    const bool interrupted = work->run->stop == Stop::interrupt;
    const bool cleans_up = work->stage == Stage::letting_go || work->stage == Stage::tail;
    if (idle) {
      leave(*work);
    } else if (work->stage == Stage::trying || (cleans_up && interrupted)) {
      work->stop = work->run->stop;
      work->signal.emit(asio::cancellation_type::terminal);
    }
  }
}

void Engine::finish_runs() {
  for (const auto& each : runs_) {
    auto& run = *each;
    if (run.finished || run.works > 0 || !run.queue.empty()) continue;
    if (broken_) run.finished = true;
    if (run.finished || run.ending) continue;
    const bool through = run.over == run.nodes.size() && run.dirty.empty();
    const bool stopped = run.stopping() && run.stop_carried_out;
    if (!stopped && (run.stopping() || !through)) continue;
    const bool waits = through && waits_for_repair(run);
    if (waits && !run.stopping()) continue;
    if (run.stop == Stop::cancel && !std::exchange(run.putting_back, true))
      for (std::size_t i = 0; i < run.nodes.size(); ++i)
        if (owed(run.nodes[i])) offer(run, {i});
    if (run.works > 0 || !run.queue.empty()) {
      nudged_ = true;
      continue;
    }
    run.ending = true;
    auto kind = EventKind::run_ended;
    if (!through || waits || run.stop == Stop::cancel)
      kind = run.stop == Stop::cancel ? EventKind::run_cancelled : EventKind::run_interrupted;
    boost::json::object data;
    if (run.cancel) data = {{"by", run.cancel->by}, {"command", run.cancel->id}};
    queue(run, event_of(kind, {}, {}, std::move(data)), {});
  }
}

/// Reckoned from the ends of the steps, as the journal has them: a resume waits only the rest. A
/// wall clock that jumped makes it no longer than the patience, and none shorter than nothing.
bool Engine::waits_for_repair(ActiveRun& run) const {
  const std::chrono::milliseconds patience = run.setup.repair_patience;
  const auto now = clock_.now();
  if (!run.hands_until) {
    run.hands_until = now;
    for (const auto& node : run.nodes) {
      for (std::size_t i = 0; i < node.state->steps.size(); ++i) {
        const auto& step = node.state->steps[i];
        const bool needs =
            step.outcome == Outcome::needs_operator || step.outcome == Outcome::bmc_unresponsive;
        // Behind a failure that the playbook itself goes on behind nobody waits.
        const bool stops = (*node.plan->steps)[i].on_failure == playbooks::OnFailure::stop;
        if (step.phase != StepState::Phase::failed || !needs || !stops) continue;
        const auto rest = std::clamp(step.ended + patience - clock_.wall(),
                                     std::chrono::milliseconds{0}, patience);
        run.hands_until = std::max(*run.hands_until, now + rest);
      }
    }
  }
  return now < *run.hands_until;
}

void Engine::measured(std::string_view node, double watts) {
  dispatcher_.measured(node, watts, clock_.now());
  was_measured_ = dispatch_ = true;
  nudge();
}

const RunState& Engine::state(RunId run) const { return find(run)->state(); }

bool Engine::halted(RunId id) const {
  auto& run = *find(id);
  // One whose nodes are all through ends by itself, once nobody is waited for.
  const bool through = run.over == run.nodes.size();
  const bool moves = run.works > 0 || run.writing || !run.queue.empty() || !run.dirty.empty();
  return !run.state().halts.empty() && !through && !moves && !run.finished && !run.stopping();
}

std::optional<std::chrono::milliseconds> Engine::waits_for_repair(RunId id) const {
  const auto& run = *find(id);
  const auto now = clock_.now();
  if (run.finished || !run.hands_until || *run.hands_until <= now) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(*run.hands_until - now);
}

Stop Engine::why_stopped(RunId run) const { return find(run)->stop; }

std::vector<Engine::Held> Engine::held() const {
  std::vector<Held> all;
  for (auto& blocked : dispatcher_.blocked()) {
    const auto at = works_.find(blocked.ticket);
    if (at == works_.end()) continue;
    const auto& work = *at->second;
    for (const auto node : work.nodes)
      all.push_back({work.run->setup.run, work.run->nodes[node].plan->node->name,
                     work.planned->name, blocked.why});
  }
  return all;
}

}  // namespace cupel::engine
