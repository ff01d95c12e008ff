#include "orchestrator/controller/plan_needs.h"

#include <set>

#include "burnin/stage.h"

namespace cupel::controller {
namespace {

using burnin::Root;

bool needs_nothing(const burnin::Requirements& needs) {
  return needs.programs.empty() && needs.tools.empty() && needs.helpful.empty() &&
         needs.root == Root::no;
}

}  // namespace

std::vector<StepNeeds> needs_of(const playbooks::Plan& plan) {
  std::vector<StepNeeds> all;
  std::set<std::string> seen;
  std::set<const std::vector<playbooks::PlannedStep>*> looked_at;
  for (const auto& node : plan.nodes) {
    if (!looked_at.insert(node.steps.get()).second) continue;
    for (const auto& step : *node.steps) {
      if (step.kind != playbooks::StepKind::stage || !step.job || !seen.insert(step.name).second)
        continue;
      auto needs = burnin::requirements_of(*burnin::stage(step.name), *step.job);
      if (!needs_nothing(needs)) all.push_back({step.name, std::move(needs)});
    }
  }
  return all;
}

std::vector<std::string> programs_of(const std::vector<StepNeeds>& needs) {
  std::set<std::string> all;
  for (const auto& each : needs) all.insert(each.needs.programs.begin(), each.needs.programs.end());
  return {all.begin(), all.end()};
}

std::string missing_programs(const playbooks::Plan& plan, const ssh::ProgramShelf& shelf) {
  std::string text;
  for (const auto& name : programs_of(needs_of(plan)))
    if (!ssh::file_of(shelf, name))
      text += (text.empty() ? "" : ". ") + ssh::why_missing(shelf, name);
  return text;
}

}  // namespace cupel::controller
