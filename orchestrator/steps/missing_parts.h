#pragma once
// Parts that a profile expects and the BMC does not list.
#include <set>
#include <span>
#include <string_view>

#include "inventory/fwd.h"
#include "inventory/parts.h"

namespace cupel::steps {

/// The kinds of which the BMC's own list lacks parts that the profile expects, or may lack them: it
/// is not whole. Pure.
std::set<inventory::PartKind> missing_by_bmc(const inventory::Inventory& inventory,
                                             const inventory::Node& node,
                                             std::span<const inventory::Part> parts,
                                             std::span<const inventory::PartialList> partial);

/// Whether the part of this name is of one of the kinds.
bool is_of(const std::set<inventory::PartKind>& kinds, std::string_view part);

}  // namespace cupel::steps
