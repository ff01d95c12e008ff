#pragma once
// What needs a person: where to go, which part, the one thing to do there. Read from a run's record
// and state; nothing is judged here. Turning lights on is the caller's business. How they are
// shown: action_groups.h.
#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "orchestrator/engine/run_state.h"
#include "orchestrator/report/summary.h"

namespace cupel::report {

struct OperatorAction {
  engine::RunId run = 0;
  std::string rack{};  // empty: nothing to walk to
  int unit = 0;
  std::string node{};
  std::string part{};  // "gpu3"; empty: the machine as a whole
  std::string step{};
  std::string action{};
  std::string why{};
  std::string pattern{};  // the action with NODE for the node, as other nodes have it too
  std::string likely{};   // the suspects where several explain it equally; else empty
  std::string apart{};    // the test that decides between them
  std::vector<burnin::Cause> consequences{};  // what it explains, so that nobody acts on it
  bool at_the_rack = true;                    // else it is done at a desk
  /// The controller looks by itself whether it was done, and goes on.
  bool goes_on = false;

  friend bool operator==(const OperatorAction&, const OperatorAction&) = default;
};

/// Sorted by rack and unit, from the bottom up, so that a person walks once; what is done at a desk
/// comes first.
std::vector<OperatorAction> actions_of(const RunSummary& summary, const engine::RunState& state);

/// The same of several runs.
void sort_for_walking(std::vector<OperatorAction>& actions);

/// Whether the step may go on once the world is better, and that can be seen from afar: somebody
/// plugged a cable, changed a password, accepted a certificate. Pure.
bool may_be_mended(const record::StepRecord& step);

/// Each by itself.
boost::json::array to_json(const std::vector<OperatorAction>& actions);
/// What to_json() wrote; what is not readable of it is left out.
std::vector<OperatorAction> actions_from(const boost::json::value& array);

}  // namespace cupel::report
