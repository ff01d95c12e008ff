#pragma once
// Everything that a BMC tells of its machine. Written over Fetch: it needs no socket.
#include "bmc/redfish/machine.h"

namespace cupel::bmc::redfish {

/// Reads it all, slow firmware last. What cannot be read is in Observed::unknown.
/// Errors: as find_machine; kCancelled, kUntrusted.
Task<Result<Observed>> read_inventory(Fetch& fetch, Deadline deadline);

// The pieces, each in a file of its own; they add to what the survey has seen.

/// CPUs, GPUs, DIMMs; the memory of a GPU goes to its GPU. compute.cpp
Task<void> read_compute(Survey& survey, const Machine& machine);

/// GPUs of machines that do not list them as Processors. gpus.cpp
Task<void> read_gpus_elsewhere(Survey& survey, const Machine& machine,
                               const std::vector<Document>& chassis);

/// Power supplies. psus.cpp
Task<void> read_psus(Survey& survey, const Machine& machine, const std::vector<Document>& chassis);

/// Network and InfiniBand adapters. adapters.cpp
Task<void> read_adapters(Survey& survey, const std::vector<Document>& chassis);

/// NVMe drives. drives.cpp
Task<void> read_drives(Survey& survey, const Machine& machine);

/// Versions. firmware.cpp
Task<void> read_firmware(Survey& survey, const Machine& machine);

}  // namespace cupel::bmc::redfish
