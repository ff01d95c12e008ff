// What is next for each node: whom the plan lets in, what is offered to the dispatcher, who waits
// for others, when a run halts and when its next wave opens.
#include "inventory/node.h"
#include "orchestrator/engine/active_run.h"
#include "orchestrator/engine/circuit.h"
#include "playbooks/condition.h"
#include "playbooks/group.h"

namespace cupel::engine {

void Engine::settle() {
  for (const auto& each : runs_) {
    auto& run = *each;
    if (run.finished || run.ending || run.stopping()) continue;
    do {
      for (const auto node : std::exchange(run.dirty, {})) {
        run.nodes[node].dirty = false;
        settle(run, node);
      }
      for (const auto group : std::exchange(run.dirty_groups, {})) {
        run.groups[group].dirty = false;
        check_group(run, group);
      }
      open_wave(run);
      admit(run);
    } while (!run.dirty.empty() || !run.dirty_groups.empty());
  }
}

namespace {

using Place = NodeRun::Place;

void take_place(ActiveRun& run, std::size_t node, Place place) {
  auto& mine = run.nodes[node];
  if (mine.place == place) return;
  if (mine.place == Place::open) --run.open;
  if (mine.place == Place::over) --run.over;
  if (place == Place::open) ++run.open;
  if (place == Place::over) ++run.over;
  if (place == Place::room) run.room.emplace(run.waits_for_wave(node) ? 2 : 0, node);
  mine.place = place;
}

/// A person may have opened again what a node does before its wave: no wave is waited for.
void rank_again(ActiveRun& run, std::size_t node) {
  if (!run.waits_for_wave(node) && run.room.erase({2, node}) > 0) run.room.emplace(1, node);
}

void leave_group(ActiveRun& run, std::size_t node) {
  auto& mine = run.nodes[node];
  if (mine.arrived) run.groups[*mine.arrived].arrived.erase(node);
  mine.arrived.reset();
}

/// Nothing new begins on this step until a person has spoken.
bool blocked(const RunState& state, const playbooks::PlannedStep& step) {
  return state.paused || state.halts.contains(step.name);
}

struct LeftOut {
  std::string why{};
  std::string_view because{};
};

/// Why the playbook itself leaves out a step that is due on this node; nothing if it is to be done.
std::optional<LeftOut> left_out(const ActiveRun& run, std::size_t node, std::size_t step) {
  const auto& mine = run.nodes[node];
  const auto& planned = (*mine.plan->steps)[step];
  if (auto why = playbooks::unmet(planned.when, mine.state->facts))
    return LeftOut{std::move(*why),
                   playbooks::unreported(planned.when, mine.state->facts) ? "untold" : "condition"};
  if (playbooks::needs_partner(planned) && !run.group_of(node, step))
    return LeftOut{"there is no partner to do it with", "partner"};
  return std::nullopt;
}

Event skip_of(const NodeRun& node, std::size_t step, const std::string& why,
              std::string_view because) {
  return event_of(EventKind::step_skipped, node.plan->node->name, (*node.plan->steps)[step].name,
                  {{"why", why}, {"because", because}});
}

}  // namespace

void Engine::settle(ActiveRun& run, std::size_t node) {
  auto& mine = run.nodes[node];
  if (mine.place == Place::room) return rank_again(run, node);
  if (mine.work != nullptr) return;
  auto what = next(*mine.plan, *mine.state);
  const bool comes_again = mine.place == Place::over && what.kind != Next::Kind::nothing;
  if (comes_again) return take_place(run, node, Place::room);
  if (what.kind == Next::Kind::nothing) {
    leave_group(run, node);
    return take_place(run, node, Place::over);
  }
  if (run.waits_for_wave(node)) return take_place(run, node, Place::room);
  // A failure leaves out many: they are written together.
  if (what.kind == Next::Kind::skip) {
    for (; what.kind == Next::Kind::skip; what = next(*mine.plan, *mine.state, what.step + 1))
      queue(run, skip_of(mine, what.step, what.why, "failure"), {});
    return;
  }
  const auto& planned = (*mine.plan->steps)[what.step];
  const bool fresh = mine.state->steps[what.step].phase == StepState::Phase::waiting;
  if (what.kind == Next::Kind::perform && fresh)
    if (const auto out = left_out(run, node, what.step))
      return queue(run, skip_of(mine, what.step, out->why, out->because), {});
  const bool waits_for_people =
      what.kind == Next::Kind::await_approval || (fresh && blocked(run.state(), planned));
  if (waits_for_people) {
    leave_group(run, node);
    // Of a pause nobody makes use: whoever was let in stays in.
    if (!run.state().paused) take_place(run, node, Place::held);
    return;
  }
  if (const auto group = run.group_of(node, what.step)) return arrive(run, node, *group);
  if (mine.place == Place::held) return take_place(run, node, Place::room);
  offer(run, {node});
}

/// What a controller that is gone had begun, and nobody has looked at yet.
void Engine::take_up(ActiveRun& run) {
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const auto& steps = run.nodes[i].state->steps;
    const bool under_way =
        std::ranges::find(steps, StepState::Phase::running, &StepState::phase) != steps.end();
    if (under_way) settle(run, i);
  }
  for (const auto group : std::exchange(run.dirty_groups, {})) {
    run.groups[group].dirty = false;
    check_group(run, group);
  }
}

void Engine::arrive(ActiveRun& run, std::size_t node, std::size_t group) {
  auto& mine = run.nodes[node];
  mine.arrived = group;
  run.groups[group].arrived.insert(node);
  take_place(run, node, Place::held);
  if (std::exchange(run.groups[group].dirty, true)) return;
  run.dirty_groups.push_back(group);
}

