#pragma once
// The BMC itself: restarting it, and its clock. Source: DSP0268, Manager.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Gracefully where the BMC has that, else by force. Returns when it was accepted.
Task<Result<Accepted>> reset_manager(Client& client, Layout layout, Deadline deadline);

/// Half the round trip is taken for the way back.
Task<Result<BmcClock>> read_clock(Client& client, Layout layout, Deadline deadline);

/// Returns after reading it back. Errors: kUnsupported (it cannot be set); kConflict (the BMC
/// takes its time from NTP); kFailed (accepted, and the clock goes on as it was).
Task<Result<void>> set_clock(Client& client, Layout layout, Seconds time, Deadline deadline);

/// "2024-08-08T18:48:10-05:00" in UTC; nothing for what is no such date, or one before 1980 or
/// after 2200. Without a zone, `offset` ("+00:00") counts. Source: RFC 3339, 5.6; DSP0266, 9.5.6.
std::optional<Seconds> parse_date(std::string_view text, std::string_view offset = "+00:00");

/// "2026-11-21T12:00:00+00:00".
std::string date_text(Seconds time);

}  // namespace cupel::bmc::redfish
