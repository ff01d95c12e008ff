#include "orchestrator/api/bmc_sums.h"

#include <algorithm>
#include <cmath>

#include "inventory/model.h"

namespace cupel::api {

double BmcSums::latency(double share) const {
  if (latencies.empty()) return 0;
  const auto last = static_cast<double>(latencies.size() - 1);
  const auto at = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * last));
  return std::chrono::duration<double>{latencies[at]}.count();
}

std::map<std::string, BmcSums> bmc_sums(
    const std::vector<std::pair<std::string, bmc::Budget>>& budgets,
    const inventory::Inventory* inventory) {
  std::map<std::string, BmcSums> sums;
  for (const auto& [name, budget] : budgets) {
    const auto* node = inventory == nullptr ? nullptr : inventory->node(name);
    auto& sum = sums[node == nullptr ? "other" : node->profile];
    sum.requests += budget.requests;
    const std::array<std::int64_t, 7> failures{
        budget.refused, budget.busy,        budget.server_errors, budget.malformed,
        budget.resets,  budget.unreachable, budget.timeouts};
    for (std::size_t i = 0; i < failures.size(); ++i) sum.failures[i] += failures[i];
    if (budget.latency.count() > 0) sum.latencies.push_back(budget.latency);
  }
  for (auto& [profile, sum] : sums) std::ranges::sort(sum.latencies);
  return sums;
}

}  // namespace cupel::api
