#include "orchestrator/report/step_counts.h"

#include <algorithm>
#include <boost/json/object.hpp>

#include "orchestrator/engine/fold.h"

namespace cupel::report {
namespace {

using Phase = engine::StepState::Phase;

void count(StepCount& row, const std::string& node, Phase phase, bool between_tries) {
  if (phase == Phase::done) ++row.done;
  if (phase == Phase::skipped) ++row.skipped;
  if (phase == Phase::running && !between_tries) ++row.running;
  if (phase == Phase::waiting || between_tries) ++row.open;
  if (phase != Phase::failed) return;
  ++row.failed;
  row.failed_on.push_back(node);
}

}  // namespace

std::vector<StepCount> step_counts(std::span<const engine::Event> events) {
  const auto run = engine::fold(events);
  std::vector<StepCount> counts;
  for (const auto& name : run.trace.steps) {
    auto& row = counts.emplace_back();
    row.step = name;
    for (const auto& [node, trace] : run.trace.nodes) {
      const auto at = std::ranges::find(trace.steps, name, &engine::StepTrace::name);
      const auto index = static_cast<std::size_t>(at - trace.steps.begin());
      const bool met = at != trace.steps.end();
      const auto& state = run.state.nodes.at(node);
      count(row, node, met ? state.steps[index].phase : Phase::waiting, met && at->between_tries);
    }
  }
  return counts;
}

boost::json::array to_json(std::span<const StepCount> counts) {
  boost::json::array all;
  for (const auto& row : counts) {
    boost::json::array names(row.failed_on.begin(), row.failed_on.end());
    all.push_back({{"step", row.step},
                   {"done", row.done},
                   {"running", row.running},
                   {"failed", row.failed},
                   {"skipped", row.skipped},
                   {"open", row.open},
                   {"failed_on", std::move(names)}});
  }
  return all;
}

}  // namespace cupel::report
