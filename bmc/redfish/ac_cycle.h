#pragma once
// Cutting a machine's standby power and giving it back, as if the cord were pulled: where a BMC
// offers that at all, each vendor has its own action for it.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// The way that this machine has: the standard's FullPowerCycle of the System or of its chassis,
/// or the vendor's. Nothing where it has none.
/// A chassis' plain PowerCycle does not count: OpenBMC takes it for the host's alone where the
/// board cannot do more. Source: DSP0268, Resource.ResetType.
struct AcWay {
  Action action;
  std::string word;
};

/// Errors: of the first chassis that could not be read, where no other one has it.
Task<Result<std::optional<AcWay>>> find_ac_cycle(Client& client, Layout layout, Document system,
                                                 Deadline deadline);
Task<Result<bool>> has_ac_cycle(Client& client, Layout layout, Document system, Deadline deadline);

/// Asks for it. The BMC itself may be gone for minutes afterwards. Errors: kUnsupported;
/// kConflict where the machine has to be off first, and is not.
Task<Result<Accepted>> ac_cycle(Client& client, Layout layout, Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
