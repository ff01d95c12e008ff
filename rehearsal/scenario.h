#pragma once
// What shall happen in a rack, beside what stands in it: faults, rules, kinds of BMC, boot times,
// speed, seed and how healthy parts differ. One reader, whether it stands in a rack's file or in
// one of its own.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/yaml.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

/// `bmcs:`, `boot:`, `faults:`, `rules:`, `speed:`, `seed:` and `spread:` of a map, into a rack
/// whose nodes and profiles are there already. Every error becomes a problem. What the map does not
/// say stays.
void read_scenario(inventory::YamlFields& fields, const std::string& file, RackSpec& into,
                   std::vector<inventory::Problem>& problems);

/// The same from a file that holds nothing else but a `description:`. False where there was a
/// problem; the rack is good for nothing then.
bool parse_scenario(std::string_view text, const std::string& file, RackSpec& into,
                    std::vector<inventory::Problem>& problems);

/// The nodes that a range under `key` names; whatever is no node of the rack is a problem.
std::vector<NodeSpec*> nodes_named(inventory::YamlFields& fields, std::string_view key,
                                   RackSpec& rack);

}  // namespace cupel::rehearsal
