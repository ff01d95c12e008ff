#pragma once
// The system event log over a session: reading and clearing. Records themselves are sel.h.
#include "bmc/bmc.h"
#include "bmc/ipmi/repository.h"
#include "bmc/ipmi/sel.h"

namespace cupel::bmc::ipmi {

/// The BMC's clock as its SEL has it: seconds, and how far its zone is from UTC where it tells.
struct SelClock {
  std::uint32_t seconds = 0;
  std::chrono::minutes east{0};
};

/// Errors: as Client::ask. Source: IPMI 2.0, 31.10, 31.11a.
Task<Result<SelClock>> read_clock(Client& client, Deadline deadline);

/// The newest `most` entries that are not older than `since`, oldest first. Names sensors by
/// `repository`. Errors: as Client::ask; kMalformed where it leads in a circle.
Task<Result<EventLog>> read_log(Client& client, const Repository& repository,
                                std::optional<Seconds> since, std::size_t most, Deadline deadline);

/// One record as a line of the log.
LogEntry entry_of(const SelRecord& record, const Repository& repository, std::chrono::minutes east);

/// Returns when the erasure is done. Errors: as Client::ask; kTimeout. Source: 31.9.
Task<Result<void>> clear_log(Client& client, Deadline deadline);

}  // namespace cupel::bmc::ipmi
