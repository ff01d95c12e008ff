#include "orchestrator/record/node_parts.h"

#include <map>
#include <ranges>

#include "burnin/stage.h"

namespace cupel::record {

NodeParts parts_by_node(const NodeRecord& record) {
  std::map<std::string_view, const burnin::Findings*> newest;
  for (const auto& step : record.steps)
    if (const auto found = record.findings.find(step.name); found != record.findings.end())
      newest[burnin::base_name(step.name)] = &found->second;
  NodeParts all;
  std::map<inventory::PartKind, std::string_view> teller;
  for (const auto& [stage, findings] : newest | std::views::reverse)
    for (const auto& part : findings->parts)
      if (teller.emplace(part.kind, stage).first->second == stage) all.parts.push_back(part);
  for (const auto& [stage, findings] : newest | std::views::reverse)
    for (const auto& each : findings->partial)
      if (teller.emplace(each.kind, stage).first->second == stage) all.partial.push_back(each);
  return all;
}

}  // namespace cupel::record
