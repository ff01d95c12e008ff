#include "orchestrator/report/left_behind.h"

#include <utility>

#include "burnin/undo.h"

namespace cupel::report {
namespace {

bool is_done(const engine::Event& event) {
  const auto* outcome = event.data.if_contains("outcome");
  return event.kind == engine::EventKind::step_ended && outcome != nullptr && *outcome == "done";
}

}  // namespace

LeftBehind left_behind(const std::vector<engine::Event>& events) {
  using engine::EventKind;
  LeftBehind left;
  std::set<std::pair<std::string, std::string>> jobs;
  std::set<std::pair<std::string, const burnin::Undo*>> changed;
  for (const auto& event : events) {
    const std::pair job{event.node, event.step};
    const auto kind = event.kind;
    if (kind == EventKind::step_started) jobs.insert(job);
    const auto* undo = burnin::undo_of(event.step);
    if (kind == EventKind::step_started && undo != nullptr) changed.emplace(event.node, undo);
    if (kind == EventKind::step_ended || kind == EventKind::step_shed ||
        kind == EventKind::step_stopped)
      jobs.erase(job);
    if (is_done(event)) changed.erase({event.node, burnin::undone_by(event.step)});
  }
  for (const auto& [node, undo] : changed) left.set.insert(node);
  for (const auto& [node, step] : jobs) left.at_work.insert(node);
  return left;
}

}  // namespace cupel::report
