#pragma once
// To whom the BMC sends its events and its log. Source: DSP0268, EventService, EventDestination;
// where a vendor has another place for its syslog server: Rules::syslog.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Subscriptions, and the syslog server. Errors: kUnsupported where the BMC has neither.
Task<Result<std::vector<EventTarget>>> read_event_targets(Client& client, Layout layout,
                                                          Deadline deadline);

/// Looks first: one that there is already is left alone. Returns after reading it back.
/// Errors: kInvalid (no destination); kUnsupported; kConflict (the BMC has one place for a syslog
/// server, and another is in it); kFailed (accepted, not kept).
Task<Result<void>> add_event_target(Client& client, Layout layout, EventTarget target,
                                    Deadline deadline);

}  // namespace cupel::bmc::redfish
