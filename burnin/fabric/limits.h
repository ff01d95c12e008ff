#pragma once
// How a reading is judged: against what the fleet itself reads, by how much the fleet's own
// readings differ. Readings are of one unit: Gb/s.
#include <span>

namespace cupel::burnin::fabric {

/// Two readings of one flow in one round.
struct Repeated {
  double one = 0, other = 0;
};

struct Limits {
  double usual = 1;       // the median
  double noise = 0.01;    // standard deviation of all readings, as a share of `usual`
  double margin = 0.025;  // below `usual`, as a share of it: less than that is slow

  double limit() const { return usual * (1 - margin); }
  /// How much a reading speaks for a slow part (above 0) or for none, in nats: the logarithm of how
  /// much more likely it is of a flow that is slow by twice the margin. One reading never counts
  /// for much as slow, since readings dip by themselves; none rises by itself.
  double evidence(double reading) const;
};

/// From the first readings of flows of one kind. `repeated` tells what changes from reading to
/// reading from what stays: only of the first can more readings clear anything. With fewer than
/// eight readings nothing is learned, and the limit is `floor`, which no limit is below.
Limits learn_limits(std::span<const double> readings, std::span<const Repeated> repeated,
                    double floor);

}  // namespace cupel::burnin::fabric
