#pragma once
// What ibnetdiscover prints, in both of its formats, also from a terminal's log. Pure.
#include <string_view>

#include "base/result.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin {

/// The topology file, or the list of ports (-p). Errors: kNoMeasurement where it has no device or
/// no link; kMalformed above 256 MiB, or above the limits of SeenFabric.
/// Source: infiniband-diags 44, man ibnetdiscover.
Result<inventory::SeenFabric> parse_ibnetdiscover(std::string_view text);

}  // namespace cupel::burnin
