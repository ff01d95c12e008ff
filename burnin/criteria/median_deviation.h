#pragma once
// Each member against the median and the median deviation of all members at its position, which is
// never taken for less than the noise of a measurement. The simplest robust criterion. Pure.
#include "burnin/criteria/population.h"

namespace cupel::burnin {

Comparison median_deviation(const Population& population, const FleetLimits& limits);

}  // namespace cupel::burnin
