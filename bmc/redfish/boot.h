#pragma once
// The boot override of a System.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Sets it, all properties together, and reads it back. Asked once: "not now" is kBusy, with the
/// patience that the BMC wants. The URI of an override before is cleared. Errors: kUnsupported
/// where the BMC does not have the target, the URI or an override that stays; kInvalid; kFailed
/// where it accepted it and kept something else.
Task<Result<void>> set_boot(Client& client, Layout layout, Document system, BootOverride requested,
                            Deadline deadline);

Task<Result<BootOverride>> read_boot(Client& client, Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
