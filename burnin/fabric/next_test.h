#pragma once
// The next round, where what was measured leaves a question open: a pair for each suspect whose
// stream crosses it, none that looks like it, and beyond those only parts that are cleared.
#include "burnin/fabric/culprits.h"
#include "burnin/fabric/rounds.h"

namespace cupel::burnin::fabric {

/// Flows of disjoint pairs. Empty: no pair of these nodes would tell more. `absent`: nodes that no
/// longer take part.
std::vector<Flow> next_test(const Readings& readings, const Culprits& culprits,
                            const std::vector<bool>& absent);

/// The same of these parts, the first of them first; with other partners in each `turn`.
std::vector<Flow> test_of_parts(const Readings& readings, std::span<const PartId> parts,
                                const std::vector<bool>& absent, int turn);

/// The slow flows that no part explains, once more: those of disjoint pairs that are not in
/// `already`. Readings dip by themselves; a flow that is slow in two rounds does not.
std::vector<Flow> unexplained_again(const Readings& readings, const Culprits& culprits,
                                    std::span<const Flow> already, const std::vector<bool>& absent);

}  // namespace cupel::burnin::fabric
