#pragma once
// The forwarding tables of a virtual fabric with static routing, as dump_fts prints them. Pure.
#include <string>

#include "inventory/fabric.h"

namespace cupel::rehearsal {

/// Of each switch, the port to each compute HCA of the plan, as Cabling::route has it. Empty where
/// the tables have more than 500,000 entries: a fabric of some 1,000 nodes.
std::string forwarding_text(const inventory::Fabric& planned);

}  // namespace cupel::rehearsal
