#pragma once
// Where machines of one kind have their parts, as the nodes of a run report it: by that the audit
// names a part that is missing. Pure.
#include <span>
#include <vector>

#include "base/json.h"
#include "inventory/audit.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"
#include "orchestrator/record/node_record.h"

namespace cupel::steps {

/// As facts of the node: "parts.bmc.psu" or "parts.node.nvme" is an object from the names of parts
/// to their slots. Only kinds of which every part has a slot of its own, of at most 64 parts.
json::object place_facts(std::span<const inventory::Part> parts, bool by_bmc);

/// The places of each kind of the profile, where three quarters of the other nodes like this one
/// that list as many parts as the profile expects have them in the same slots. A place that has
/// different names on them comes without a name.
std::vector<inventory::PartPlace> places_of_peers(const inventory::Inventory& inventory,
                                                  const inventory::Node& node,
                                                  const engine::RunState& run);

/// Names what the record's audit misses, as far as other nodes tell by now: a finding that names
/// none is replaced by one for each.
void name_missing_parts(record::NodeRecord& record, const inventory::Inventory& inventory,
                        const inventory::Node& node, const engine::RunState& run);

}  // namespace cupel::steps
