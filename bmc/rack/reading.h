#pragma once
// What the parts of a rack that is one machine say of themselves, one round of questions each: a
// compute tray's BMC, a switch tray's BMC and its operating system, a power shelf's controller, a
// cooling unit's. Reads; judges nothing (inventory/rack_audit.h does).
#include <functional>

#include "bmc/identity.h"
#include "bmc/leak.h"
#include "bmc/nvos/facts.h"
#include "bmc/redfish/transport.h"
#include "bmc/secret_source.h"
#include "inventory/rack.h"

namespace cupel::bmc::rack {

/// What all readings need.
struct Door {
  redfish::Transport& transport;
  inventory::KnownKeys& known;
  std::function<SecretSource(const inventory::SecretRef&)> secret;
};

/// Of a BMC by Redfish.
struct BmcReading {
  Identity identity{};
  std::vector<inventory::RackPlace> places{};  // of a compute tray's GPUs
  std::vector<Sensor> leaks{};
  std::vector<LatchedLeak> latched{};         // leaks that its log tells of
  std::vector<inventory::Part> parts{};       // of a shelf or a cooling unit
  std::vector<Sensor> sensors{};              // the same
  std::optional<double> watts{};              // the same
  std::vector<inventory::Unknown> unknown{};  // what could not be read of all this
};

/// A compute or switch tray. Errors: as Client::get: nothing of it could be read.
Task<Result<BmcReading>> read_tray(Door door, inventory::RackDevice bmc, Deadline deadline);
/// A power shelf or a cooling unit. Errors: the same.
Task<Result<BmcReading>> read_equipment(Door door, inventory::RackDevice bmc, Deadline deadline);

/// Of a switch by NVUE.
struct SwitchReading {
  nvos::Platform platform{};
  inventory::RackPlace place{};
  nvos::Cluster cluster{};
  std::optional<nvos::App> controller{};
  std::vector<nvos::Partition> partitions{};
  nvos::Images images{};
  nvos::Health health{};
  std::map<std::string, std::string> leakage{};
  std::string port{};                         // that answered: "a01/switch1/nvos2"
  std::vector<inventory::Unknown> unknown{};  // what could not be read of all this
};

/// By the first of its management ports that answers. Errors: as Nvue::get; of all ports.
Task<Result<SwitchReading>> read_switch(Door door, inventory::SwitchTray tray, Deadline deadline);

}  // namespace cupel::bmc::rack
