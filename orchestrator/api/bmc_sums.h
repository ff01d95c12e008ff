#pragma once
// How the BMCs of each profile fared, all nodes of it together: as many rows as a site has kinds of
// machines. Pure.
#include <array>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "bmc/budget.h"
#include "inventory/fwd.h"

namespace cupel::api {

struct BmcSums {
  std::int64_t requests = 0;
  std::array<std::int64_t, 7> failures{};              // as kBmcFailures
  std::vector<std::chrono::milliseconds> latencies{};  // of each BMC that answered, sorted

  /// Of the BMCs' mean latencies, in seconds; 0 where none answered. `share`: 0.5 is the median.
  double latency(double share) const;
};

/// Why a request did not end as it should; "refused" is 401, "busy" 429 and 503.
inline constexpr std::array<std::string_view, 7> kBmcFailures{
    "refused", "busy", "server-error", "malformed", "reset", "unreachable", "timeout"};

/// By profile; "other": BMCs that are not in the inventory any more.
std::map<std::string, BmcSums> bmc_sums(
    const std::vector<std::pair<std::string, bmc::Budget>>& budgets,
    const inventory::Inventory* inventory);

}  // namespace cupel::api
