// What all that was found means. No door to the machine is opened here.
#include "orchestrator/steps/verdict.h"

#include <fmt/format.h>

#include "burnin/verdict_text.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/uniformity.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// What people left out, and what was left out since nobody told a fact, stands beside every
/// verdict, a pass too.
std::string passed_over(const record::NodeRecord& record, const std::string& told) {
  using record::Skipped;
  std::string text;
  for (const auto& step : record.steps) {
    const bool meant = was_passed_over(step.skipped);
    if (!meant || told.find(step.detail) != std::string::npos) continue;
    const auto* how = step.skipped == Skipped::untold ? "was skipped: " : "";
    text += fmt::format("; {} {}{}", step.name, how, step.detail);
  }
  return text;
}

Task<Result<StepEnd>> perform_verdict(StepEnvironment& environment, const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  std::vector<burnin::Cause> differences;
  std::string uncompared;
  if (request.run_state != nullptr) {
    const auto& run = *request.run_state;
    differences = version_differences(environment.inventory, request.node, run);
    uncompared = uncompared_nodes(environment.inventory, request.node, run);
  }
  const auto verdict =
      decide(environment.inventory.profile_of(request.node), record, std::move(differences));
  auto detail = std::string{to_string(verdict.decision)};
  if (!verdict.causes.empty()) detail += ": " + burnin::to_string(verdict.causes.front());
  auto found = record::to_json(verdict);
  found["facts"] = {{std::string{engine::kVerdictFact}, to_string(verdict.decision)}};
  detail += passed_over(record, detail);
  if (!uncompared.empty()) detail += "; " + uncompared;
  co_return done(std::move(detail), std::move(found));
}

}  // namespace

StepType verdict() { return {.kind = playbooks::StepKind::verdict, .perform = perform_verdict}; }

}  // namespace cupel::steps::kinds
