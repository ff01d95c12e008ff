#pragma once
// Cables and transceivers of the plan against those that tools show: kind, length, serial number.
// Pure.
#include <vector>

#include "burnin/fabric/odd_links.h"
#include "inventory/fabric.h"

namespace cupel::burnin {

/// Of links whose two ends are those of one planned cable: where the plan and a report both say it,
/// and differ. A length is that of a cable in one piece, in metres, and differs from 1 m on, since
/// cables report whole metres: the length of a transceiver is its reach. At the ends of one cable a
/// serial number may be followed by the end's sign ("-1", "A").
std::vector<OddLink> unplanned_parts(const LinkLook& look, const inventory::Fabric& plan);

}  // namespace cupel::burnin
