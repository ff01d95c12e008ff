#include "inventory/security_floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include "base/text.h"
#include "inventory/audit.h"
#include "inventory/node_range.h"
#include "inventory/versions.h"

namespace cupel::inventory {
namespace {

constexpr std::string_view kConnectx = "connectx";

constexpr std::array kComponents{
    FloorComponent{"driver", true}, FloorComponent{kConnectx, true},
    FloorComponent{"bios", true},   FloorComponent{"bmc", true},
    FloorComponent{"cuda", false},  FloorComponent{"container-toolkit", false},
    FloorComponent{"dcgm", false},  FloorComponent{"runc", false},
    FloorComponent{"docker", false}};

/// mlx5 names its chips "MT4129". Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband,
/// hca_type.
bool is_of(std::string_view component, const Part& part, bool by_bmc) {
  if (component == "bmc") return by_bmc && part.kind == PartKind::bmc;
  if (by_bmc) return false;
  if (component == kConnectx) return part.kind == PartKind::hca && part.model.starts_with("MT");
  return part.kind == PartKind::firmware && part.name == component;
}

std::vector<const Part*> parts_of(std::string_view component, const Seen& seen) {
  std::vector<const Part*> parts;
  for (const auto& part : seen.by_bmc)
    if (is_of(component, part, true)) parts.push_back(&part);
  for (const auto& part : seen.by_node)
    if (is_of(component, part, false)) parts.push_back(&part);
  return parts;
}

/// What stands before the version that a row compares: the chip's number of "28.39.2048".
std::string_view chip_of(std::string_view component, std::string_view version) {
  if (component != kConnectx || std::ranges::count(version, '.') != 2) return {};
  return version.substr(0, version.find('.') + 1);
}

bool is_in_branch(std::string_view version, std::string_view branch) {
  if (!version.starts_with(branch)) return false;
  return version.size() == branch.size() || version[branch.size()] == '.';
}

using Rows = std::vector<const FloorRow*>;

/// A BIOS has no model of its own: it is that of the machine, as the node and its BMC name it.
std::vector<std::string_view> models_of(std::string_view component, const Part& part,
                                        const Seen& seen) {
  if (component != "bios") return {part.model};
  std::vector<std::string_view> models;
  for (const auto& parts : {seen.by_node, seen.by_bmc})
    for (const auto& each : parts)
      if (each.kind == PartKind::system && !each.model.empty()) models.push_back(each.model);
  return models;
}

/// Those that name one of the models; where none does, those that name none.
Rows rows_for(std::string_view component, const std::vector<std::string_view>& models,
              std::span<const FloorRow> all) {
  Rows named, others;
  for (const auto& row : all) {
    if (row.component != component) continue;
    const bool fits = std::ranges::any_of(row.models, [&](const std::string& pattern) {
      return std::ranges::any_of(models,
                                 [&](const auto model) { return fits_pattern(pattern, model); });
    });
    if (fits) named.push_back(&row);
    if (row.models.empty()) others.push_back(&row);
  }
  return named.empty() ? others : named;
}

/// Of two rows of a branch, whose patterns both fit, the later version counts.
bool is_nearer(const FloorRow& one, const FloorRow& other) {
  if (one.branch.size() != other.branch.size()) return one.branch.size() > other.branch.size();
  return compare_versions(one.at_least, other.at_least) > 0;
}

/// The row of the version's own branch, the longest that fits; nullptr: there is none.
const FloorRow* row_of_branch(const Rows& rows, std::string_view version) {
  const FloorRow* found = nullptr;
  for (const auto* row : rows)
    if (is_in_branch(version, row->branch) && (found == nullptr || is_nearer(*row, *found)))
      found = row;
  return found;
}

struct Standing {
  bool known = false;
  const FloorRow* below = nullptr;
};

Standing standing_of(const Rows& rows, std::string_view version) {
  Standing standing{.known = !rows.empty() && !version.empty()};
  const auto* own = row_of_branch(rows, version);
  for (const auto* row : own == nullptr ? rows : Rows{own}) {
    const auto order = compare_versions(version, row->at_least);
    if (order == std::partial_ordering::unordered) return {};
    const bool nearer =
        standing.below == nullptr || compare_versions(row->at_least, standing.below->at_least) < 0;
    if (order < 0 && nearer) standing.below = row;
  }
  return standing;
}

bool is_whole(std::string_view component, const Seen& seen) {
  return component != kConnectx || partial_list(seen.partial_by_node, PartKind::hca) == nullptr;
}

/// Whether every part of the component was compared.
bool judge_component(std::string_view component, const FloorSite& floor, const Seen& seen,
                     std::vector<BelowFloor>& below) {
  const auto parts = parts_of(component, seen);
  bool all = !parts.empty() && is_whole(component, seen);
  for (const auto* part : parts) {
    const auto chip = chip_of(component, part->firmware);
    auto version = std::string_view{part->firmware}.substr(chip.size());
    if (component == kConnectx && chip.empty()) version = {};
    const auto standing =
        standing_of(rows_for(component, models_of(component, *part, seen), floor.rows), version);
    all = all && standing.known;
    if (standing.below != nullptr)
      below.push_back({std::string{component}, part->name, part->firmware,
                       std::string{chip} + standing.below->at_least, standing.below->advisory,
                       standing.below->date});
  }
  return all;
}

}  // namespace

std::span<const FloorComponent> floor_components() { return kComponents; }

const FloorComponent* floor_component(std::string_view name) {
  const auto found = std::ranges::find(kComponents, name, &FloorComponent::name);
  return found == kComponents.end() ? nullptr : &*found;
}

std::string_view first_number(std::string_view version) {
  return version.substr(0, version.find('.'));
}

bool is_connectx_train(std::string_view version) {
  const auto dot = version.find('.');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return dot != version.npos && is_number(version.substr(0, dot)) &&
         is_number(version.substr(dot + 1));
}

std::string_view without_chip(std::string_view component, std::string_view version) {
  return version.substr(chip_of(component, version).size());
}

FloorLook judge_floor(const FloorSite& floor, const Seen& seen) {
  FloorLook look{.policy = floor.fails ? "fail" : "warn"};
  for (const auto& component : kComponents)
    if (component.is_read && judge_component(component.name, floor, seen, look.below))
      look.read.emplace_back(component.name);
  return look;
}

std::string to_words(const FloorLook& look) {
  constexpr std::size_t kShown = 4, kLongestNames = 200;
  std::vector<std::pair<BelowFloor, std::vector<std::string>>> groups;
  for (const auto& each : look.below) {
    auto alike = each;
    alike.part.clear();
    auto known = std::ranges::find_if(groups, [&](const auto& of) { return of.first == alike; });
    if (known == groups.end()) {
      groups.emplace_back(alike, std::vector<std::string>{});
      known = groups.end() - 1;
    }
    known->second.push_back(each.part);
  }
  std::string words;
  for (std::size_t i = 0; i < std::min(groups.size(), kShown); ++i) {
    const auto& [of, parts] = groups[i];
    const auto names = parts.size() == 1 && parts.front() == of.component
                           ? std::string{}
                           : " of " + shortened(fold(std::span{parts}), kLongestNames);
    words += fmt::format("{}{} {}{}, at least {} ({}, {})", words.empty() ? "" : "; ", of.component,
                         of.version, names, of.at_least, of.advisory, of.date);
  }
  if (groups.size() > kShown) words += fmt::format("; and {} more", groups.size() - kShown);
  return words;
}

}  // namespace cupel::inventory
