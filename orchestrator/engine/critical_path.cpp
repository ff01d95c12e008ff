#include "orchestrator/engine/critical_path.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "inventory/node.h"

namespace cupel::engine {
namespace {

using playbooks::PlannedStep;
using std::chrono::seconds;

/// The nodes that do this step with slots of the whole site, in their turn.
struct Queue {
  std::size_t at_once = 0;
  std::vector<std::size_t> nodes{};
};

/// How many may do it at a time, for want of slots of the whole site; nothing where no claim says.
std::optional<std::size_t> at_once(const playbooks::Plan& plan, const PlannedStep& step) {
  std::optional<std::size_t> least;
  if (step.together != playbooks::Together::alone) return least;
  for (const auto& claim : step.claims) {
    const auto limit = plan.limits.find(claim.resource);
    if (claim.scope != playbooks::Claim::Scope::site || limit == plan.limits.end()) continue;
    const auto here =
        static_cast<std::size_t>(std::max(1, limit->second / std::max(1, claim.count)));
    least = std::min(least.value_or(here), here);
  }
  return least;
}

/// The first node of each rack, then the second of each, and so on.
std::vector<std::size_t> in_turn(const playbooks::Plan& plan) {
  std::map<std::string_view, std::size_t> of_rack;
  std::vector<std::pair<std::size_t, std::size_t>> turns;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n)
    turns.emplace_back(of_rack[plan.nodes[n].node->rack]++, n);
  std::ranges::sort(turns);
  std::vector<std::size_t> nodes;
  for (const auto& [turn, n] : turns) nodes.push_back(n);
  return nodes;
}

/// From each step on; `behind` of a step: how long its queue goes on from this node on, if it has
/// one.
template <class Behind>
std::vector<seconds> path(const std::vector<PlannedStep>& steps, const Behind& behind) {
  std::vector<seconds> ahead(steps.size());
  seconds after{0};
  for (auto s = steps.size(); s-- > 0;)
    after = ahead[s] = after + std::max(steps[s].expected, behind(s));
  return ahead;
}

}  // namespace

std::vector<CriticalPath> critical_paths(const playbooks::Plan& plan) {
  std::map<const std::vector<PlannedStep>*, CriticalPath> shared;
  std::map<std::string_view, Queue> queues;  // by step
  for (const auto n : in_turn(plan))
    for (const auto& step : *plan.nodes[n].steps)
      if (const auto most = at_once(plan, step)) {
        auto& queue = queues[step.name];
        queue.at_once = *most;
        queue.nodes.push_back(n);
      }
  std::vector<std::map<std::string_view, std::size_t>> behind(plan.nodes.size());
  for (const auto& [step, queue] : queues)
    for (std::size_t turn = 0; turn < queue.nodes.size(); ++turn)
      behind[queue.nodes[turn]][step] =
          (queue.nodes.size() - turn + queue.at_once - 1) / queue.at_once;
  std::vector<CriticalPath> all;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& steps = *plan.nodes[n].steps;
    const auto rounds = [&](std::size_t s) {
      const auto found = behind[n].find(steps[s].name);
      return found == behind[n].end()
                 ? seconds{0}
                 : steps[s].expected * static_cast<std::int64_t>(found->second);
    };
    auto& known = shared[&steps];
    if (behind[n].empty() && known) {
      all.push_back(known);
      continue;
    }
    auto mine = std::make_shared<const std::vector<seconds>>(path(steps, rounds));
    if (behind[n].empty()) known = mine;
    all.push_back(std::move(mine));
  }
  return all;
}

}  // namespace cupel::engine
