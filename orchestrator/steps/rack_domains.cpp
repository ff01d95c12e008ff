#include "orchestrator/steps/rack_domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/nvlink_domain.h"
#include "orchestrator/steps/peers.h"
#include "orchestrator/steps/rack_inlets.h"

namespace cupel::steps {
namespace {

constexpr std::size_t kLongestWords = 2000;  // bytes: all trays of two racks with their domains

/// Of one rack: trays that the inventory has, and those that have reported a domain.
struct Counted {
  std::size_t all = 0, reported = 0;
};

/// Most of a few trays are not most of the rack: then none is accused.
void doubt(inventory::DomainFinding& finding, const Counted& rack) {
  if (!finding.accuses || 2 * rack.reported > rack.all) return;
  finding.accuses = false;
  finding.what +=
      fmt::format("; of the {} trays of its rack only {} reported one", rack.all, rack.reported);
}

std::vector<inventory::DomainFinding> findings_of(const inventory::Inventory& inventory,
                                                  const std::string& profile,
                                                  const engine::RunState& run) {
  std::vector<inventory::TrayDomain> trays;
  std::map<std::string, Counted, std::less<>> racks;
  for (const auto& node : inventory.nodes) {
    if (node.profile != profile) continue;
    ++racks[node.rack].all;
    const auto state = run.nodes.find(node.name);
    if (state == run.nodes.end()) continue;
    if (may_still_report(state->second)) return {};
    const auto fact = state->second.facts.find(std::string{inventory::kDomainFact});
    if (fact == state->second.facts.end()) continue;
    auto domain = inventory::parse_nvlink_domain(fact->second);
    if (!domain) continue;
    ++racks[node.rack].reported;
    trays.push_back({node.name, node.rack, *std::move(domain)});
  }
  auto findings = inventory::audit_domains(trays);
  for (auto& finding : findings) doubt(finding, racks[inventory.node(finding.trays.front())->rack]);
  return findings;
}

burnin::Cause cause_of(const inventory::DomainFinding& finding) {
  burnin::Cause cause;
  cause.decision = finding.accuses ? burnin::Decision::fail : burnin::Decision::inconclusive;
  cause.criterion = "same NVLink domain in the rack";
  cause.measured = shortened(finding.what, kLongestWords);
  cause.expected = "one domain for each rack, and one rack for each domain";
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

std::vector<burnin::Cause> rack_differences(const inventory::Inventory& inventory,
                                            const inventory::Node& node,
                                            const engine::RunState& run) {
  auto causes = warm_rack(inventory, node, run);
  std::ranges::move(domain_differences(inventory, node, run), std::back_inserter(causes));
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
