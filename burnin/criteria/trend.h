#pragma once
// Whether a number gets worse from one measurement to the next over months: Mann and Kendall's
// test, and Sen's slope. Source: Mann 1945, Kendall 1975, Sen 1968; corrected for ties. Pure.
#include <span>

#include "burnin/measures/measure.h"

namespace cupel::burnin {

struct TimedValue {
  double days = 0;  // since any fixed day
  double value = 0;
};

struct Trend {
  bool enough = false;   // six measurements or more, over two weeks or more
  double chance = 1;     // that values without any trend look like this, one-sided
  double per_month = 0;  // a share of the median value, in 30 days; negative: it falls
  double lost = 0;       // share by which it is worse now than at the first measurement, by slope
  bool worse = false;    // `chance` is below the false alarms allowed, and the loss is real
};

/// In any order. `false_alarms`: the share of healthy series that may be called worse. `noise`: a
/// loss over the whole time smaller than this share is no finding.
Trend trend_of(std::span<const TimedValue> series, Better better, double false_alarms,
               double noise);

}  // namespace cupel::burnin
