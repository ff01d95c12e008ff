#pragma once
// From whom the BMC takes its time. Source: DSP0268, ManagerNetworkProtocol.NTP; where a vendor has
// another place: Rules::ntp.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Without the empty places of its list. Errors: kUnsupported where the BMC has no NTP.
Task<Result<NtpSettings>> read_ntp(Client& client, Layout layout, Deadline deadline);

/// These and no others, and the service on. Idempotent; returns after reading it back.
/// Errors: kUnsupported; kFailed (accepted, not kept).
Task<Result<void>> set_ntp(Client& client, Layout layout, std::vector<std::string> servers,
                           Deadline deadline);

}  // namespace cupel::bmc::redfish
