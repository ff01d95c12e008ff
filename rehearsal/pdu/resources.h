#pragma once
// What a rack PDU shows of itself and of its outlets: every resource by its path. Reading only.
// Source: DSP0268, PowerEquipment, PowerDistribution, Outlet, OutletGroup.
#include <string>

#include "rehearsal/bmc/resources.h"
#include "rehearsal/physics/rack_site.h"

namespace cupel::rehearsal {

/// How long an outlet stays off when its power is cycled.
inline constexpr VirtualTime kPowerCycle{30};

struct PduView {
  const RackSite& site;
  const std::string& name;  // "a01/p1"
};

/// Without sessions.
ResourceTree pdu_resources(const PduView& view);

/// Outlets are called as they are numbered, "A7"; whatever else the inventory names is a group of
/// them that somebody made, and is switched as one.
bool is_group(std::string_view outlet);
/// "Outlet" or "OutletGroup": its schema, and what its actions are called after.
std::string_view schema_of(std::string_view outlet);
/// Where its power is controlled.
std::string control_path(std::string_view outlet);

}  // namespace cupel::rehearsal
