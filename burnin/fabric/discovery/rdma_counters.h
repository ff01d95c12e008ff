#pragma once
// Counters of a node's own HCAs and their Ethernet ports. Pure.
#include <map>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "burnin/fabric/discovery/port_counters.h"

namespace cupel::burnin {

/// By HCA and port.
using HostCounters = std::map<std::pair<std::string, int>, CounterValues>;

/// What `grep -H . /sys/class/infiniband/*/ports/*/*counters/*` prints: a path and a number a line.
/// Counters that PortCounters has too get its names ("symbol_error" is SymbolErrorCounter), those
/// of RoCE keep theirs ("out_of_sequence", "np_cnp_sent"); counts of traffic are left out. Errors:
/// kNoMeasurement without a counter; kMalformed above 16 MiB.
/// Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband; NVIDIA, "Understanding mlx5
/// Linux Counters and Status Parameters".
Result<HostCounters> parse_rdma_counters(std::string_view text);

/// What `ethtool -S INTERFACE` prints of one port: pauses, discards and errors ("rx_prio3_pause",
/// "rx_discards_phy"). Errors: as above.
Result<CounterValues> parse_ethtool_counters(std::string_view text);

}  // namespace cupel::burnin
