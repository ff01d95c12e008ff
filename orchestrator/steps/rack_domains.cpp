#include "orchestrator/steps/rack_domains.h"

#include <algorithm>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/nvlink_domain.h"
#include "orchestrator/steps/peers.h"

namespace cupel::steps {
namespace {

constexpr std::size_t kLongestWords = 2000;  // bytes: all trays of two racks with their domains

std::vector<inventory::DomainFinding> findings_of(const inventory::Inventory& inventory,
                                                  const std::string& profile,
                                                  const engine::RunState& run) {
  std::vector<inventory::TrayDomain> trays;
  for (const auto& node : inventory.nodes) {
    const auto state = node.profile == profile ? run.nodes.find(node.name) : run.nodes.end();
    if (state == run.nodes.end()) continue;
    if (may_still_report(state->second)) return {};
    const auto fact = state->second.facts.find(std::string{inventory::kDomainFact});
    if (fact == state->second.facts.end()) continue;
    if (auto domain = inventory::parse_nvlink_domain(fact->second))
      trays.push_back({node.name, node.rack, *std::move(domain)});
  }
  return inventory::audit_domains(trays);
}

burnin::Cause cause_of(const inventory::DomainFinding& finding) {
  burnin::Cause cause;
  cause.decision = finding.accuses ? burnin::Decision::fail : burnin::Decision::inconclusive;
  cause.criterion = "same NVLink domain in the rack";
  cause.measured = shortened(finding.what, kLongestWords);
  cause.wanted = "one domain for each rack, and one rack for each domain";
  cause.remedy =
      "compare slots and serial numbers of the racks' trays, and the rack that the inventory has "
      "them in; then look at the partitions on the switches (nv show sdn partition)";
  return cause;
}

}  // namespace

std::vector<burnin::Cause> domain_differences(const inventory::Inventory& inventory,
                                              const inventory::Node& node,
                                              const engine::RunState& run) {
  std::vector<burnin::Cause> causes;
  for (const auto& finding : findings_of(inventory, node.profile, run))
    if (std::ranges::find(finding.trays, node.name) != finding.trays.end())
      causes.push_back(cause_of(finding));
  return causes;
}

std::vector<std::string> nodes_in_other_domains(const inventory::Inventory& inventory,
                                                const std::string& profile,
                                                const engine::RunState& run) {
  std::vector<std::string> nodes;
  for (const auto& finding : findings_of(inventory, profile, run))
    nodes.insert(nodes.end(), finding.trays.begin(), finding.trays.end());
  return nodes;
}

}  // namespace cupel::steps
