#include "orchestrator/controller/eta.h"

#include <algorithm>

#include "inventory/node.h"
#include "orchestrator/engine/forecast.h"

namespace cupel::controller {
namespace {

using engine::NodeState;
using engine::StepState;
using engine::WallTime;
using playbooks::PlannedStep;
using std::chrono::seconds;
using Steps = std::shared_ptr<const std::vector<PlannedStep>>;

constexpr seconds kAnewAtLeast{60};  // a step that runs late moves the end, and tells nobody
constexpr seconds kSoonest{5};
constexpr int kCostShare = 100;

seconds rest_of(const PlannedStep& step, const StepState& state, WallTime wall) {
  if (state.phase != StepState::Phase::running) return step.expected;
  const auto spent = std::chrono::floor<seconds>(wall - state.began);
  return std::clamp(step.expected - spent, seconds{0}, step.expected);
}

Steps rest_of(const Steps& all, const NodeState& node, WallTime wall) {
  const auto waits = [](const StepState& step) { return step.phase == StepState::Phase::waiting; };
  if (std::ranges::all_of(node.steps, waits)) return all;
  std::vector<PlannedStep> rest;
  for (std::size_t i = 0; i < node.steps.size() && i < all->size(); ++i) {
    if (node.steps[i].over()) continue;
    rest.push_back((*all)[i]);
    rest.back().expected = rest_of((*all)[i], node.steps[i], wall);
  }
  return std::make_shared<const std::vector<PlannedStep>>(std::move(rest));
}

bool has(const playbooks::NodePlan& node, const std::string& step) {
  return std::ranges::find(*node.steps, step, &PlannedStep::name) != node.steps->end();
}

/// The longest node's, and how many steps are left on all of them.
std::pair<seconds, std::size_t> by_hand(const playbooks::Plan& plan, const engine::RunState& state,
                                        WallTime wall) {
  seconds longest{0};
  std::size_t count = 0;
  for (const auto& node : plan.nodes) {
    const auto known = state.nodes.find(node.node->name);
    if (known == state.nodes.end()) continue;
    seconds left{0};
    const auto& steps = known->second.steps;
    for (std::size_t i = 0; i < steps.size() && i < node.steps->size(); ++i) {
      if (steps[i].over()) continue;
      left += rest_of((*node.steps)[i], steps[i], wall);
      ++count;
    }
    longest = std::max(longest, left);
  }
  return {longest, count};
}

}  // namespace

WallTime to_ten_seconds(WallTime time) {
  using Tens = std::chrono::duration<std::int64_t, std::ratio<10>>;
  return std::chrono::ceil<Tens>(time);
}

playbooks::Plan rest_of(const playbooks::Plan& plan, const engine::RunState& state, WallTime wall) {
  playbooks::Plan rest = plan;
  for (auto& node : rest.nodes)
    if (const auto known = state.nodes.find(node.node->name); known != state.nodes.end())
      node.steps = rest_of(node.steps, known->second, wall);
  const bool all_in = static_cast<std::size_t>(state.wave) >= plan.nodes.size();
  if (all_in) rest.canary.clear();
  for (auto& group : rest.groups)
    std::erase_if(group.members,
                  [&](std::size_t member) { return !has(rest.nodes[member], group.step); });
  std::erase_if(rest.groups,
                [](const playbooks::Group& group) { return group.members.size() < 2; });
  return rest;
}

WallTime Eta::end(const engine::RunState& state, WallTime wall, Clock::time_point now) {
  const bool due = state.last_sequence != reckoned_at_ || now >= stale_;
  if (!due || now < not_before_) return end_;
  const auto [longest, steps] = by_hand(plan_, state, wall);
  auto left = longest;
  const auto begun = Clock::now();
  if (steps > 0 && steps <= kMostSteps)
    left = std::max(left, engine::forecast(rest_of(plan_, state, wall), inventory_).end);
  const auto cost = Clock::now() - begun;
  end_ = to_ten_seconds(wall + left);
  reckoned_at_ = state.last_sequence;
  stale_ = now + kAnewAtLeast;
  not_before_ = now + std::max<Clock::duration>(kCostShare * cost, kSoonest);
  return end_;
}

}  // namespace cupel::controller
