// What all that was found means. No door to the machine is opened here.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/node_steps.h"
#include "orchestrator/steps/verdict.h"

namespace cupel::steps {

using engine::StepEnd;
using engine::StepRequest;

Task<Result<StepEnd>> audit_parts(Doors& doors, const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(doors.store, request.run, request.node.name));
  std::vector<inventory::Part> by_node;
  for (const auto& [stage, findings] : record.findings)
    by_node.insert(by_node.end(), findings.parts.begin(), findings.parts.end());
  if (!record.bmc_told && by_node.empty())
    co_return ended_by(
        Error{Code::kNoMeasurement, "neither the BMC nor the node told what is in it"});
  const inventory::Seen seen{record.bmc_parts, by_node, record.system_serial};
  const auto findings =
      inventory::audit(doors.inventory.profile_of(request.node), request.node.serial, seen);
  boost::json::object found{{"audit", record::to_json(findings)}};
  const auto detail = findings.empty() ? std::string{"as the profile says"}
                                       : fmt::format("{} findings", findings.size());
  co_return done(detail, std::move(found));
}

namespace {

/// What people left out, and what was left out since nobody told a fact, stands beside every
/// verdict, a pass too.
std::string passed_over(const record::NodeRecord& record, const std::string& told) {
  using record::Skipped;
  std::string text;
  for (const auto& step : record.steps) {
    const bool meant = step.skipped == Skipped::person || step.skipped == Skipped::untold;
    if (!meant || told.find(step.detail) != std::string::npos) continue;
    const auto* how = step.skipped == Skipped::untold ? "was skipped: " : "";
    text += fmt::format("; {} {}{}", step.name, how, step.detail);
  }
  return text;
}

}  // namespace

Task<Result<StepEnd>> judge_node(Doors& doors, const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(doors.store, request.run, request.node.name));
  const auto verdict = decide(doors.inventory.profile_of(request.node), record);
  auto detail = std::string{to_string(verdict.decision)};
  if (!verdict.causes.empty()) detail += ": " + burnin::to_string(verdict.causes.front());
  auto found = record::to_json(verdict);
  found["facts"] = {{std::string{engine::kVerdictFact}, to_string(verdict.decision)}};
  co_return done(detail + passed_over(record, detail), std::move(found));
}

}  // namespace cupel::steps
