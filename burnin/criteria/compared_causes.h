#pragma once
// What follows from numbers that are unlike those of other machines. Pure.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/compared.h"
#include "burnin/verdict.h"

namespace cupel::burnin {

/// A failure for each outlier that stood out before, inconclusive for one that was seen once and
/// for each doubtful one: "fleet: hbm.copy". Nothing for what is slow. Of several parts of a node
/// in one series that are outliers by as much, the node as a whole.
std::vector<Cause> causes_of(const std::vector<Compared>& compared);

/// Names in each outlier where the same number of the same part stood out too: in another stage
/// that measured it ("hbm@day2"), or `before`, in an earlier verdict of the same machine: `when`.
void mark_repeated(std::vector<Compared>& compared, std::span<const Compared> before,
                   const std::string& when);

/// Names in an outlier the look `before` at the same number: "its first look (2500 GB/s, ...)".
void mark_confirmed(Compared& now, const Compared& before, const std::string& when);

/// Of a number that stood out once: the stage has to run again.
bool is_to_be_repeated(const Cause& cause);

/// "hbm.copy" of "fleet: hbm.copy", "history: hbm.copy" and "trend: hbm.copy"; empty where the
/// criterion is of no comparison.
std::string_view compared_measure(std::string_view criterion);

/// Where something is known to be wrong with a part, that its numbers are unlike the others' is a
/// consequence of it; where it fails of the same number, the criterion says it all.
void put_below_known(std::vector<Cause>& causes);

}  // namespace cupel::burnin
