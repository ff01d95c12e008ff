#pragma once
// How a bad link is mended, step by step. Pure.
#include <vector>

#include "burnin/fabric/ber_limits.h"
#include "burnin/fabric/link_health.h"

namespace cupel::burnin {

/// The steps for the first of `defects`, which are in the order of LinkFault.
/// Source: NVIDIA, InfiniBand Cluster Operation Guide, "List of Scenarios".
std::vector<RepairStep> steps_of(const LookedLink& link, const std::vector<LinkDefect>& defects,
                                 Medium medium);

}  // namespace cupel::burnin
