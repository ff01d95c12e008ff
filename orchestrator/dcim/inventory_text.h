#pragma once
// The `racks:` and `nodes:` of an inventory, from devices. Pure: the same devices give the same
// text, so that two imports can be compared line by line.
#include "orchestrator/dcim/devices.h"

namespace cupel::dcim {

struct InventoryRules {
  std::map<std::string, std::string> profiles{};  // by device type's slug or model, in lower case
  bool with_racks = true;                         // false: they are written by hand
};

struct InventoryText {
  std::string text{};
  std::vector<std::string> faults{};  // what no node can be made of, all of it
};

/// `racks`: heights by name, as read_racks() has them.
InventoryText inventory_text(const std::vector<Device>& devices,
                             const std::map<std::string, int>& racks, const InventoryRules& rules);

/// Lines that only one of the two texts has: "- ..." of the first, "+ ..." of the second.
std::vector<std::string> changed_lines(std::string_view before, std::string_view after);

}  // namespace cupel::dcim
