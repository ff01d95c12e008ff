#pragma once
// What tools showed of the links of a fabric at one time. Plain data; two looks make rates.
#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "burnin/fabric/discovery/ibdiagnet.h"
#include "burnin/fabric/discovery/mlxlink.h"
#include "burnin/fabric/discovery/port_counters.h"
#include "burnin/fabric/discovery/rdma_counters.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin {

/// A port by name: of an HCA ("n05", "mlx5_3", 1), of a switch ("leaf1-r3", "", 7).
struct PortId {
  std::string device{};
  std::string hca{};
  int port = 1;
  auto operator<=>(const PortId&) const = default;
};

/// "leaf1-r3 port 7", "n05 mlx5_3".
std::string to_string(const PortId& port);

struct LookedLink {
  PortId from{};
  PortId to{};  // without a device where the other end is not known
  int width = 0;
  std::string speed{};
  std::uint32_t hca_type = 0;  // DeviceID of the HCA, as SeenDevice::type
  friend bool operator==(const LookedLink&, const LookedLink&) = default;
};

/// "n05 mlx5_3 - leaf1-r3 port 7".
std::string to_string(const LookedLink& link);

struct LinkLook {
  std::chrono::sys_seconds taken{};
  std::vector<LookedLink> links{};
  std::map<PortId, CounterValues> counters{};
  /// A port without counters, and a counter that is not there, is 0: the tool asked all ports and
  /// printed all that are not.
  bool absent_is_zero = false;
  std::map<PortId, MlxlinkReport> reports{};
  std::vector<std::string> doubts{};  // what could not be looked at
};

/// Adds the links; aggregation nodes of switches and ends without a name are left out, the latter
/// with a doubt.
void add_links(LinkLook& look, const inventory::SeenFabric& seen);

/// Adds what ibqueryerrors found. Ports that did not answer become a doubt, and absent counters
/// are then unknown; so they are where it was run with thresholds.
void add_counters(LinkLook& look, const QueryErrors& found);

/// Adds the counters of what ibdiagnet found, unless the look has some, and the cables and firmware
/// of ports that have no report.
void add_ibdiagnet(LinkLook& look, const IbdiagnetReport& found);

/// Adds what a node reports of its own HCAs to what is known of their ports.
void add_host_counters(LinkLook& look, const std::string& node, const HostCounters& found);

/// A count; nothing where it is unknown.
std::optional<std::uint64_t> count_of(const LinkLook& look, const PortId& port,
                                      std::string_view counter);

}  // namespace cupel::burnin
