#pragma once
// What goes back to NetBox about cables: connected where Cupel saw the cable in its planned place,
// planned where it did not. Nothing of a cable that no run has looked at.
// Source: NetBox, "Cable" (status: connected, planned, decommissioning).
#include <map>

#include "orchestrator/dcim/client.h"

namespace cupel::dcim {

/// How a run saw the cable of one port.
struct SeenCable {
  std::int64_t run = 0;
  bool as_planned = false;
  std::string words{};  // what is otherwise; one line
};

/// A device with the cables of its ports, by port: "mlx5_3".
struct DeviceCables {
  std::string id{}, node{};
  std::map<std::string, SeenCable> ports{};
};

struct CableChange {
  std::string id{};                     // of the cable; empty: of none, there are warnings alone
  std::string node{};                   // one that it belongs to
  json::object fields{};                // empty: it stays
  std::vector<std::string> words{};     // what changes, for people
  std::vector<std::string> warnings{};  // what differs and stays
};

/// One end of a cable in NetBox.
struct CableEnd {
  std::string node{}, port{};
  SeenCable seen{};
};

/// Of the cable whose status is `status` now. Where its ends differ, the one that is not as planned
/// counts. One that is being decommissioned stays so. Pure.
CableChange cable_change(const std::string& id, std::string_view status,
                         const std::vector<CableEnd>& ends);

/// What would change of all of them. `names`: what NetBox calls a port ("ib0" by "mlx5_0"), where
/// it has another name there. Errors: as Client::list(); kMalformed.
Task<Result<std::vector<CableChange>>> read_cable_changes(Client& client,
                                                          std::vector<DeviceCables> devices,
                                                          std::map<std::string, std::string> names,
                                                          Deadline deadline);

}  // namespace cupel::dcim
