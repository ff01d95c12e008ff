#include "burnin/agent/burn/sm_said.h"

#include <algorithm>
#include <map>
#include <set>

namespace cupel::burn {

SmJudgement judge_sms(std::span<const SmReport> results) {
  SmJudgement judgement;
  std::set<std::uint32_t> sms;
  for (const auto& block : results)
    if (block.written == 1)
      sms.insert(block.sm);
    else
      ++judgement.silent;
  judgement.sms.assign(sms.begin(), sms.end());
  for (int unit = 0; unit < kSmUnits; ++unit) {
    std::map<std::uint64_t, std::size_t> votes;
    std::size_t all = 0;
    for (const auto& block : results)
      for (int warp = 0; warp < kSmWarps && block.written == 1; ++warp, ++all)
        ++votes[block.sums[unit][warp]];
    if (votes.size() <= 1) continue;
    const auto most =
        std::ranges::max_element(votes, {}, [](const auto& row) { return row.second; });
    if (2 * most->second <= all) {
      judgement.decided = false;
      continue;
    }
    for (const auto& block : results)
      for (int warp = 0; warp < kSmWarps && block.written == 1; ++warp)
        if (block.sums[unit][warp] != most->first)
          judgement.odd.push_back({.sm = static_cast<int>(block.sm),
                                   .unit = unit,
                                   .warp = warp,
                                   .value = block.sums[unit][warp],
                                   .most = most->first});
  }
  return judgement;
}

}  // namespace cupel::burn
