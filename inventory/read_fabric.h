#pragma once
// `fabric:` of an inventory: the cable plan, as a rule or as a file of cables.
#include <filesystem>
#include <string>
#include <vector>

#include "inventory/model.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// Fills into.fabric. Nodes and profiles must have been read. What is read of other files is
/// appended to `digested`. `columns`: of a file of cables, in place of the key columns:.
void read_fabric(const YamlValue& value, const std::filesystem::path& folder, Inventory& into,
                 std::vector<Problem>& problems, std::string& digested,
                 std::string_view columns = {});

}  // namespace cupel::inventory
