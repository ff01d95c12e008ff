#pragma once
// The `nodes:` of an inventory file: names by range, each other field zipped with them.
#include <filesystem>
#include <vector>

#include "inventory/model.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// `defaults:` stands behind every node that does not say otherwise; may be nullptr.
void read_nodes(YamlFields& site, const YamlValue* defaults, const std::filesystem::path& folder,
                Inventory& into, std::vector<Problem>& problems);

/// Names, addresses, serials and rack units that stand twice; racks and feeds that do not exist.
void check_nodes(const Inventory& inventory, std::vector<Problem>& problems);

}  // namespace cupel::inventory
