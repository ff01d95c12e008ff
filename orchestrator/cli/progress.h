#pragma once
// What people and programs see while a run goes on: a live table on a terminal, plain lines
// otherwise, one JSON object a line for programs.
#include <memory>

#include "orchestrator/controller/front.h"

namespace cupel::cli {

using controller::RunView;

/// A line for each event, with the run's number: for a log that several runs share.
std::unique_ptr<RunView> make_log_lines(engine::RunId run);

/// Chooses by `json` and by whether standard output is a terminal.
std::unique_ptr<RunView> make_progress(const playbooks::Plan& plan, engine::RunId run, bool json);

/// What people read of a run that waits for them; empty where it does not.
std::string words_of_wait(std::optional<engine::WallTime> until, engine::RunId run);

}  // namespace cupel::cli
