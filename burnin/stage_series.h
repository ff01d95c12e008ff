#pragma once
// Which stages sample something over time, and how that is read for the record. Pure.
#include "burnin/stage.h"
#include "burnin/time_series.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// Adds what the stage sampled, also of an output that its parse() refuses. Nothing of a stage that
/// samples nothing.
void add_series(const Stage& stage, const inventory::Profile& profile, const Output& output,
                SeriesRecorder& into);

}  // namespace cupel::burnin
