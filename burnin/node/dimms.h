#pragma once
// DIMMs as `dmidecode -t 17` tells them.
#include <string>
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// Adds each DIMM that is there, and its speed ("dimm.speed", MT/s); empty slots are left aside.
/// Where it told of none: an Unknown. Pure; lines of other tools in between do not matter.
void add_dimms(std::string_view text, Findings& findings);

/// "dimm A7" of "A7" and of "DIMM A7", as the BMC's reader names it.
std::string dimm_name(std::string locator);

}  // namespace cupel::burnin
