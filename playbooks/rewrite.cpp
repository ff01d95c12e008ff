#include "playbooks/rewrite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/profile.h"

namespace cupel::playbooks {
namespace {

constexpr std::string_view kNone = "none";

std::string writable_of(const inventory::Profile& profile) {
  std::vector<std::string_view> names;
  for (const auto& one : profile.firmware)
    if (one.image && !one.is_written_on_node()) names.push_back(one.component);
  if (names.empty()) return "it names no such component";
  return fmt::format("one of {}", fmt::join(names, ", "));
}

std::string why_not(const std::string& component, const inventory::Profile& profile) {
  const auto at =
      std::ranges::find(profile.firmware, component, &inventory::ExpectedFirmware::component);
  if (at == profile.firmware.end())
    return fmt::format("rewrite: profile '{}' has no component '{}' ({})", profile.name,
                       printable(component), writable_of(profile));
  if (!at->image)
    return fmt::format("rewrite: profile '{}' names no image for '{}' ({})", profile.name,
                       component, writable_of(profile));
  if (at->is_written_on_node())
    return fmt::format(
        "rewrite: '{}' of profile '{}' is written on the node, and only what a BMC "
        "writes is written again ({})",
        component, profile.name, writable_of(profile));
  return {};
}

}  // namespace

std::set<std::string> components_to_rewrite(const burnin::Parameters& with) {
  const auto given = with.find("rewrite");
  if (given == with.end() || given->second == kNone) return {};
  std::set<std::string> components;
  for (const auto name : split(given->second, ',')) components.emplace(trimmed(name));
  return components;
}

std::vector<std::string> why_not_rewritten(const std::set<std::string>& components,
                                           const inventory::Profile& profile) {
  std::vector<std::string> reasons;
  for (const auto& component : components)
    if (auto why = why_not(component, profile); !why.empty()) reasons.push_back(std::move(why));
  return reasons;
}

}  // namespace cupel::playbooks
