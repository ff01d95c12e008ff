#pragma once
// A run on a terminal: a table that is redrawn in place. Not for logs: progress.h has plain lines.
#include <memory>

#include "orchestrator/cli/progress.h"

namespace cupel::cli {

/// Node, step, elapsed, what it waits for, ETA; redrawn in place, as many rows as the terminal has.
/// `context` and `plan` must outlive it.
std::unique_ptr<RunView> make_live_table(const Context& context, const playbooks::Plan& plan,
                                         engine::RunId run);

}  // namespace cupel::cli
