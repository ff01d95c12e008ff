#include "orchestrator/report/left_behind.h"

#include <utility>

#include "burnin/settings/settings.h"

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
  for (const auto& event : events) {
    const std::pair job{event.node, event.step};
    const auto kind = event.kind;
    const auto name = burnin::base_name(event.step);
    if (kind == EventKind::step_started) jobs.insert(job);
    if (kind == EventKind::step_started && name == burnin::kSettings) left.set.insert(event.node);
    if (kind == EventKind::step_ended || kind == EventKind::step_shed ||
        kind == EventKind::step_stopped)
      jobs.erase(job);
    if (name == burnin::kSettingsRestore && is_done(event)) left.set.erase(event.node);
  }
  for (const auto& [node, step] : jobs) left.at_work.insert(node);
  return left;
}

}  // namespace cupel::report
