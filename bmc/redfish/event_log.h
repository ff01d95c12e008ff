#pragma once
// The event logs of a machine, as one. Reading only; clearing is elsewhere.
#include "bmc/redfish/machine.h"

namespace cupel::bmc::redfish {

/// The newest `most` entries of all logs that tell of events (not dumps, journals, POST codes), of
/// the systems, the managers and the chassis, each entry once. Dates are the BMC's; `since` is held
/// against them as they are reported, and keeps what has none. Errors: as find_machine.
/// Source: DSP0268, LogService, LogEntry.
Task<Result<EventLog>> read_event_log(Fetch& fetch, std::optional<Seconds> since, std::size_t most,
                                      Deadline deadline);

/// One entry.
LogEntry parse_log_entry(const json::value& body, std::string uri);

}  // namespace cupel::bmc::redfish
