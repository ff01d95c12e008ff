#include "orchestrator/engine/circuit.h"

#include <algorithm>

#include "playbooks/plan.h"
#include "playbooks/playbook.h"

namespace cupel::engine {
namespace {

constexpr int kEnoughToTellAShare = 4;

}  // namespace

std::optional<std::string> too_many(const playbooks::StopAfter& stop_after, const Tally& tally) {
  const auto counted =
      std::to_string(tally.failed) + " of " + std::to_string(tally.ended) + " nodes failed";
  if (stop_after.failures && tally.failed >= *stop_after.failures)
    return counted + "; it stops after " + std::to_string(*stop_after.failures);
  const bool reported = stop_after.share && tally.ended >= kEnoughToTellAShare && tally.failed > 0;
  if (reported && tally.failed >= *stop_after.share * tally.ended)
    return counted + "; it stops at " + std::to_string(static_cast<int>(*stop_after.share * 100)) +
           " %";
  return std::nullopt;
}

std::size_t next_wave(const std::vector<int>& canary, std::size_t wave) {
  std::size_t sum = 0;
  for (const auto nodes : canary) {
    sum += static_cast<std::size_t>(std::max(nodes, 1));
    if (sum > wave) return sum;
  }
  return static_cast<std::size_t>(-1);
}

std::size_t last_wave(const std::vector<int>& canary, std::size_t wave) {
  std::size_t sum = 0;
  for (const auto nodes : canary) {
    const auto here = sum + static_cast<std::size_t>(std::max(nodes, 1));
    if (here >= wave) return sum;
    sum = here;
  }
  return sum;
}

bool has_failed(const NodeState& node) {
  const auto verdict = node.facts.find(std::string{kVerdictFact});
  if (verdict != node.facts.end() && verdict->second == "fail") return true;
  for (std::size_t i = 0; i < node.steps.size(); ++i) {
    // What is done for all nodes says nothing of the canary: slurm-drain does it again.
    const bool for_all = node.planned && (*node.planned)[i].before_canary;
    if (node.steps[i].phase == StepState::Phase::failed && !for_all) return true;
  }
  return false;
}

}  // namespace cupel::engine
