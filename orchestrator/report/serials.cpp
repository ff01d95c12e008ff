#include "orchestrator/report/serials.h"

#include <boost/json.hpp>
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

}  // namespace cupel::report
