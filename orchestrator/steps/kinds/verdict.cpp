// What all that was found means. No door to the machine is opened here.
#include "orchestrator/steps/verdict.h"

#include <fmt/format.h>

#include "burnin/criteria/compared_causes.h"
#include "burnin/verdict_text.h"
#include "inventory/model.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/comparison.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/peers.h"
#include "orchestrator/steps/rack_inlets.h"
#include "orchestrator/steps/uniformity.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

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

/// Other nodes that are measured now are waited for, but only as long as the step may take.
std::optional<StepEnd> wait_for_peers(StepEnvironment& environment, const StepRequest& request,
                                      const record::NodeRecord& record) {
  constexpr std::chrono::seconds kForItself{45}, kLeast{2};
  constexpr std::size_t kNodesPerSecond = 50;  // so many ask at most
  if (request.run_state == nullptr || !has_rates(findings_to_compare(record))) return {};
  const auto& run = *request.run_state;
  auto& waited_for = environment.fleet->waited_for[request.node.profile];
  const auto known = run.nodes.find(waited_for);
  const bool still =
      waited_for != request.node.name && known != run.nodes.end() && is_at_work(known->second);
  if (!still) waited_for = peers_of(environment.inventory, request.node, run).one;
  if (waited_for.empty()) return {};
  const std::chrono::milliseconds pause{
      std::max(kLeast, std::chrono::seconds{run.nodes.size() / kNodesPerSecond})};
  if (request.deadline.left() < pause + kForItself) return {};
  StepEnd end;
  end.outcome = engine::Outcome::wait;
  end.retry_after = pause;
  end.detail = "other nodes are measured, " + waited_for + " among them: to compare with them";
  return end;
}

/// What a verdict took from outside the node's record, to make it again (`cupel verdict`).
boost::json::object basis_of(const FleetComparison& comparison, const StepRequest& request) {
  boost::json::object basis;
  if (!comparison.history.empty()) basis["history"] = boost::json::value_from(comparison.history);
  if (request.run_state != nullptr) basis["events"] = request.run_state->last_sequence;
  return basis;
}

Task<Result<StepEnd>> perform_verdict(StepEnvironment& environment, const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto criteria = burnin::fleet_criteria(request.step.with);
  if (!criteria) co_return ended_by(criteria.error());
  if (criteria->judge)
    if (auto wait = wait_for_peers(environment, request, record)) co_return *std::move(wait);
  std::vector<burnin::Cause> differences;
  std::string uncompared;
  bool whole = false;
  if (request.run_state != nullptr) {
    const auto& run = *request.run_state;
    differences = version_differences(environment.inventory, request.node, run);
    std::ranges::move(warm_rack(environment.inventory, request.node, run),
                      std::back_inserter(differences));
    uncompared = uncompared_nodes(environment.inventory, request.node, run);
    whole = environment.fleet->waited_for[request.node.profile].empty();
  }
  CO_TRY(const auto comparison,
         compared_with_fleet(environment.store, *environment.fleet, request.run,
                             environment.inventory, request.node, record, *criteria, whole));
  std::ranges::move(burnin::causes_of(comparison.compared), std::back_inserter(differences));
  const auto verdict =
      decide(environment.inventory.profile_of(request.node), record, std::move(differences));
  auto detail = std::string{to_string(verdict.decision)};
  if (!verdict.causes.empty()) detail += ": " + burnin::to_string(verdict.causes.front());
  auto found = record::to_json(verdict);
  if (!comparison.evidence.empty()) found["evidence"] = comparison.evidence;
  if (!comparison.compared.empty()) found["compared"] = record::to_json(comparison.compared);
  found["basis"] = basis_of(comparison, request);
  found["facts"] = {{std::string{engine::kVerdictFact}, to_string(verdict.decision)}};
  detail += passed_over(record, detail);
  const auto slow = burnin::slow_ones(comparison.compared);
  if (!slow.empty())
    detail += fmt::format("; slow: {}{}", burnin::slow_text(slow.front()),
                          slow.size() == 1 ? "" : fmt::format(", and {} more", slow.size() - 1));
  for (const auto& words : {uncompared, comparison.words})
    if (!words.empty()) detail += "; " + words;
  co_return done(std::move(detail), std::move(found));
}

}  // namespace

StepType verdict() { return {.kind = playbooks::StepKind::verdict, .perform = perform_verdict}; }

}  // namespace cupel::steps::kinds
