// What was found, against the profile. No door to the machine is opened here.
#include <fmt/format.h>

#include <map>
#include <ranges>

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/missing_parts.h"
#include "orchestrator/store/purpose.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// A part that is not there is put there by a person. Whether it is there now is looked at from
/// afar where the BMC had missed it too.
std::vector<record::Needed> needs_of(const std::vector<inventory::AuditFinding>& findings,
                                     const std::set<std::string, std::less<>>& by_bmc) {
  std::vector<record::Needed> needs;
  for (const auto& each : findings)
    if (each.finding == inventory::Finding::missing)
      needs.push_back({each.remedy, each.part, by_bmc.contains(each.part)});
  return needs;
}

/// The newest look of each stage: "node-facts@after" sees what "node-facts" saw, once more.
std::vector<inventory::Part> parts_by_node(const record::NodeRecord& record) {
  std::map<std::string_view, const burnin::Findings*> newest;
  for (const auto& step : record.steps) {
    const auto found = record.findings.find(step.name);
    const std::string_view name{step.name};
    if (found != record.findings.end()) newest[name.substr(0, name.find('@'))] = &found->second;
  }
  // What cupel-node tells, the other stages tell too: of each kind one stage is asked.
  std::vector<inventory::Part> parts;
  std::map<inventory::PartKind, std::string_view> teller;
  for (const auto& [stage, findings] : newest | std::views::reverse)
    for (const auto& part : findings->parts)
      if (teller.emplace(part.kind, stage).first->second == stage) parts.push_back(part);
  return parts;
}

/// None where the inventory says that any will do.
std::vector<std::string> host_names_of(const inventory::Node& node) {
  if (node.host_name == inventory::kAnyHostName) return {};
  if (!node.host_name.empty()) return {node.host_name};
  return {node.name, node.slurm_name};
}

Task<Result<StepEnd>> perform_audit(StepEnvironment& environment, const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto by_node = parts_by_node(record);
  if (!record.bmc_told && by_node.empty())
    co_return ended_by(
        Error{Code::kNoMeasurement, "neither the BMC nor the node reported its parts"});
  const inventory::Seen seen{record.bmc_parts, by_node, record.system_serial, record.facts};
  const bool rehearsal = store::purpose_of(environment.store.folder()) == store::Purpose::rehearsal;
  const inventory::Wanted wanted{request.node.serial, host_names_of(request.node), rehearsal};
  const auto findings =
      inventory::audit(environment.inventory.profile_of(request.node), wanted, seen);
  boost::json::object found{{"audit", record::to_json(findings)}};
  const auto detail = findings.empty() ? std::string{"as the profile says"}
                                       : fmt::format("{} finding{}", findings.size(),
                                                     findings.size() == 1 ? "" : "s");
  auto end = done(detail, std::move(found));
  auto needs =
      needs_of(findings, missing_by_bmc(environment.inventory, request.node, record.bmc_parts));
  if (!needs.empty()) {
    end.outcome = engine::Outcome::needs_operator;
    end.detail += fmt::format("; {} missing", needs.front().part);
    if (needs.size() > 1) end.detail += fmt::format(" and {} more", needs.size() - 1);
    ask_for(end, std::move(needs));
  }
  co_return end;
}

}  // namespace

StepType audit() {
  return {.kind = playbooks::StepKind::audit, .perform = perform_audit, .recheck = &kPartsAreBack};
}

}  // namespace cupel::steps::kinds
