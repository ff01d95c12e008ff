#pragma once
// The order in which a machine tries its boot options. Source: DSP0268, ComputerSystem.Boot
// (BootOrder), BootOption.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Errors: kUnsupported where the System has no boot order.
Task<Result<BootOrder>> read_boot_order(Client& client, Document system, Deadline deadline);

/// At the next boot. Written to the settings resource where that one has the order, else to the
/// System. Idempotent; returns after reading it back. Errors: kInvalid names what is no option of
/// this machine; kUnsupported; kFailed (accepted, not kept).
Task<Result<void>> set_boot_order(Client& client, Document system,
                                  std::vector<std::string> references, Deadline deadline);

}  // namespace cupel::bmc::redfish
