#pragma once
// How long an idle session of the BMC lasts. Source: DSP0268, SessionService.SessionTimeout.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Errors: kUnsupported where the BMC does not report it.
Task<Result<std::chrono::seconds>> read_session_timeout(Client& client, Layout layout,
                                                        Deadline deadline);

/// Idempotent; returns after reading it back. Errors: kUnsupported; kFailed (accepted, not kept).
Task<Result<void>> set_session_timeout(Client& client, Layout layout, std::chrono::seconds timeout,
                                       Deadline deadline);

}  // namespace cupel::bmc::redfish
