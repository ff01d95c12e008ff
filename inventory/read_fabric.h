#pragma once
// `fabric:` of an inventory: the cable plan, as a rule or as a file of cables.
#include <filesystem>
#include <string>
#include <vector>

#include "inventory/model.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// Fills into.fabric. Nodes and profiles must have been read. What is read of other files is
/// appended to `digested`.
void read_fabric(const YamlValue& value, const std::filesystem::path& folder, Inventory& into,
                 std::vector<Problem>& problems, std::string& digested);

}  // namespace cupel::inventory
