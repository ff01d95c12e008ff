#pragma once
// The first events of a run, as the controller has them written.
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/controller/run_options.h"
#include "orchestrator/engine/event.h"
#include "orchestrator/ssh/programs.h"

namespace cupel::controller {

engine::Event run_event(engine::EventKind kind, boost::json::object data = {});

/// With what a report needs to know of the site, as it was when the run began, and of what judges
/// it: versions, parameters, digests, who began it.
engine::Event run_started(const Planned& planned, const RunOptions& options,
                          ssh::ProgramShelf& programs, std::string_view version);
engine::Event run_resumed();

}  // namespace cupel::controller
