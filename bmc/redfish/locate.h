#pragma once
// The light by which a person finds a machine in its rack. Source: DSP0268, ComputerSystem and
// Chassis: LocationIndicatorActive, and IndicatorLED, which it has replaced.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Of the System, else of a chassis that it stands in. Idempotent; returns after reading it back.
/// Errors: kUnsupported where neither has a light; kFailed where it was accepted and stays as it
/// was.
Task<Result<void>> set_locator(Client& client, Layout layout, Document system, bool on,
                               Deadline deadline);

/// Whether it is on. Errors: kUnsupported where there is none that tells.
Task<Result<bool>> read_locator(Client& client, Layout layout, Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
