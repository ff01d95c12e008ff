#pragma once
// One run, from its first event or from where it stopped to its last: opens the doors to the world,
// lets the engine work, and says how it ended.

#include "orchestrator/cli/plan_options.h"

namespace cupel::cli {

/// Begins a new run of the plan. Errors become exit codes: see Exit.
Exit execute_new(Context& context, Planned& planned);

/// Goes on with a run where its journal ends.
Exit execute_again(Context& context, Planned& planned, const store::Run& run);

}  // namespace cupel::cli
