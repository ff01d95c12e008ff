#include "orchestrator/engine/active_run.h"

#include <algorithm>

#include "inventory/node.h"

namespace cupel::engine {
namespace {

std::optional<std::size_t> step_named(const playbooks::NodePlan& plan, std::string_view name) {
  const auto at = std::ranges::find(*plan.steps, name, &playbooks::PlannedStep::name);
  if (at == plan.steps->end()) return std::nullopt;
  return static_cast<std::size_t>(at - plan.steps->begin());
}

}  // namespace

Event event_of(EventKind kind, std::string node, std::string step, boost::json::object data) {
  Event event;
  event.kind = kind;
  event.node = std::move(node);
  event.step = std::move(step);
  event.data = std::move(data);
  return event;
}

Task<Result<void>> wait_for(Receipt& receipt) {
  // Cancelling the waiter changes nothing: the event is on its way, and soon reported.
  while (!receipt.written) co_await receipt.signal.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return std::move(*receipt.written);
}

ActiveRun::ActiveRun(RunSetup given) : setup{std::move(given)} {
  const auto& plan = setup.plan;
  nodes.resize(plan.nodes.size());
  step_count = plan.step_count();
  auto ahead = critical_paths(plan);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = plan.nodes[i];
    auto& mine = nodes[i];
    mine.state = &setup.state.nodes.find(node.node->name)->second;
    mine.plan = &node;
    mine.ahead = std::move(ahead[i]);
    by_name[node.node->name] = i;
  }
  for (const auto& group : plan.groups) {
    GroupRun mine;
    for (const auto member : group.members) {
      const auto step = step_named(plan.nodes[member], group.step);
      if (!step) continue;
      nodes[member].groups.emplace_back(*step, groups.size());
      mine.members.emplace_back(member, *step);
    }
    groups.push_back(std::move(mine));
  }
}

void ActiveRun::mark(std::size_t node) {
  if (nodes[node].dirty) return;
  nodes[node].dirty = true;
  dirty.push_back(node);
}

void ActiveRun::mark_all() {
  for (std::size_t i = 0; i < nodes.size(); ++i) mark(i);
}

std::optional<std::size_t> ActiveRun::group_of(std::size_t node, std::size_t step) const {
  for (const auto& [its_step, group] : nodes[node].groups)
    if (its_step == step) return group;
  return std::nullopt;
}

void ActiveRun::mark_groups_of(std::size_t node) {
  for (const auto& [step, group] : nodes[node].groups) {
    if (groups[group].dirty) continue;
    groups[group].dirty = true;
    dirty_groups.push_back(group);
  }
}

bool ActiveRun::waits_for_wave(std::size_t node) const {
  const auto wave = static_cast<std::size_t>(setup.state.wave);
  if (setup.plan.canary.empty() || node < wave) return false;
  const auto& planned = *nodes[node].plan->steps;
  const auto& steps = nodes[node].state->steps;
  std::size_t head = 0;
  for (; head < planned.size() && planned[head].before_canary; ++head)
    if (!steps[head].over()) return false;
  // What a person skips or approves of a node does not let it in.
  const auto has_begun = [](const StepState& step) { return step.attempt > 0; };
  return head < planned.size() &&
         std::none_of(steps.begin() + static_cast<std::ptrdiff_t>(head), steps.end(), has_begun);
}

}  // namespace cupel::engine
