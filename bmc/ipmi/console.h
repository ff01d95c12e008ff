#pragma once
// A machine's serial console over an RMCP+ session of its own.
#include "bmc/bmc.h"
#include "bmc/ipmi/client.h"

namespace cupel::bmc::ipmi {

/// Activates the SOL payload, encrypted; where another session has it, takes it over. `client` is
/// the console's alone. Errors: as Client::ask; kUnsupported (SOL is disabled); kConflict (another
/// session keeps it). Source: IPMI 2.0, 24.1, 24.2.
Task<Result<std::unique_ptr<Console>>> open_console(std::unique_ptr<Client> client,
                                                    Deadline deadline);

}  // namespace cupel::bmc::ipmi
