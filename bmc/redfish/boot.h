#pragma once
// The boot override of a System.
#include "bmc/redfish/client.h"
#include "bmc/redfish/survey.h"

namespace cupel::bmc::redfish {

/// Sets it for the next boot and reads it back. Errors: kUnsupported where the BMC does not have
/// the target; kFailed where it accepted it and kept something else.
Task<Result<void>> set_boot(Client& client, Document system, BootTarget target, Deadline deadline);

Task<Result<BootOverride>> read_boot(Client& client, Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
