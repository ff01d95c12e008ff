#pragma once
// SuperBench's criterion: each member's measurements are a sample, two samples are as similar as
// their cumulative distributions, and members unlike the most typical one are left out until none
// is. Source: SuperBench (USENIX ATC 2024), sections on validation; the normalisation of the area
// is ours where the text leaves it open. Pure. For comparison: fleet_comparison.h is what verdicts
// use, docs/decisions/fleet-criteria.md says why.
#include <span>
#include <vector>

namespace cupel::burnin {

/// 1 less the area between the two cumulative distributions, as a share of the larger sample's
/// greatest value: of two single numbers the smaller divided by the larger. Both sorted, none
/// negative; 0 where one is empty.
double cdf_similarity(std::span<const double> a, std::span<const double> b);

struct CdfCriterion {
  std::vector<bool> defective{};  // one for each sample
  std::size_t typical = 0;        // the sample that is most like the others that remained
};

/// `alpha`: samples less similar to the typical one than this are defective; the paper's is 0.95.
/// Only those on the bad side: `more_is_better`. Quadratic in the samples at first, as published.
CdfCriterion cdf_criterion(const std::vector<std::vector<double>>& samples, double alpha,
                           bool more_is_better);

}  // namespace cupel::burnin
