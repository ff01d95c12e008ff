#pragma once
// A FRU's bytes over a session, as far as its areas go.
#include "bmc/ipmi/client.h"
#include "bmc/ipmi/fru.h"

namespace cupel::bmc::ipmi {

/// Errors: as Client::ask (kNotFound: no such FRU, or not plugged in), and parse_fru().
/// Source: IPMI 2.0, 34.1, 34.2.
Task<Result<Fru>> read_fru(Client& client, std::uint8_t device, Deadline deadline);

}  // namespace cupel::bmc::ipmi
