#pragma once
// UEFI Secure Boot. Source: DSP0268, SecureBoot.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Errors: kUnsupported where the System shows none.
Task<Result<SecureBootState>> read_secure_boot(Client& client, Document system, Deadline deadline);

/// From the next boot on. Idempotent; returns after reading it back. Errors: kUnsupported; kFailed
/// (accepted, not kept).
Task<Result<void>> set_secure_boot(Client& client, Document system, bool on, Deadline deadline);

}  // namespace cupel::bmc::redfish
