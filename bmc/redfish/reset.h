#pragma once
// Turning a System on and off: what it allows, and asking for it.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// The words of ResetType that the System allows, inline or in its ActionInfo; empty: not reported.
Task<Result<std::vector<std::string>>> allowed_words(Client& client, json::value system,
                                                     Deadline deadline);

/// Those of them that Cupel knows, without those that harm this model. Reads no chassis: an AC
/// cycle is not among them (has_ac_cycle).
Task<Result<std::vector<ResetType>>> allowed_resets(Client& client, Layout layout, Document system,
                                                    Deadline deadline);

/// Asks for it. What is already so counts as done, after reading it back; a restart of a machine
/// that is off turns it on. Not for ac_cycle. Errors: kUnsupported where the System cannot do that,
/// and where `has_ipmi` says that there is a way that does not cut a DPU's power, as this one does.
Task<Result<Accepted>> reset_system(Client& client, Layout layout, Document system, ResetType type,
                                    bool has_ipmi, Deadline deadline);

}  // namespace cupel::bmc::redfish
