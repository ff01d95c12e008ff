#pragma once
// A virtual rack in the place of a site that somebody wrote down: one virtual node for each of its
// nodes, at loopback addresses. And the other way: a site for a rack that has none. Pure.
#include "inventory/fwd.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

/// Names, profiles, users, serials and MACs are the site's; addresses are 127.x.y.z with ports of
/// the operating system's choice; secrets are files of the rack's own, as many as the site refers
/// to. BMCs are what the profile's words say (vendor_of). Errors: kInvalid (more nodes than a rack
/// holds).
Result<RackSpec> rack_of(inventory::Inventory site);

/// A row of rehearsal/bmc/vendor_behavior.h: the vendor that the profile's name, description or
/// models name, else the usual one.
std::string vendor_of(const inventory::Profile& profile);

/// Where the PDU of that place in the inventory's list is, on this machine.
std::string pdu_address(std::size_t index);

/// A room, and the spec's racks from the bottom up: as many units as fit, breakers of two nodes
/// with a tenth to spare. With two feeds, a PDU for each: either carries all, and every node has an
/// outlet on both. With the spec's cable plan.
inventory::Inventory site_of(const RackSpec& rack);

}  // namespace cupel::rehearsal
