#pragma once
// One run, from its first event or from where it stopped to its last: by this process, or, where a
// controller lives already, by that one, while this one watches. Says how it ended.

#include "orchestrator/cli/plan_options.h"

namespace cupel::cli {

/// Begins a new run of the plan. Errors become exit codes: see Exit.
Exit execute_new(Context& context, std::unique_ptr<Planned> planned);

/// Goes on with a run where its journal ends: here, or where a controller lives, there.
Exit execute_again(Context& context, std::unique_ptr<Planned> planned, store::Run run);

}  // namespace cupel::cli
