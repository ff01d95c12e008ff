#pragma once
// BIOS settings: what they are, and what the next boot makes of them. Source: DSP0268, Bios;
// DSP0266, 9.10 (settings resource).
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Errors: kUnsupported where the BMC shows none.
Task<Result<BiosSettings>> read_bios(Client& client, Layout layout, Document system,
                                     Deadline deadline);

/// What each attribute may be, and how they depend on each other; empty where the BMC has no
/// registry that can be read.
Task<Result<BiosRegistry>> read_bios_registry(Client& client, Layout layout, Document system,
                                              Deadline deadline);

/// Writes what is not so already, in one request, and reads it back. An iDRAC's job is made by the
/// request itself where it can, else created once. Errors: kInvalid names every attribute that
/// there is not, or that may not have that value, and nothing is sent; kConflict where a job with
/// other settings waits; kUnsupported; kFailed names what was accepted and not kept.
/// An attribute that is read-only until the others are current is sent with them. Where the BMC
/// refuses it, or accepts and does not keep it, it is left out, and returned.
Task<Result<std::vector<std::string>>> stage_bios(Client& client, Layout layout, Document system,
                                                  BiosValues requested, Deadline deadline);

/// Bios.ResetBios: returns when the BMC has accepted it, and the next boot does it. Errors:
/// kUnsupported: this BMC has no such action, or asks for a word that is not known. Source:
/// DSP0268, Bios, ResetBios.
Task<Result<void>> reset_bios(Client& client, Layout layout, Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
