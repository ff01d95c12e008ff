#pragma once
// The air that a machine gets, beside what its neighbours in the rack get at the same time: hot air
// that comes back to one of them alone is a gap in the rack, not the room. Pure.
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// Whether a temperature sensor of that name, as BMCs give names, is where the air comes in.
bool is_inlet(std::string_view sensor);

/// Adds "thermal.inlet" (C) and, of the part "inlet air", "thermal.inlet.above_neighbours": how
/// much it is above the median of two neighbours or more; else an Unknown each. `in_band`:
/// `ipmitool -c sdr type temperature`. `beside`: what the controller read,
/// `{"inlet": 24.5, "neighbours": [{"node": "a01-n02", "celsius": 23.1}, ...]}`; the BMC's own word
/// counts where the node tells none.
void add_inlet(std::string_view in_band, std::string_view beside, Findings& findings);

}  // namespace cupel::burnin
