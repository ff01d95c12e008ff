#pragma once
// Moves of plugs as a person reads them. Pure. Not public: of fabric_audit.cpp.
#include "inventory/fabric_audit.h"

namespace cupel::inventory {

/// What is wrong with the links of a group, and the moves. `planned` and `links` are those that the
/// moves were planned for. `occupant`: the other end of a cable that is in the port for the first
/// plug and in no group.
CableFinding finding_of_moves(const FabricMap& map, const MoveGroup& group,
                              std::span<const EndPair> planned, std::span<const EndPair> links,
                              const std::optional<CableEnd>& occupant);

}  // namespace cupel::inventory
