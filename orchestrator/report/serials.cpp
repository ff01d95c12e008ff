#include "orchestrator/report/serials.h"

#include <boost/json.hpp>
#include <set>

namespace cupel::report {
namespace {

using inventory::Part;
using inventory::PartKind;

std::vector<Part> once_each(const std::vector<Part>& parts, PartKind kind) {
  std::vector<Part> found;
  std::set<std::string> known;
  for (const auto& part : parts)
    if (part.kind == kind && !part.serial.empty() && known.insert(part.serial).second)
      found.push_back(part);
  return found;
}

}  // namespace

std::string chassis_serial(const record::NodeRecord& record) {
  if (!record.system_serial.empty()) return record.system_serial;
  const auto told = record.facts.find("system.serial");
  if (told != record.facts.end()) return told->second;
  const auto systems = parts_with_serial(record, PartKind::system);
  return systems.empty() ? std::string{} : systems.front().serial;
}

std::vector<Part> parts_with_serial(const record::NodeRecord& record, PartKind kind) {
  auto most = once_each(record.bmc_parts, kind);
  for (const auto& [stage, findings] : record.findings) {
    auto found = once_each(findings.parts, kind);
    if (found.size() > most.size()) most = std::move(found);
  }
  return most;
}

boost::json::array serials_json(const record::NodeRecord& record) {
  boost::json::array all;
  std::set<std::string> known;
  const auto add = [&](const std::vector<Part>& parts) {
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

}  // namespace cupel::report
