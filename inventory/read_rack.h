#pragma once
// What stands in a rack of an inventory file: `kind:`, `compute:`, `switches:`, `power_shelves:`,
// `cdu:`. The rack's name, room and PDUs are read_power.h.
#include <array>
#include <filesystem>
#include <vector>

#include "inventory/rack.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// Keys of a rack that are read here.
inline constexpr std::array<std::string_view, 5> kRackPartKeys{"kind", "compute", "switches",
                                                               "power_shelves", "cdu"};

/// The racks under `racks:`, which is a list of maps with `name`, or a map by name. Anything else
/// is a problem. An item with a `key` has its name there.
std::vector<const YamlValue*> rack_items(YamlFields& site, std::vector<Problem>& problems,
                                         const std::string& file);

/// The parts of every rack that has any, in the order of the file. The nodes of `inventory` are
/// read already: a compute tray whose BMC is a node's is that node. Every fault becomes a problem.
std::vector<NvlRack> read_rack_parts(YamlFields& site, const YamlValue* defaults,
                                     const std::filesystem::path& folder,
                                     const Inventory& inventory, std::vector<Problem>& problems);

/// Addresses, MACs and slots that stand twice, compared as what they name; more trays than the kind
/// has.
void check_rack_parts(const std::vector<NvlRack>& racks, const Inventory& inventory,
                      std::vector<Problem>& problems);

}  // namespace cupel::inventory
