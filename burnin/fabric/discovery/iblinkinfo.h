#pragma once
// What iblinkinfo prints, as blocks (its default) or one line a link (--line). Pure.
#include <string_view>

#include "base/result.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin {

/// Speeds of lanes become their names: "106.25 Gbps" is NDR. Ports that are down are in
/// SeenFabric::down. Errors: as parse_ibnetdiscover().
/// Source: infiniband-diags 44, man iblinkinfo.
Result<inventory::SeenFabric> parse_iblinkinfo(std::string_view text);

/// "NDR" for 106.25 or 100 (Gb/s of one lane); empty for a rate that no generation has.
/// Source: IBA volume 1, 14.2.5.6, LinkSpeedExtActive; InfiniBand Trade Association, roadmap.
std::string_view speed_name(double gbit_of_a_lane);

}  // namespace cupel::burnin
