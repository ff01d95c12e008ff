#pragma once
// Rooms, racks, PDUs and breakers of an inventory file, and whether they can carry what hangs on
// them.
#include <filesystem>
#include <vector>

#include "inventory/model.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// `rooms:` and `racks:` with their PDUs and breakers. A breaker's full name is "a01/pdu1/b1".
/// `folder` is where relative paths begin.
void read_rooms(YamlFields& site, Inventory& into, std::vector<Problem>& problems);
void read_racks(YamlFields& site, const std::filesystem::path& folder, Inventory& into,
                std::vector<Problem>& problems);

/// Nothing can be begun below a level that even the idle nodes overdraw: the sum of the profiles'
/// idle watts below each level against its watts. A node counts fully on each of its feeds, since
/// one of them may have to carry it alone, and once above the PDUs. That all nodes loaded at once
/// would be too much is no fault: then a run loads so many at a time (`cupel plan` says how many).
void check_power(const Inventory& inventory, std::vector<Problem>& problems);

}  // namespace cupel::inventory
