#pragma once
// What operators have to do, over all runs that still have a say. Reads the store and the files
// that plans are made of; touches no machine.
#include <memory>
#include <optional>
#include <set>

#include "orchestrator/controller/planned_run.h"
#include "orchestrator/report/actions.h"

namespace cupel::controller {

/// A run that was looked at.
struct RunActions {
  report::RunSummary summary{};
  std::unique_ptr<Planned> planned{};  // of one that is over: only where it was asked for
  std::optional<NoPlan> no_plan{};     // why there is none; then what is known without it is listed
  std::vector<report::OperatorAction> actions{};
};

/// The run that is named, or (0) all that still have a say: those that are not over, and of each
/// node the newest that has done something with it. `plans`: of runs that are over, too. Errors:
/// kStorage; kNotFound.
Result<std::vector<RunActions>> run_actions(const store::Store& store, engine::RunId named,
                                            bool plans);

/// Of all of them, in the order in which one walks past.
std::vector<report::OperatorAction> walking_list(const std::vector<RunActions>& runs);

}  // namespace cupel::controller
