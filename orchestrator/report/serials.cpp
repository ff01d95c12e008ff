#include "orchestrator/report/serials.h"

#include <boost/json.hpp>
#include <map>
#include <set>

namespace cupel::report {

boost::json::array serials_json(const record::NodeRecord& record) {
  boost::json::array all;
  std::set<std::string> known;
  const auto add = [&](const std::vector<inventory::Part>& parts) {
    for (const auto& part : parts) {
      if (part.serial.empty()) continue;
      if (!known.insert(std::string{to_string(part.kind)} + "\n" + part.serial).second) continue;
      boost::json::object object{{"kind", to_string(part.kind)},
                                 {"name", part.name},
                                 {"model", part.model},
                                 {"serial", part.serial}};
      if (!part.firmware.empty()) object["firmware"] = part.firmware;
      if (!part.slot.empty()) object["slot"] = part.slot;
      all.push_back(std::move(object));
    }
  };
  add(record.bmc_parts);
  for (const auto& [stage, findings] : record.findings) add(findings.parts);
  return all;
}

std::vector<Version> versions_of(const record::NodeRecord& record) {
  std::map<std::pair<std::string, std::string>, Version> found;
  const auto take = [&](const std::string& name, const std::string& version, bool by_bmc) {
    if (name.empty() || version.empty()) return;
    auto& one = found.try_emplace({name, version}, Version{name, version}).first->second;
    (by_bmc ? one.by_bmc : one.by_node) = true;
  };
  const auto take_parts = [&](const std::vector<inventory::Part>& parts, bool by_bmc) {
    for (const auto& part : parts)
      if (part.kind == inventory::PartKind::firmware) take(part.name, part.firmware, by_bmc);
  };
  take_parts(record.bmc_parts, true);
  for (const auto& [stage, findings] : record.findings) take_parts(findings.parts, false);
  for (const auto* name : {"bios", "bmc"})
    if (const auto fact = record.facts.find(std::string{name} + ".version");
        fact != record.facts.end())
      take(name, fact->second, true);
  std::vector<Version> versions;
  for (auto& [key, each] : found) versions.push_back(std::move(each));
  return versions;
}

}  // namespace cupel::report
