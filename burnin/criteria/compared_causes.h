#pragma once
// What follows from numbers that are unlike those of other machines. Pure.
#include <string_view>
#include <vector>

#include "burnin/compared.h"
#include "burnin/verdict.h"

namespace cupel::burnin {

/// A failure for each outlier, inconclusive for each doubtful one: "fleet: hbm.copy". Of several
/// parts of a node in one series that are outliers by as much, the node as a whole.
std::vector<Cause> causes_of(const std::vector<Compared>& compared);

/// "hbm.copy" of "fleet: hbm.copy", "history: hbm.copy" and "trend: hbm.copy"; empty where the
/// criterion is of no comparison.
std::string_view compared_measure(std::string_view criterion);

/// Where something is known to be wrong with a part, that its numbers are unlike the others' is a
/// consequence of it; where it fails of the same number, the criterion says it all.
void put_below_known(std::vector<Cause>& causes);

}  // namespace cupel::burnin
