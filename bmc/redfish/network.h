#pragma once
// The BMC's own network services. Source: DSP0268, ManagerNetworkProtocol.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

Task<Result<std::vector<NetworkService>>> read_services(Client& client, Layout layout,
                                                        Deadline deadline);

/// By the name that read_services tells, in whatever case. Returns after reading it back.
/// Errors: kUnsupported (no such service, or none that can be set); kFailed (accepted, not kept).
Task<Result<void>> enable_service(Client& client, Layout layout, std::string name, bool enabled,
                                  Deadline deadline);

/// The resource, with its URI. Errors: kUnsupported where the BMC has none.
Task<Result<Document>> read_protocols(Client& client, Layout layout, Deadline deadline);

/// Whether a service is on; nothing where the BMC does not tell.
std::optional<bool> is_enabled(const json::value& protocols, std::string_view name);

}  // namespace cupel::bmc::redfish
