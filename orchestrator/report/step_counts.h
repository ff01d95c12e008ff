#pragma once
// How far the nodes of a run are, step by step. From its events alone, as run_progress.h is: also
// where the playbook that it was planned with is gone. Pure.
#include <boost/json/array.hpp>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::report {

/// Each count is of nodes. `open`: the step has not begun on them, or waits for its next try.
struct StepCount {
  std::string step{};
  std::size_t done = 0, running = 0, failed = 0, skipped = 0, open = 0;
  std::vector<std::string> failed_on{};  // their names, by which they are sorted

  friend bool operator==(const StepCount&, const StepCount&) = default;
};

/// In the order of the run's first event; none where the run has not begun.
std::vector<StepCount> step_counts(std::span<const engine::Event> events);

/// "failed_on" is a list of names.
boost::json::array to_json(std::span<const StepCount> counts);

}  // namespace cupel::report
