#pragma once
// What faults do to a BMC as a whole, whichever protocol asks: is it there, does it answer, what
// time does it think it is. What they do inside a protocol is looked up there.
#include <span>

#include "rehearsal/fault.h"

namespace cupel::rehearsal {

/// No answer on any port.
bool bmc_is_dead(std::span<const Fault> faults);
/// Connections are taken, and nothing is answered.
bool bmc_is_hung(std::span<const Fault> faults);
/// How far its clock is ahead of the rack's, in seconds: its battery was empty.
double bmc_clock_error(std::span<const Fault> faults);

}  // namespace cupel::rehearsal
