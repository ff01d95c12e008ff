#pragma once
// A run as `cupel status` prints it and GET /api/v1/runs/{run}/status returns it: one object for
// both, so that who asks a service reads what the service's own machine prints. From the journal
// and the controller's status; asks no machine.
#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "orchestrator/controller/run_status.h"
#include "orchestrator/store/store.h"

namespace cupel::controller {

/// report::kept_summary(), and beside it:
///   state      "interrupted" where it is "running" and no controller drives it
///   range      the nodes that it is of, in one word: "a01-n[01-08]"
///   in_work    nodes that are not judged yet, and are no inconclusive ones
///   standing   report::to_json(RunProgress), of one that is not over
///   driven_by, eta_s, ends, held, approvals, hands_until, messages
///              its controller's process and status (RunStatus); of steps that wait for approval
///              the playbook's message
/// `known`: nothing where no controller lives. `made_by`: Cupel's version. Errors: kStorage.
Result<boost::json::object> run_view(const store::Store& store, const store::Run& run,
                                     const std::optional<ControllerStatus>& known,
                                     std::string_view made_by);

/// And "steps": report::to_json(StepCount) of each. Errors: as run_view().
Result<boost::json::object> run_view_with_steps(const store::Store& store, const store::Run& run,
                                                const std::optional<ControllerStatus>& known,
                                                std::string_view made_by);

/// A run whose journal cannot be read, in a list: what the store's row has of it, `nodes` of it,
/// and `error` in place of figures.
boost::json::object damaged_run_view(const store::Run& run, const std::vector<std::string>& nodes,
                                     std::string_view error);

}  // namespace cupel::controller
