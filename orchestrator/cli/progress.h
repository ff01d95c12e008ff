#pragma once
// What people and programs see while a run goes on: a live table on a terminal, plain lines
// otherwise, one JSON object a line for programs.
#include <memory>

#include "orchestrator/cli/context.h"
#include "orchestrator/controller/front.h"

namespace cupel::cli {

using controller::RunView;

/// Chooses by `--json` and by whether standard output is a terminal.
/// `context` and `plan` must outlive it.
std::unique_ptr<RunView> make_progress(const Context& context, const playbooks::Plan& plan,
                                       engine::RunId run);

/// A line of the controller's own, as people read it on a terminal.
std::string announced(const Context& context, controller::Weight weight, const std::string& line);

/// What people read of a run that waits for them; empty where it does not.
std::string words_of_wait(const Context& context, std::optional<engine::WallTime> until,
                          engine::RunId run);

}  // namespace cupel::cli
