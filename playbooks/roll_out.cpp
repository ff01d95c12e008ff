#include "playbooks/roll_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "inventory/fabric.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"

namespace cupel::playbooks {
namespace {

constexpr std::string_view kInEachGroup = " in each leaf group";

bool names_images(const inventory::Profile& profile) {
  return profile.has_bmc_images() || profile.has_node_images();
}

bool is_of_leaf(const Claim& claim) { return claim.resource.ends_with(kInEachGroup); }

}  // namespace

Waves waves_of(const Playbook& playbook, const inventory::Inventory& inventory,
               const std::vector<const inventory::Node*>& nodes) {
  Waves waves{nodes, playbook.canary};
  const bool of_each_rack = std::erase(waves.sizes, kOnePerRack) > 0;
  const bool of_written = std::erase(waves.sizes, kOneWrittenPerRack) > 0;
  if (!of_each_rack && !of_written) return waves;
  const auto counts = [&](const inventory::Node* node) {
    return of_each_rack || names_images(inventory.profile_of(*node));
  };
  auto& sizes = waves.sizes;
  const auto first = sizes.empty() ? 0 : static_cast<std::size_t>(std::max(sizes.front(), 0));
  const auto canary = static_cast<std::ptrdiff_t>(std::min(first, nodes.size()));
  std::set<std::string_view> racks;
  for (const auto* node : std::span{nodes}.first(canary))
    if (counts(node)) racks.insert(node->rack);
  const auto behind = std::ranges::subrange{waves.nodes.begin() + canary, waves.nodes.end()};
  const auto rest = std::ranges::stable_partition(
      behind, [&](const auto* node) { return counts(node) && racks.insert(node->rack).second; });
  const auto firsts = static_cast<int>(rest.begin() - behind.begin());
  if (firsts == 0) return waves;
  const auto at = sizes.begin() + (sizes.empty() ? 0 : 1);
  sizes.erase(std::remove_if(at, sizes.end(), [&](int size) { return size <= firsts; }),
              sizes.end());
  sizes.insert(sizes.begin() + (sizes.empty() ? 0 : 1), firsts);
  return waves;
}

std::map<std::string, std::string> leaf_groups(const inventory::Inventory& inventory) {
  std::map<std::string, std::string> leaf_of;
  if (!inventory.fabric) return leaf_of;
  const auto& fabric = inventory.fabric->fabric;
  std::map<int, std::string> first;
  for (const auto& one : fabric.switches)
    if (one.level == inventory::SwitchLevel::leaf && one.group >= 0)
      first.try_emplace(one.group, one.name);
  for (const auto& node : fabric.nodes)
    if (const auto leaf = first.find(node.group); leaf != first.end())
      leaf_of.try_emplace(node.name, leaf->second);
  return leaf_of;
}

std::string per_leaf_group(std::string_view resource) {
  return std::string{resource} + std::string{kInEachGroup};
}

std::string_view limited_by(std::string_view resource) {
  if (resource.ends_with(kInEachGroup)) resource.remove_suffix(kInEachGroup.size());
  return resource;
}

bool has_leaf_claims(const Playbook& playbook) {
  return std::ranges::any_of(playbook.steps, [](const PlaybookStep& step) {
    return std::ranges::any_of(step.claims, is_of_leaf);
  });
}

std::shared_ptr<const std::vector<PlannedStep>> with_leaf_claims(
    std::vector<PlannedStep> steps, const std::string& leaf,
    std::map<std::string, int, std::less<>>& limits) {
  for (auto& step : steps) {
    if (leaf.empty()) std::erase_if(step.claims, is_of_leaf);
    for (auto& claim : step.claims) {
      if (!is_of_leaf(claim)) continue;
      const auto resource = limited_by(claim.resource);
      const auto limit = limits.find(resource);
      claim.resource = fmt::format("{} in the group of leaf {}", resource, leaf);
      if (limit != limits.end()) limits.try_emplace(claim.resource, limit->second);
    }
  }
  return std::make_shared<const std::vector<PlannedStep>>(std::move(steps));
}

}  // namespace cupel::playbooks
