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
  /// Of one that is slow now and then: readings that dipped, of so many. 0: it is always slow.
  int dips = 0, readings = 0;
  bool comes_and_goes() const { return dips > 0; }
  friend bool operator==(const Suspicion&, const Suspicion&) = default;
};

struct Culprits {
  std::vector<Suspicion> named{};  // one part each, beyond doubt
  /// Several parts that look alike, or one whose flows do not yet suffice, or one that is no slower
  /// than links of this fleet may be by themselves.
  std::vector<Suspicion> open{};
  /// Slow in two readings or more, though every part that they cross is cleared; each flow once.
  /// One that was fast in another round is none of them.
  std::vector<FlowId> unexplained{};
};

/// Greedy: the part whose flows speak most for it, then the best of the flows that it leaves
/// unexplained. A flow that is slower than its part alone would make it stays unexplained.
///
/// Slow flows speak against the parts that they cross only where all of them are known
/// (Topology::knows_parts): across leaves an uplink or a spine that no table names may be what is
/// slow. A part over which a flow is clearly fast is never named as one that is always slow. Parts
/// that dip in far more readings than the others are named as such.
Culprits find_culprits(const Readings& readings);

/// How much flows that were slow in some of their readings speak for each part being one that is
/// slow now and then, in nats. By all flows, those too whose route is not known: for whom to
/// measure more often. `known_routes`: by those alone by which find_culprits() names a part.
std::vector<float> dip_scores(const Readings& readings, bool known_routes);

}  // namespace cupel::burnin::fabric
