#pragma once
// Who is guilty: the smallest set of parts that explains all slow flows and that no fast flow
// clears. Pure and deterministic.
#include "burnin/fabric/readings.h"

namespace cupel::burnin::fabric {

/// Parts of which one is slow. With more than one, no flow measured so far tells them apart.
struct Suspicion {
  std::vector<PartId> parts{};
  double score = 0;        // in nats, all flows together
  double level = 1;        // what it leaves of the usual rate
  int slow = 0, fast = 0;  // flows that cross it
  friend bool operator==(const Suspicion&, const Suspicion&) = default;
};

struct Culprits {
  std::vector<Suspicion> named{};  // one part each, beyond doubt
  /// Several parts that look alike, or one whose flows do not yet suffice.
  std::vector<Suspicion> open{};
  /// Slow in two readings or more, though every part that they cross is cleared; each flow once.
  /// One that was fast in another round is none of them.
  std::vector<FlowId> unexplained{};
};

/// Greedy: the part whose flows speak most for it, then the best of the flows that it leaves
/// unexplained. A flow that is slower than its part alone would make it stays unexplained.
Culprits find_culprits(const Topology& topology, const Readings& readings, double noise);

}  // namespace cupel::burnin::fabric
