#pragma once
// The fold of a journal that grows: one event at a time, behind what was folded. The same reading
// as fold() in fold.h. Pure.
#include "orchestrator/engine/fold.h"

namespace cupel::engine {

/// The event must outlive the run.
void fold_next(FoldedRun& run, const Event& event);

}  // namespace cupel::engine
