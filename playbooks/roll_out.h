#pragma once
// How a run spreads over a site: which nodes begin first, and what those that share their leaf
// switches share besides. Pure. When a wave opens, the engine decides.
#include "inventory/fwd.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"

namespace cupel::playbooks {

struct Waves {
  std::vector<const inventory::Node*> nodes{};  // in the order in which they begin
  std::vector<int> sizes{};                     // Plan::canary
};

/// In Playbook::canary, at its end: behind the first wave, one node of each rack that has none in
/// it.
inline constexpr int kOnePerRack = 0;
/// The same, of nodes alone whose profile names firmware images.
inline constexpr int kOneWrittenPerRack = -1;

/// As the playbook's `canary` and `one_per_rack` say. A wave behind that of one node per rack which
/// is not larger than it is left out. The nodes of a wave, and those behind the last, keep their
/// order.
Waves waves_of(const Playbook& playbook, const inventory::Inventory& inventory,
               const std::vector<const inventory::Node*>& nodes);

/// Of each node that shares its leaves with neighbours, by name: the first of these leaves. Empty
/// where the inventory has no fabric.
std::map<std::string, std::string> leaf_groups(const inventory::Inventory& inventory);

/// A claim of scope leaf-group is one of the site for this resource until the plan knows the
/// groups.
std::string per_leaf_group(std::string_view resource);
/// Whose limit holds for a resource: its own, or that of the one before per_leaf_group().
std::string_view limited_by(std::string_view resource);

bool has_leaf_claims(const Playbook& playbook);

/// The same steps, whose claims of a leaf group have become claims of the site for a resource that
/// is this group's alone, with a limit of its own; without a group they are left out.
std::shared_ptr<const std::vector<PlannedStep>> with_leaf_claims(
    std::vector<PlannedStep> steps, const std::string& leaf,
    std::map<std::string, int, std::less<>>& limits);

}  // namespace cupel::playbooks
