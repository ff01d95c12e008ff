#pragma once
// Counters of ports: of errors, as ibqueryerrors prints them, and of data, as perfquery does. Pure.
// A counter that a tool did not print is not there: it is not 0.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cupel::burnin {

/// By the names of infiniband-diags: "SymbolErrorCounter", "LinkDownedCounter", "PortRcvErrors".
using CounterValues = std::map<std::string, std::uint64_t, std::less<>>;

struct PortCounters {
  std::uint64_t guid = 0;  // of the port
  int port = 0;
  std::string name{};  // of its device: "n07 mlx5_2"
  CounterValues counters{};
  friend bool operator==(const PortCounters&, const PortCounters&) = default;
};

/// What ibqueryerrors found beyond its thresholds.
struct QueryErrors {
  std::vector<PortCounters> ports{};
  std::uint64_t nodes_checked = 0;
  std::uint64_t ports_checked = 0;
  std::uint64_t failed_queries = 0;  // ports that did not answer: nothing is known of them
  bool filtered = false;  // by thresholds or names: a counter that is not printed may be above 0
  friend bool operator==(const QueryErrors&, const QueryErrors&) = default;
};

/// Errors: kNoMeasurement without the summary line with a number of nodes: ibqueryerrors prints
/// nothing, and ends with 0, where no subnet manager answers. kMalformed above 256 MiB.
/// Source: infiniband-diags 44, ibqueryerrors.
Result<QueryErrors> parse_ibqueryerrors(std::string_view text);

/// PortXmitData and PortRcvData of one port, in units of 4 bytes.
struct PortTraffic {
  std::optional<std::uint64_t> sent{}, received{};
  friend bool operator==(const PortTraffic&, const PortTraffic&) = default;
};

/// Of `perfquery -x LID PORTS` of several switches, one after the other, by LID and port: counters
/// of 64 bits alone, since those of 32 stop at 16 GiB. Of a port that is listed twice the first
/// counts; of more than 8192 ports the rest is left out.
/// Source: rdma-core, infiniband-diags/perfquery.c, dump_perfcounters().
std::map<std::pair<int, int>, PortTraffic> parse_port_traffic(std::string_view text);

}  // namespace cupel::burnin
