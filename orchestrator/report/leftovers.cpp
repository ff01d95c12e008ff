#include "orchestrator/report/leftovers.h"

#include "burnin/undo.h"
#include "orchestrator/engine/fold.h"

namespace cupel::report {
namespace {

/// A stage that changes the machine began its work, and what changes it back has not ended well
/// since. Events of one run: the later one has the higher address.
bool is_changed(const engine::NodeTrace& node, const engine::StepTrace& step) {
  const auto* undo = burnin::undo_of(step.name);
  if (undo == nullptr || step.started == nullptr) return false;
  return std::ranges::none_of(node.steps, [&](const engine::StepTrace& other) {
    return burnin::undone_by(other.name) == undo && other.done != nullptr &&
           other.done > step.started;
  });
}

bool is_at_work(const engine::StepState& step) {
  return step.phase == engine::StepState::Phase::running && step.handle;
}

}  // namespace

Leftovers leftovers(const std::vector<engine::Event>& events) {
  Leftovers left;
  const auto run = engine::fold(events);
  for (const auto& [name, node] : run.trace.nodes) {
    if (std::ranges::any_of(run.state.nodes.at(name).steps, is_at_work)) left.at_work.insert(name);
    const auto changed = [&](const auto& step) { return is_changed(node, step); };
    if (std::ranges::any_of(node.steps, changed)) left.set.insert(name);
  }
  return left;
}

}  // namespace cupel::report
