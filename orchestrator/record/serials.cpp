#include "orchestrator/record/serials.h"

#include <algorithm>
#include <map>
#include <set>

#include "inventory/identity.h"

namespace cupel::record {
namespace {

using inventory::Part;
using inventory::PartKind;

std::vector<Part> once_each(const std::vector<Part>& parts, PartKind kind) {
  std::vector<Part> found;
  std::set<std::string> known;
  for (const auto& part : parts)
    if (part.kind == kind && !inventory::is_no_serial(part.serial) &&
        known.insert(part.serial).second)
      found.push_back(part);
  return found;
}

/// By the part's name, of all sources: one may write a serial number in another way.
std::map<std::string, std::set<std::string>> serials_by_part(const NodeRecord& record) {
  std::map<std::string, std::set<std::string>> serials;
  const auto take = [&](const std::vector<Part>& parts) {
    for (const auto& part : parts)
      if (!inventory::is_no_serial(part.serial))
        serials[part.name].insert(inventory::serial_key(part.serial));
  };
  take(record.bmc_parts);
  for (const auto& [stage, findings] : record.findings) take(findings.parts);
  return serials;
}

}  // namespace

std::string chassis_serial(const NodeRecord& record) {
  if (!inventory::is_no_serial(record.system_serial)) return record.system_serial;
  const auto reported = record.facts.find("system.serial");
  if (reported != record.facts.end() && !inventory::is_no_serial(reported->second))
    return reported->second;
  const auto systems = parts_with_serial(record, PartKind::system);
  return systems.empty() ? std::string{} : systems.front().serial;
}

std::vector<Part> parts_with_serial(const NodeRecord& record, PartKind kind) {
  auto most = once_each(record.bmc_parts, kind);
  for (const auto& [stage, findings] : record.findings) {
    auto found = once_each(findings.parts, kind);
    if (found.size() > most.size()) most = std::move(found);
  }
  return most;
}

bool is_other_machine(const NodeRecord& before, const NodeRecord& now) {
  const auto was = chassis_serial(before), is = chassis_serial(now);
  return !was.empty() && !is.empty() && inventory::serial_key(was) != inventory::serial_key(is);
}

std::vector<std::string> replaced_parts(const NodeRecord& before, const NodeRecord& now) {
  std::vector<std::string> replaced;
  const auto was = serials_by_part(before);
  for (const auto& [name, serials] : serials_by_part(now)) {
    const auto then = was.find(name);
    if (then == was.end()) continue;
    const bool shared = std::ranges::any_of(
        serials, [&](const std::string& each) { return then->second.contains(each); });
    if (!shared) replaced.push_back(name);
  }
  return replaced;
}

}  // namespace cupel::record
