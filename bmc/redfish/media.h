#pragma once
// Virtual media: discs that the BMC fetches from an URL and shows to the machine as its own.
// Source: DSP0268, VirtualMedia.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// All slots, in the BMC's order: those of the System where it has them (newer BMCs), else those
/// of its manager. Errors: kUnsupported where there are none.
Task<Result<std::vector<MediaSlot>>> read_media(Client& client, Layout layout, Document system,
                                                Deadline deadline);

/// Into the first slot that takes discs; what else was in it comes out first. Idempotent.
/// Errors: kUnsupported (no such slot); kFailed where it was accepted and is not there.
Task<Result<void>> insert_media(Client& client, Layout layout, Document system, std::string url,
                                Deadline deadline);

/// Out of every slot that holds something. Idempotent.
Task<Result<void>> eject_media(Client& client, Layout layout, Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
