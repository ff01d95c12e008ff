#pragma once
// Which two plugs to exchange next, so that the parts of a slow link can be distinguished. Pure.
#include <optional>
#include <set>
#include <span>
#include <string>

#include "burnin/fabric/cable_swap.h"

namespace cupel::burnin::fabric {

/// The exchange that tells the suspected parts of a slow link, or of an uplink and those that carry
/// the same flows, apart. It is made at switches before it is made at nodes, with a link of the
/// same leaf that has no end in `slow`. Nothing where one part is left, where no exchange of two
/// plugs can tell them apart (the two ports of one spine between two leaf groups), and where the
/// leaf has no other link to exchange with.
std::optional<Exchange> deciding_exchange(const inventory::Fabric& plan,
                                          std::span<const LinkPart> suspected,
                                          const std::set<inventory::CableEnd>& slow);

/// As `exchange_of` reads it: "leaf1-r3/7,leaf1-r3/8".
std::string to_string(const Exchange& exchange);

}  // namespace cupel::burnin::fabric
