#pragma once
// Emptying the machine's event log. Which of a BMC's many logs that is: the System's, its
// baseboards' and the manager's, by their names and by the vendor's row; audits, dumps, journals
// and POST codes are none.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// All of them. Errors: kUnsupported where none can be cleared; kFailed where one was accepted and
/// is as long as before.
Task<Result<void>> clear_event_log(Client& client, Layout layout, Deadline deadline);

/// Whether a LogService is (a part of) the machine's event log.
bool is_event_log(const json::value& service, const Rules& rules);

}  // namespace cupel::bmc::redfish
