#pragma once
// One item of `steps:`, once it is known to have the format's shape. What it means together with
// the others is order.h's business.
#include "inventory/yaml.h"
#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// The step, or one for each item of an `each:` list. Nothing where the item has not the shape of a
/// step; every fault becomes a problem.
std::vector<PlaybookStep> read_step(const inventory::YamlValue& item, const std::string& file,
                                    std::vector<inventory::Problem>& problems);

/// What `when:` of a step or of an include says.
std::vector<Condition> read_conditions(const inventory::YamlValue& item, const std::string& file,
                                       std::vector<inventory::Problem>& problems);

}  // namespace cupel::playbooks
