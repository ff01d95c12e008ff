#include "orchestrator/report/node_json.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "inventory/nvlink_domain.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fact_of.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/verdict_json.h"

namespace cupel::report {

json::object node_json(const NodeSummary& node, engine::RunId run) {
  const auto& record = node.record;
  json::object object{
      {"schema", kJsonSchema}, {"node", record.node}, {"run", run}, {"hand_off", record.hand_off}};
  object["verdict"] = to_string(node.decision);
  object["causes"] = report::to_json(std::span<const burnin::Cause>{node.causes}, record.findings);
  json::array checked;
  const auto verdict = record.verdict.value_or(burnin::Verdict{});
  for (const auto& each : verdict.checked) checked.push_back(report::to_json(each));
  object["checked"] = std::move(checked);
  if (!verdict.slow.empty()) object["slow"] = slow_json(verdict.slow);
  json::array steps;
  for (const auto& step : record.steps) {
    json::object each{{"step", step.name},
                      {"outcome", step.outcome},
                      {"detail", step.detail},
                      {"attempts", step.attempts}};
    if (step.skipped != record::Skipped::no) each["because"] = to_string(step.skipped);
    steps.push_back(std::move(each));
  }
  object["steps"] = std::move(steps);
  put_domain(object, record);
  object["bmc_parts"] = record::to_json(record.bmc_parts);
  json::object stages;
  for (const auto& [stage, findings] : record.findings) {
    auto each = record::to_json(findings);
    const auto evidence = record.evidence.find(stage);
    if (evidence != record.evidence.end()) each["evidence"] = evidence->second;
    stages[stage] = std::move(each);
  }
  object["stages"] = std::move(stages);
  if (record.audit) object["audit"] = record::to_json(*record.audit);
  if (record.floor) object["security_floor"] = record::to_json(*record.floor);
  return object;
}

void put_domain(json::object& object, const record::NodeRecord& record) {
  for (const auto& [key, fact] : {std::pair{"nvlink_domain", inventory::kDomainFact},
                                  std::pair{"nvlink_domains", inventory::kSplitDomainFact}})
    if (const auto text = record::fact_of(record, fact); !text.empty()) object[key] = text;
}

void leave_out_unfinished(NodeSummary& node) {
  std::erase_if(node.causes, [](const auto& cause) { return cause.measured == "not finished"; });
}

}  // namespace cupel::report
