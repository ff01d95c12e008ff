#pragma once
// How far behind its like a value must lie before the shape of their spread does not explain it.
// Fleets are not normally distributed: a ceiling with a tail below it, a batch that is a little
// slower, a few that are far off. The limits are learned of the tail. Pure. How they were chosen:
// docs/build/decisions/fleet-criteria.md.
#include <span>
#include <vector>

namespace cupel::burnin {

/// The distance, in the unit of `behind`, beyond which at most the share `alarms` of healthy values
/// lie. `behind`: how far each value lies behind the centre; what is ahead of it is negative.
/// `spread`: of the middle of them, as a standard deviation. Of fewer than 480 values no shape is
/// known: the limit is that of Student's distribution with 4 degrees of freedom, the heaviest tail
/// that is allowed for.
double tail_limit(std::span<const double> behind, double spread, double alarms);

/// Whether there are enough values to see it, and both their tails are no heavier than those of a
/// normal distribution. A few that are far behind, which may be bad, do not count.
bool has_thin_tails(std::span<const double> behind, double spread);

}  // namespace cupel::burnin
