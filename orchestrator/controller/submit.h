#pragma once
// How a run begins, and goes on: its row in the store, who drives it, and the driving itself.
// Values in, values out: a command line and a service call the same functions. Nothing here prints.
#include <optional>
#include <string>

#include "orchestrator/controller/controller.h"
#include "orchestrator/controller/run_options.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::controller {

/// Who drives a run where no controller lives: this process, or one that is started for it and has
/// no terminal (background.h).
enum class Where { here, background };

struct Submission {
  RunFlags flags{};        // what is given this time of how the run is accompanied
  std::string begun_by{};  // for the record of a new run: login_name(), or whom a service serves
  Where where = Where::here;
  std::string request{};  // RunOptions::request
};

/// A run that stands in the store.
struct Submitted {
  store::Run run{};
  /// This process is its controller, and drives it (drive()). Nothing: another one does, which
  /// lives already or is to be started.
  std::optional<store::ControllerLock> lock{};
  bool at_work = false;  // a controller had it before, and nothing was changed
};

/// Begins a new run: fetches each secret once, writes the run with its options, locks its nodes.
/// All or nothing. Errors: kInvalid: a secret is missing; kConflict: another run holds a node;
/// kStorage.
Result<Submitted> submit(store::Store& store, const Planned& planned, const Submission& submission);

/// The same for a run that exists, was stopped and is not over. Its options stay but for what is
/// said this time. Errors: as submit().
Result<Submitted> submit_again(store::Store& store, const Planned& planned, store::Run run,
                               const Submission& submission);

/// Takes up a run whose controller is gone before it has begun it. Errors: kConflict: another
/// process is the controller by now; kStorage.
Result<Submitted> take_over(const store::Store& store, store::Run run);

/// Drives a run that is this process's own, and whatever is submitted meanwhile, until all of it is
/// over. How it ended is in its journal. Errors: kInvalid: it could not begin; kStorage: nothing
/// more was started; what helps is reported.
Result<void> drive(Front& front, store::Store& store, std::unique_ptr<Planned> planned,
                   Submitted submitted, Settings settings);

}  // namespace cupel::controller
