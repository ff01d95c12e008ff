#pragma once
// When a row of temperatures is steady. Pure arithmetic.
#include <optional>
#include <span>
#include <vector>

namespace cupel::burnin {

struct HeatSample {
  double seconds = 0;  // since the load began
  double celsius = 0;
};

/// By how much a straight line through the samples rises in so many seconds, less what their own
/// scatter can make of it (two standard errors); 0 where the scatter explains all. Nothing for
/// fewer than five samples, or for such of one moment.
std::optional<double> rise_in(std::span<const HeatSample> samples, double seconds);

/// All rows change by less than 1.6 C in the window before their last samples. False where a row
/// does not reach back that far.
bool is_steady(const std::vector<std::vector<HeatSample>>& rows, double until, double window);

}  // namespace cupel::burnin
