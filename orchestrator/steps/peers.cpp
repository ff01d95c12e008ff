#include "orchestrator/steps/peers.h"

#include "inventory/model.h"
#include "inventory/node.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using Phase = engine::StepState::Phase;
using playbooks::StepKind;

/// How far a node has come.
struct Progress {
  bool measures = false;  // a stage has begun
  bool judged = false;    // its verdict has begun, or it has none
  bool held_up = false;   // it waits for what does not answer
};

/// Whether the step waits for a BMC or a node that does not answer: it failed and is tried again,
/// or takes far longer than it should. A stage may fail once for a connection that broke.
bool waits_in_vain(const engine::StepState& step, bool is_stage) {
  const int most = is_stage ? 1 : 0;
  return !step.over() && step.attempt > 0 && (step.overdue || step.retries > most);
}

Progress progress_of(const engine::NodeState& node) {
  Progress found;
  if (node.planned == nullptr) return {.judged = true};
  bool has_verdict = false;
  const auto count = std::min(node.planned->size(), node.steps.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto kind = (*node.planned)[i].kind;
    const auto& step = node.steps[i];
    const bool met = step.attempt > 0 || step.phase != Phase::waiting;
    if (kind == StepKind::stage && step.attempt > 0) found.measures = true;
    if (kind != StepKind::verdict) {
      found.held_up |= !has_verdict && waits_in_vain(step, kind == StepKind::stage);
      continue;
    }
    has_verdict = true;
    found.judged |= met;
  }
  found.judged |= !has_verdict;
  return found;
}

}  // namespace

bool may_still_report(const engine::NodeState& node) { return !progress_of(node).judged; }

bool is_held_up(const engine::NodeState& node) { return progress_of(node).held_up; }

bool is_at_work(const engine::NodeState& node) {
  const auto progress = progress_of(node);
  return progress.measures && !progress.judged && !progress.held_up;
}

Peers peers_of(const inventory::Inventory& inventory, const inventory::Node& node,
               const engine::RunState& run) {
  Peers peers;
  for (const auto& other : inventory.nodes) {
    if (other.name == node.name || other.profile != node.profile) continue;
    const auto state = run.nodes.find(other.name);
    if (state == run.nodes.end()) continue;
    const auto progress = progress_of(state->second);
    if (progress.judged && progress.measures) ++peers.measured;
    if (!progress.measures || progress.judged || progress.held_up) continue;
    ++peers.at_work;
    if (peers.one.empty()) peers.one = other.name;
  }
  return peers;
}

}  // namespace cupel::steps
