#pragma once
// All sensor data records of a BMC, read over one session: whole records where it hands them out
// whole, in pieces where not, and again from where it was when its reservation is lost.
#include "bmc/ipmi/client.h"
#include "bmc/ipmi/sdr.h"
#include "inventory/parts.h"

namespace cupel::bmc::ipmi {

struct Repository {
  std::vector<SensorRecord> sensors{};
  std::vector<FruLocator> frus{};
  std::vector<inventory::Unknown> unknown{};  // records that could not be read or understood
};

inline constexpr int kMostRecords = 4096;

/// Reads the SDR repository, or the device SDRs of a BMC that has none.
/// Errors: as Client::ask; kMalformed where it leads in a circle.
/// Source: IPMI 2.0, 33.9 to 33.12, 35.3.
Task<Result<Repository>> read_repository(Client& client, Deadline deadline);

}  // namespace cupel::bmc::ipmi
