#pragma once
// Where the GPUs of a compute tray say that they sit in their rack, through their BMC.
#include <vector>

#include "bmc/redfish/fetch.h"
#include "inventory/rack_place.h"

namespace cupel::bmc::redfish {

/// One for each GPU that says anything, in the order of their names; a GPU that two Systems of the
/// tray show (the host, and the baseboard) stands once. Empty: nobody says anything.
/// Errors: as find_machine; kFailed where a GPU that is listed could not be read.
/// Source: NVIDIA's BMC, Processor.Oem.Nvidia.MNNVLinkTopology, as a GB300's tray reports it.
Task<Result<std::vector<inventory::RackPlace>>> read_rack_places(Fetch& fetch, Deadline deadline);

}  // namespace cupel::bmc::redfish
