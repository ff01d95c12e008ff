#pragma once
// The `rules:` of a scenario. What a rule does is rules.h's business.
#include <span>

#include "inventory/yaml.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

/// Gives each to the nodes that it names, to all where it names none.
void read_rules(std::span<const inventory::YamlValue> items, const std::string& file,
                RackSpec& into, std::vector<inventory::Problem>& problems);

/// A YAML value as JSON: what is not quoted and looks like a number, true, false or null is one.
json::value json_of(const inventory::YamlValue& value);

}  // namespace cupel::rehearsal
