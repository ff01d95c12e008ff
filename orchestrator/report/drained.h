#pragma once
// Which nodes a run has left drained in Slurm or Kubernetes, as its journal has it.
#include <set>
#include <span>
#include <string>

#include "orchestrator/engine/event.h"
#include "orchestrator/store/store.h"

namespace cupel::report {

std::set<std::string> drained_by(std::span<const engine::Event> events);

/// "; a01-n[01-08] stay drained in Slurm", or nothing where the run drained none.
std::string still_drained(std::span<const engine::Event> events);
/// The same from the store; nothing where it cannot be read.
std::string still_drained(const store::Store& store, engine::RunId run);

}  // namespace cupel::report
