#include "orchestrator/steps/uniformity.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/parts.h"

namespace cupel::steps {
namespace {

using burnin::Cause;
using inventory::PartKind;

constexpr std::string_view kPrefix = "version.";
constexpr std::size_t kMostFacts = 32, kMostParts = 64, kLongest = 120;
constexpr int kFewest = 4;            // parts: with fewer, one against two would be a majority
constexpr double kClear = 3.0 / 4.0;  // of the parts

using Names = std::vector<std::string>;
using ByVersion = std::map<std::string, Names, std::less<>>;

/// What is compared with what: "driver", "gpu NVIDIA H100 80GB HBM3", "hca MT4129 MT_0000000838".
std::string compared_as(const inventory::Part& part) {
  const auto kind = std::string{to_string(part.kind)};
  if (part.kind == PartKind::firmware)
    return part.name == "driver" || part.name == "bios" ? part.name : std::string{};
  if (part.model.empty()) return {};
  if (part.kind == PartKind::gpu) return kind + " " + part.model;
  if (part.kind == PartKind::hca) return kind + " " + part.model + " " + part.part_number;
  return {};
}

ByVersion versions_in(std::string_view fact) {
  ByVersion versions;
  const auto document = parse_json(fact);
  if (!document || !document->is_object()) return versions;
  for (const auto& [version, parts] : document->get_object()) {
    if (!parts.is_array() || versions.size() == kMostParts) continue;
    for (const auto& part : parts.get_array())
      if (part.is_string()) versions[std::string{version}].emplace_back(part.get_string());
  }
  return versions;
}

/// The run's nodes of one profile. By the inventory's order: a lookup by name in the run's map is
/// cheap, one in the inventory is a search.
std::vector<const engine::NodeState*> alike(const inventory::Inventory& inventory,
                                            const std::string& profile,
                                            const engine::RunState& run) {
  std::vector<const engine::NodeState*> found;
  for (const auto& node : inventory.nodes) {
    if (node.profile != profile) continue;
    const auto state = run.nodes.find(node.name);
    if (state != run.nodes.end()) found.push_back(&state->second);
  }
  return found;
}

/// How many parts have each version. Equal nodes report equal texts: each is parsed once.
std::map<std::string, int, std::less<>> counted(const std::vector<const engine::NodeState*>& nodes,
                                                const std::string& fact) {
  std::unordered_map<std::string_view, int> texts;
  for (const auto* node : nodes)
    if (const auto told = node->facts.find(fact); told != node->facts.end()) ++texts[told->second];
  std::map<std::string, int, std::less<>> counts;
  for (const auto& [text, times] : texts)
    for (const auto& [version, parts] : versions_in(text))
      counts[version] += times * static_cast<int>(parts.size());
  return counts;
}

/// One cause for all parts of the node that have the version: of several, the node's.
Cause difference(const Names& parts, const std::string& version, const std::string& common,
                 int have, int all) {
  const auto named = inventory::fold(parts);
  const bool several = parts.size() > 1;
  Cause cause;
  cause.part = several ? std::string{} : named;
  cause.criterion = "same version in the run";
  cause.measured = several ? named + " " + version : version;
  cause.wanted = fmt::format("{}, as {} of {} have it", common, have, all);
  cause.remedy = fmt::format("update {} to {}, or the others to {}", named, common, version);
  return cause;
}

void compare(const ByVersion& own, const std::map<std::string, int, std::less<>>& counts,
             std::vector<Cause>& causes) {
  int all = 0;
  for (const auto& [version, count] : counts) all += count;
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  if (all < kFewest || most == counts.end() || most->second < kClear * all) return;
  for (const auto& [version, parts] : own)
    if (version != most->first)
      causes.push_back(difference(parts, version, most->first, most->second, all));
}

bool has_versions(const engine::NodeState& node) {
  const auto first = node.facts.lower_bound(std::string{kPrefix});
  return first != node.facts.end() && first->first.starts_with(kPrefix);
}

}  // namespace

json::object version_facts(std::span<const inventory::Part> parts) {
  std::map<std::string, std::map<std::string, Names, std::less<>>, std::less<>> found;
  for (const auto& part : parts) {
    const auto key = compared_as(part);
    const bool known = !key.empty() && !part.firmware.empty() && part.firmware.size() <= kLongest &&
                       key.size() <= kLongest;
    if (!known || (!found.contains(key) && found.size() == kMostFacts)) continue;
    auto& names = found[key][part.firmware];
    if (names.size() < kMostParts) names.push_back(part.name);
  }
  json::object facts;
  for (const auto& [key, versions] : found) {
    json::object text;
    for (const auto& [version, names] : versions)
      text[version] = json::array(names.begin(), names.end());
    facts[std::string{kPrefix} + key] = json::serialize(text);
  }
  return facts;
}

std::vector<Cause> version_differences(const inventory::Inventory& inventory,
                                       const inventory::Node& node, const engine::RunState& run) {
  std::vector<Cause> causes;
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end()) return causes;
  const auto nodes = alike(inventory, node.profile, run);
  for (auto fact = mine->second.facts.lower_bound(std::string{kPrefix});
       fact != mine->second.facts.end() && fact->first.starts_with(kPrefix); ++fact)
    compare(versions_in(fact->second), counted(nodes, fact->first), causes);
  return causes;
}

std::string uncompared_nodes(const inventory::Inventory& inventory, const inventory::Node& node,
                             const engine::RunState& run) {
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end() || !has_versions(mine->second)) return {};
  const auto nodes = alike(inventory, node.profile, run);
  const auto others = nodes.size() - 1;
  const auto reported = static_cast<std::size_t>(std::ranges::count_if(
                            nodes, [](const auto* each) { return has_versions(*each); })) -
                        1;
  if (reported == others) return {};
  return fmt::format("versions compared with {} of {} other nodes", reported, others);
}

}  // namespace cupel::steps
