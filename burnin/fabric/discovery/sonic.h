#pragma once
// What a switch with SONiC says of its ports: transceivers with their readings and limits. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "burnin/fabric/discovery/mlxlink.h"

namespace cupel::burnin {

struct SonicPort {
  std::string name{};  // "Ethernet8"
  CableModule module{};
  bool down = false;    // the switch says so; where it says nothing, false
  std::string error{};  // of the transceiver: "Blocking Error|High temperature"
  friend bool operator==(const SonicPort&, const SonicPort&) = default;
};

/// STATE_DB as JSON, whole or the keys TRANSCEIVER_* and PORT_TABLE: an object of fields by key, as
/// sonic-utilities keep it, or with the fields under "value", as a dump of Redis has them
/// (`sonic-db-dump -n STATE_DB`). In the order of names; ports without a transceiver are left out.
/// Limits are those at which the transceiver raises an alarm; a lane without a reading leaves the
/// port without light. Errors: kMalformed for JSON that is none, above 64 MiB, and for more than
/// 4,096 ports; kNoMeasurement without a transceiver. Source: sonic-utilities,
/// tests/mock_tables/state_db.json; sonic-platform-daemons, xcvrd.
Result<std::vector<SonicPort>> parse_sonic_state(std::string_view text);

/// The same in the form of mlxlink: a port is Active unless the switch or the transceiver says
/// otherwise.
MlxlinkReport report_of(const SonicPort& port);

}  // namespace cupel::burnin
