// What was found, against the profile. No door to the machine is opened here.
#include <fmt/format.h>

#include <algorithm>

#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/security_floor.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_parts.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/missing_parts.h"
#include "orchestrator/steps/part_places.h"
#include "orchestrator/store/purpose.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// A part that is not there is put there by a person. Whether it is there now is looked at from
/// afar where the BMC had missed one of its kind too.
std::vector<record::Needed> needs_of(const std::vector<inventory::AuditFinding>& findings,
                                     const std::set<inventory::PartKind>& by_bmc) {
  std::vector<record::Needed> needs;
  for (const auto& each : findings)
    if (each.finding == inventory::Finding::missing)
      needs.push_back({each.remedy, each.part, is_of(by_bmc, each.part)});
  return needs;
}

/// None where the inventory says that any will do.
std::vector<std::string> host_names_of(const inventory::Node& node) {
  if (node.host_name == inventory::kAnyHostName) return {};
  if (!node.host_name.empty()) return {node.host_name};
  return {node.name, node.slurm_name};
}

/// Which part is missing, and whether one is, the places of parts in machines like it decide. They
/// are read of each node of the run, and so only where one is short of parts.
bool depends_on_places(const inventory::AuditFinding& finding) {
  return finding.finding == inventory::Finding::missing ||
         (finding.finding == inventory::Finding::not_observed &&
          inventory::part_kind(finding.part).has_value());
}

/// Without findings, who was compared: what one of the two did not list was not looked at.
std::string detail_of(std::size_t findings, bool by_bmc, bool by_node) {
  if (findings != 0) return fmt::format("{} finding{}", findings, findings == 1 ? "" : "s");
  std::string detail{"as the profile says"};
  if (!by_node) detail += ", by the BMC alone: the node itself was not read";
  if (!by_bmc) detail += ", by the node alone: its BMC was not read";
  return detail;
}

Task<Result<StepEnd>> perform_audit(StepEnvironment& environment, const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto by_node = record::parts_by_node(record);
  if (!record.bmc_reported && by_node.parts.empty())
    co_return ended_by(
        Error{Code::kNoMeasurement, "neither the BMC nor the node reported its parts"});
  const inventory::Seen seen{record.bmc_parts, by_node.parts,      record.system_serial,
                             record.facts,     record.bmc_partial, by_node.partial};
  const bool rehearsal = store::purpose_of(environment.store.folder()) == store::Purpose::rehearsal;
  inventory::ExpectedNode expected{request.node.serial, host_names_of(request.node), rehearsal};
  const auto& profile = environment.inventory.profile_of(request.node);
  auto findings = inventory::audit(profile, expected, seen);
  if (request.run_state != nullptr && std::ranges::any_of(findings, depends_on_places)) {
    expected.places = places_of_peers(environment.inventory, request.node, *request.run_state);
    findings = inventory::audit(profile, expected, seen);
  }
  const auto floor = inventory::judge_floor(environment.inventory.floor, seen);
  boost::json::object found{{"audit", record::to_json(findings)},
                            {"security_floor", record::to_json(floor)}};
  auto end = done(detail_of(findings.size(), record.bmc_reported, !by_node.parts.empty()),
                  std::move(found));
  auto needs = needs_of(findings, missing_by_bmc(environment.inventory, request.node,
                                                 record.bmc_parts, record.bmc_partial));
  if (!needs.empty()) {
    end.outcome = engine::Outcome::needs_operator;
    end.detail += fmt::format("; {} missing", needs.front().part);
    if (needs.size() > 1) end.detail += fmt::format(" and {} more", needs.size() - 1);
    ask_for(end, std::move(needs));
  }
  if (!floor.below.empty()) end.detail += "; below the security floor: " + to_words(floor);
  co_return end;
}

}  // namespace

StepType audit() {
  return {.kind = playbooks::StepKind::audit, .perform = perform_audit, .recheck = &kPartsAreBack};
}

}  // namespace cupel::steps::kinds
