#pragma once
// Centre and spread that a few bad values do not move, and limits for a stated share of false
// alarms. Pure.
#include <span>
#include <vector>

namespace cupel::burnin {

/// 0 of nothing.
double median(std::vector<double> values);

struct Center {
  double location = 0;
  double spread = 0;  // as a standard deviation
};

/// Median, and the median deviation from it, scaled to a normal distribution's deviation.
Center median_center(std::span<const double> values);

/// From median_center(), mean and deviation of what lies within 2.5 deviations, again and again
/// until nothing changes: nearly as exact as mean and deviation where all are healthy. Bears up to
/// a third of bad values.
Center trimmed_center(std::span<const double> values);

/// The standard normal quantile. Source: P. J. Acklam's rational approximation; exact to 1e-9 of
/// the value. `share` strictly between 0 and 1.
double normal_quantile(double share);

/// So many estimated spreads beyond an estimated centre lies this share of healthy values, where
/// the spread was estimated with `degrees` degrees of freedom: Student's distribution. Source:
/// Abramowitz and Stegun, 26.7.5.
double alarm_limit(double false_alarms, double degrees);

}  // namespace cupel::burnin
