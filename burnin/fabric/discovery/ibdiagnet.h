#pragma once
// What ibdiagnet 2 writes to ibdiagnet2.db_csv: devices, links, counters, cables. Pure.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "burnin/fabric/discovery/mlxlink.h"
#include "burnin/fabric/discovery/port_counters.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin {

struct IbdiagnetReport {
  inventory::SeenFabric seen{};
  /// By the names of infiniband-diags; the counters of 64 bits ("...Ext") where they are there.
  std::vector<PortCounters> ports{};
  /// By GUID of the device and port.
  std::map<std::pair<std::uint64_t, int>, CableModule> cables{};
  std::map<std::uint64_t, std::string> firmware{};  // by GUID of the device
};

/// The sections NODES, PORTS, LINKS, PM_INFO, CABLE_INFO and NODES_INFO ("START_NODES", a header,
/// rows, "END_NODES"), whose columns are found by their names; "N/A" is no value. A section without
/// its end is a doubt: the file is cut off. Errors: kNoMeasurement without a device or a link;
/// kMalformed above 256 MiB and above the limits of SeenFabric.
/// Source: NVIDIA, ibdiagnet InfiniBand Fabric Diagnostic Tool User Manual 2.19; ibutils2, ibdm.
Result<IbdiagnetReport> parse_ibdiagnet(std::string_view text);

}  // namespace cupel::burnin
