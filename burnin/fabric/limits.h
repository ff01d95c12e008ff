#pragma once
// How a reading is judged: against what the fleet itself reads, by how much the fleet's own
// readings differ. Readings are of one unit: Gb/s.
#include <array>
#include <span>

namespace cupel::burnin::fabric {

/// Three readings of one flow in one round. Their mean shows links that differ with a third of the
/// variance of noise, and they differ from each other by noise alone.
using Repeated = std::array<double, 3>;

/// All but `usual` are shares of it.
struct Limits {
  double usual = 1;       // of a flow that nothing holds back
  double noise = 0.01;    // standard deviation of all readings
  double stays = 0;       // of it, what is always the same of one flow: links differ
  double margin = 0.025;  // below `usual`: less than that is slow
  /// Below `usual`: what is certainly no link of the fleet's own spread. Between the two a part is
  /// in doubt, whatever its flows say together: the slowest of thousands of healthy links is slow.
  double sure = 0.025;
  double dip = 0.05;  // below the best reading of the same flow: no noise explains it

  double limit() const { return usual * (1 - margin); }
  /// How much a reading speaks for a slow part (above 0) or for none, in nats: the logarithm of how
  /// much more likely it is of a flow that is slow by twice the margin. One reading never counts
  /// for much as slow, since readings dip by themselves; none rises by itself.
  double evidence(double reading) const;
};

/// From the first readings of flows of one kind. `repeated` tells what changes from reading to
/// reading from what stays: only what changes can be cleared by reading again. With fewer than
/// eight readings nothing is learned, and the limit is `floor`, which no limit is below.
/// `inside`: what flows inside a leaf taught, for those across leaves. Half of them may be slow, by
/// a few spines: what is usual is learned from their faster half.
Limits learn_limits(std::span<const double> readings, std::span<const Repeated> repeated,
                    double floor, const Limits* inside = nullptr);

}  // namespace cupel::burnin::fabric
