#pragma once
// Turning a System on and off: what it allows, and asking for it.
#include "bmc/redfish/client.h"
#include "bmc/redfish/machine.h"

namespace cupel::bmc::redfish {

/// The words of ResetType that the System allows, inline or in its ActionInfo; empty: not told.
/// Source: DSP0266, 7.11 (Redfish.ActionInfo, AllowableValues).
Task<Result<std::vector<std::string>>> allowed_words(Client& client, json::value system,
                                                     Deadline deadline);

/// Those of them that Cupel knows.
std::vector<ResetType> known_resets(const std::vector<std::string>& words);

/// Asks for it. What is already so counts as done, after reading it back; a restart of a machine
/// that is off turns it on. Errors: kUnsupported where the System cannot do that.
Task<Result<void>> reset_system(Client& client, Document system, ResetType type, Deadline deadline);

}  // namespace cupel::bmc::redfish
