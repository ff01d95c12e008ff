#pragma once
// What nvidia-smi sampled of each GPU while a stage with cupel-burn loaded it, for the record.
// Pure.
#include "burnin/job.h"
#include "burnin/time_series.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// Temperature, temperature of the memory, power and SM clock. nvidia-smi prints no time: samples
/// are as far apart as the stage asked for. A GPU that is held back by heat, a slowdown or a power
/// brake is a fault at the sample that first shows it.
void burn_series(const inventory::Profile& profile, const Output& output, SeriesRecorder& into);

}  // namespace cupel::burnin
