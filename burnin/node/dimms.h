#pragma once
// DIMMs as `dmidecode -t 17` tells them.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// Adds each DIMM that is there, and its speed ("dimm.speed", MT/s); empty slots are left aside.
/// Where it reported none: an Unknown. Pure; lines of other tools in between do not matter.
void add_dimms(std::string_view text, Findings& findings);

/// "dimm.speed.below_fastest" (%) of each DIMM whose "dimm.speed" is there: a memory controller
/// runs all of its DIMMs at one rate, and a board all of its controllers.
void compare_dimm_speeds(Findings& findings);

/// Where a memory device sits, as SMBIOS reports it (DSP0134 3.7, 7.18: Device Locator, Bank
/// Locator).
struct DimmPlace {
  std::string locator, bank;
};

/// The slot of each place, in order: its locator. Locators that several places share are preceded
/// by the bank ("P0 CHANNEL A DIMM 0"), as AMD boards need it; places that are still alike are
/// numbered. All places of a board go in, empty ones too, so that a slot's name does not depend on
/// what is plugged elsewhere.
std::vector<std::string> dimm_slots(std::span<const DimmPlace> places);

/// "dimm A7" of "A7" and of "DIMM A7", as the BMC's reader names it.
std::string dimm_name(std::string locator);

}  // namespace cupel::burnin
