#pragma once
// One run, from its first event or from where it stopped to its last: by this process, or, where a
// controller lives already, by that one, while this one watches. Says how it ended.

#include "orchestrator/cli/plan_options.h"
#include "orchestrator/controller/submit.h"

namespace cupel::cli {

using controller::Where;

/// `--on-halt`, for commands that drive a run: Context::ends_when_halted.
OptionRow on_halt_option(
    Context& context, std::string_view what =
                          "wait: a halted run waits until it is continued; end: the command ends "
                          "with exit code 4, and cupel resume goes on [wait in a terminal, else "
                          "end]");

/// Begins a new run of the plan, whose number is then in `context.begun`. Errors become exit codes:
/// see Exit.
Exit execute_new(Context& context, std::unique_ptr<Planned> planned, Where where = Where::here);

/// Goes on with a run where its journal ends: here, or where a controller lives, there.
Exit execute_again(Context& context, std::unique_ptr<Planned> planned, store::Run run,
                   Where where = Where::here);

/// Shows a run that somebody else drives, to its end. Drives nothing.
Exit execute_elsewhere(Context& context, store::Store& store, const Planned& planned,
                       const store::Run& run);

}  // namespace cupel::cli