void Engine::check_group(ActiveRun& run, std::size_t which) {
  auto& group = run.groups[which];
  if (group.arrived.empty()) return;
  std::vector<std::size_t> live;
  std::string gone;
  for (const auto& [node, step] : group.members) {
    if (!run.nodes[node].state->steps[step].over()) {
      live.push_back(node);
    } else {
      gone += (gone.empty() ? "" : ", ") + run.nodes[node].plan->node->name;
    }
  }
  if (group.arrived.size() < live.size()) return;
  const auto& [first, its_step] = group.members.front();
  const bool needs_partner = playbooks::needs_partner((*run.nodes[first].plan->steps)[its_step]);
  if (live.size() == 1 && needs_partner) {
    const auto& node = *run.nodes[live.front()].plan->node;
    leave_group(run, live.front());
    return queue(run,
                 event_of(EventKind::step_skipped, node.name, run.setup.plan.groups[which].step,
                          {{"why", "no partner is left: " + gone}, {"because", "partner"}}),
                 {});
  }
  for (const auto node : live) {
    leave_group(run, node);
    take_place(run, node, Place::open);
  }
  offer(run, std::move(live));
}

void Engine::offer(ActiveRun& run, std::vector<std::size_t> nodes) {
  Offer offer;
  offer.run = run.setup.run;
  offer.priority = run.setup.plan.priority;
  auto work = std::make_unique<Work>();
  work->run = &run;
  for (const auto node : nodes) {
    const auto& mine = run.nodes[node];
    const auto step = run.putting_back ? owed(mine).value() : next(*mine.plan, *mine.state).step;
    work->steps.push_back(step);
    offer.nodes.push_back(mine.plan->node);
    offer.remaining_path = std::max(offer.remaining_path, (*mine.ahead)[step]);
  }
  work->nodes = std::move(nodes);
  work->planned = &(*run.nodes[work->nodes.front()].plan->steps)[work->steps.front()];
  if (work->nodes.size() > 1) work->members = offer.nodes;
  work->begun_before = run.step(*work, 0).phase == StepState::Phase::running;
  work->inherited = work->begun_before;
  work->last_act = run.putting_back;
  offer.step = work->planned;
  offer.under_way = work->begun_before;
  if (!work->begun_before) {
    if (const auto why = dispatcher_.impossible(offer)) {
      for (const auto* node : offer.nodes)
        queue(run,
              event_of(EventKind::step_ended, node->name, work->planned->name,
                       {{"outcome", to_string(Outcome::reject)}, {"detail", *why}}),
              {});
      return;
    }
  }
  work->ticket = dispatcher_.offer(std::move(offer), clock_.now());
  for (const auto node : work->nodes) run.nodes[node].work = work.get();
  ++run.works;
  dispatch_ = true;
  works_.emplace(work->ticket, std::move(work));
}

/// What is offered of the step; of every step where it is empty.
void Engine::withdraw_all(ActiveRun& run, std::string_view step) {
  std::vector<Work*> unneeded;
  for (const auto& [ticket, work] : works_) {
    const bool meant = work->run == &run && work->stage == Work::Stage::offered &&
                       !work->begun_before && (step.empty() || work->planned->name == step);
    if (meant) unneeded.push_back(work.get());
  }
  for (auto* work : unneeded) release(*work);
}

void Engine::admit(ActiveRun& run) {
  if (run.state().paused) return;
  while (!run.room.empty() && run.open < run.setup.plan.nodes_at_once) {
    const auto [rank, node] = *run.room.begin();
    if (rank == 2 && run.waits_for_wave(node)) return;
    run.room.erase(run.room.begin());
    run.nodes[node].place = Place::open;
    ++run.open;
    run.mark(node);
  }
}

/// The next wave of the canary, once every node of the one before is through, or waits for nodes
/// that are not let in yet.
void Engine::open_wave(ActiveRun& run) {
  const auto& canary = run.setup.plan.canary;
  const auto& state = run.state();
  const auto wave = static_cast<std::size_t>(state.wave);
  if (canary.empty() || wave >= run.nodes.size() || !run.queue.empty()) return;
  std::size_t failed = 0;
  const auto last = last_wave(canary, wave);
  for (std::size_t i = 0; i < std::min(wave, run.nodes.size()); ++i) {
    const auto& node = run.nodes[i];
    const bool through = node.place == Place::over || node.arrived;
    if (!through) return;
    if (i >= last && has_failed(*node.state)) ++failed;
  }
  const bool bad = wave > 0 && failed * 2 >= wave - last && state.pardoned < state.wave;
  if (bad) {
    if (state.halts.contains("")) return;
    const auto why = std::to_string(failed) + " of " + std::to_string(wave - last) +
                     " nodes of the canary failed";
    return queue(run, event_of(EventKind::run_halted, {}, {}, {{"step", ""}, {"why", why}}), {});
  }
  const auto opened = std::min(next_wave(canary, wave), run.nodes.size());
  queue(run, event_of(EventKind::wave_opened, {}, {}, {{"nodes", static_cast<int>(opened)}}), {});
}

void Engine::check_circuit(ActiveRun& run, const Event& event) {
  const auto& node = run.nodes[run.by_name.find(event.node)->second];
  const auto& steps = *node.plan->steps;
  const auto planned = std::ranges::find(steps, event.step, &playbooks::PlannedStep::name);
  if (planned == steps.end() || run.state().halts.contains(planned->name)) return;
  const auto tally = run.state().tallies.find(planned->name);
  if (tally == run.state().tallies.end()) return;
  const auto why = too_many(planned->stop_after, tally->second);
  if (!why) return;
  queue(run, event_of(EventKind::run_halted, {}, {}, {{"step", planned->name}, {"why", *why}}), {});
}

}  // namespace cupel::engine
