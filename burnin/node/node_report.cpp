#include "burnin/node/node_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "burnin/script.h"
#include "inventory/pci_address.h"
#include "inventory/profile.h"

namespace cupel::burnin {

std::optional<std::string_view> last_line(std::string_view text, std::string_view kind) {
  const auto head = fmt::format("{{\"kind\":\"{}\",", kind);
  std::optional<std::string_view> found;
  for (const auto line : lines(text))
    if (line.starts_with(head) && line.size() <= kLongestLine) found = line;
  return found;
}

Result<json::value> parse_line(std::string_view line) {
  auto parsed = parse_json(line);
  if (!parsed || !parsed->is_object())
    return Error{Code::kMalformed, "the node's answer is cut short"};
  return parsed;
}

std::span<const json::value> rows_at(const json::value& root, std::string_view path) {
  const auto* found = find(root, path);
  if (found == nullptr || !found->is_array()) return {};
  const auto& rows = found->as_array();
  return {rows.data(), std::min(rows.size(), kMostRows)};
}

std::optional<double> flag_at(const json::value& root, std::string_view path) {
  const auto* found = find(root, path);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->as_bool() ? 1.0 : 0.0;
}

Names::Names(const inventory::Profile& profile, const std::map<std::string, std::string>& places) {
  std::span<const std::string> expected;
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::gpu) expected = parts.pci;
  bool any = false;
  for (const auto& [part, address] : places) {
    if (!part.starts_with("gpu")) continue;
    renamed_[part] = "gpu at " + address;
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (inventory::same_pci(address, expected[i])) {
        renamed_[part] = fmt::format("gpu{}", i);
        any = true;
      }
  }
  // Where nothing is where the profile says, the node's own order is all that there is.
  if (!any) renamed_.clear();
}

std::string Names::of(std::string_view part) const {
  const auto name = script::clean(part);
  const auto found = renamed_.find(name);
  return found == renamed_.end() ? name : found->second;
}

void add(Findings& findings, std::string_view name, std::string part, std::optional<double> value,
         std::string_view unit) {
  if (value && std::isfinite(*value))
    findings.measurements.push_back(
        {std::string{name}, std::move(part), *value, std::string{unit}});
}

void add_unknown(Findings& findings, const json::value& root) {
  constexpr std::size_t kMost = 1000;
  for (const auto& each : rows_at(root, "unknown")) {
    if (findings.unknown.size() == kMost) return;
    findings.unknown.push_back({script::clean(text_at(each, "fact").value_or("something")),
                                script::clean(text_at(each, "source").value_or("cupel-node")),
                                script::clean(text_at(each, "why").value_or("not reported"))});
  }
}

}  // namespace cupel::burnin
