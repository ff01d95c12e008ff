#include "orchestrator/steps/part_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <unordered_map>

#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/pci_address.h"
#include "inventory/profile.h"
#include "orchestrator/record/node_parts.h"
#include "orchestrator/steps/uniformity.h"

namespace cupel::steps {
namespace {

using inventory::AuditFinding;
using inventory::Finding;
using inventory::PartKind;
using inventory::PartPlace;

constexpr std::size_t kMostParts = 64, kLongest = 120;
/// Nodes that are read, of those that have reported: more of them decide nothing else.
constexpr std::size_t kMostPeers = 256;
constexpr double kClear = 3.0 / 4.0;  // of the nodes

std::string fact_name(PartKind kind, bool by_bmc) {
  return fmt::format("parts.{}.{}", by_bmc ? "bmc" : "node", to_string(kind));
}

/// nvidia-smi, the kernel and the BMC write one address in different ways.
std::string written(const std::string& slot) { return inventory::written_pci(slot).value_or(slot); }

using Names = std::map<std::string, std::string, std::less<>>;  // by slot

Names names_in(std::string_view fact) {
  Names names;
  const auto document = parse_json(fact);
  if (!document || !document->is_object()) return names;
  for (const auto& [name, slot] : document->get_object())
    if (slot.is_string() && names.size() < kMostParts)
      names.emplace(std::string{slot.get_string()}, std::string{name});
  return names;
}

/// What so many nodes report alike.
struct Layout {
  Names names{};
  int nodes = 0;
};
using Layouts = std::vector<const Layout*>;

int nodes_of(const Layouts& layouts) {
  int sum = 0;
  for (const auto* each : layouts) sum += each->nodes;
  return sum;
}

std::vector<std::string> slots_of(const Names& names) {
  std::vector<std::string> slots;
  for (const auto& [slot, name] : names) slots.push_back(slot);
  return slots;
}

/// What most of the nodes with these slots call the part there; empty: nothing in common.
std::string common_name(const Layouts& layouts, const std::string& slot) {
  std::map<std::string, int> counts;
  for (const auto* each : layouts) counts[each->names.at(slot)] += each->nodes;
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return most->second >= kClear * nodes_of(layouts) ? most->first : std::string{};
}

void add_places(const inventory::ExpectedParts& expected, bool by_bmc,
                const std::vector<const engine::NodeState*>& peers,
                std::vector<PartPlace>& places) {
  const auto fact = fact_name(expected.kind, by_bmc);
  // Equal nodes report equal texts: each is parsed once.
  std::unordered_map<std::string_view, int> texts;
  for (const auto* peer : peers)
    if (const auto reported = peer->facts.find(fact); reported != peer->facts.end())
      ++texts[reported->second];
  std::vector<Layout> full;
  int all = 0;
  for (const auto& [text, nodes] : texts) {
    auto names = names_in(text);
    if (names.size() != static_cast<std::size_t>(expected.count)) continue;
    full.push_back({std::move(names), nodes});
    all += nodes;
  }
  std::map<std::vector<std::string>, Layouts> by_slots;
  for (const auto& layout : full) by_slots[slots_of(layout.names)].push_back(&layout);
  const auto most = std::ranges::max_element(
      by_slots, {}, [](const auto& each) { return nodes_of(each.second); });
  if (most == by_slots.end() || nodes_of(most->second) < kClear * all) return;
  for (const auto& slot : most->first)
    places.push_back({expected.kind, by_bmc, common_name(most->second, slot), slot});
}

bool has_places(const engine::NodeState& node) {
  constexpr std::string_view kBegin = "parts.";
  const auto first = node.facts.lower_bound(std::string{kBegin});
  return first != node.facts.end() && first->first.starts_with(kBegin);
}

/// "psu": a finding of the audit about one of the kind, whichever it is.
bool is_unnamed(const AuditFinding& finding) {
  return finding.finding == Finding::missing && inventory::part_kind(finding.part).has_value();
}

}  // namespace

json::object place_facts(std::span<const inventory::Part> parts, bool by_bmc) {
  json::object facts;
  for (const auto kind : inventory::kCountedKinds) {
    std::map<std::string, std::string> by_slot;
    std::size_t count = 0;
    bool all = true;
    for (const auto& part : parts) {
      if (part.kind != kind) continue;
      ++count;
      all = all && !part.slot.empty() && part.slot.size() <= kLongest &&
            part.name.size() <= kLongest && by_slot.emplace(written(part.slot), part.name).second;
    }
    if (!all || count == 0 || count > kMostParts) continue;
    json::object names;
    for (const auto& [slot, name] : by_slot) names[name] = slot;
    if (names.size() == count) facts[fact_name(kind, by_bmc)] = json::serialize(names);
  }
  return facts;
}

std::vector<PartPlace> places_of_peers(const inventory::Inventory& inventory,
                                       const inventory::Node& node, const engine::RunState& run) {
  std::vector<PartPlace> places;
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end()) return places;
  std::vector<const engine::NodeState*> peers;
  for (const auto& other : inventory.nodes) {
    if (peers.size() == kMostPeers) break;
    if (other.name == node.name || other.profile != node.profile) continue;
    const auto state = run.nodes.find(other.name);
    if (state != run.nodes.end() && has_places(state->second) &&
        is_alike(state->second, mine->second))
      peers.push_back(&state->second);
  }
  for (const auto& expected : inventory.profile_of(node).parts)
    for (const bool by_bmc : {false, true}) add_places(expected, by_bmc, peers, places);
  return places;
}

void name_missing_parts(record::NodeRecord& record, const inventory::Inventory& inventory,
                        const inventory::Node& node, const engine::RunState& run) {
  if (!record.audit || std::ranges::none_of(*record.audit, is_unnamed)) return;
  auto places = places_of_peers(inventory, node, run);
  if (places.empty()) return;
  const auto by_node = record::parts_by_node(record);
  const inventory::Seen seen{record.bmc_parts, by_node.parts,      record.system_serial,
                             record.facts,     record.bmc_partial, by_node.partial};
  const auto named =
      inventory::audit(inventory.profile_of(node), {.places = std::move(places)}, seen);
  std::vector<AuditFinding> all;
  for (auto& each : *record.audit) {
    const auto before = all.size();
    const auto is_its_name = [&](const AuditFinding& other) {
      return other.finding == Finding::missing && other.expected == each.expected &&
             other.count == each.count && other.part != each.part;
    };
    if (is_unnamed(each)) std::ranges::copy_if(named, std::back_inserter(all), is_its_name);
    if (all.size() == before) all.push_back(std::move(each));
  }
  record.audit = std::move(all);
}

}  // namespace cupel::steps
