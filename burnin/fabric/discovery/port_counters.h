#pragma once
// Error counters of ports, as ibqueryerrors prints them. Pure. A counter that a tool
// did not print is not there: it is not 0.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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

}  // namespace cupel::burnin
