#pragma once
// `kernel-log`: what the kernel of a node has logged since the first stage that loads it. Read
// after every stage, of every machine whose profile has criteria for it; as a stage of its own it
// does nothing else. When it is read, and from where on: orchestrator/steps/kernel_watch.h.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Output::beside is lines of JSON: the document of `cupel-node kernel-log` that first said where
/// the log stood, then one for each reading; or {"failed": WHY, "reads_later": BOOL} in the end,
/// by whether a later reading begins where this one should have.
Stage kernel_log();

}  // namespace cupel::burnin
