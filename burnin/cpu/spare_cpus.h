#pragma once
// How many CPUs a stage leaves to others while it works beside one of the GPUs
// (burnin/companions.h); which: burnin/agent/node/stages/cpu_lists.h.
#include "burnin/parameters.h"

namespace cupel::burnin {

/// "spare": logical CPUs of each NUMA node.
inline constexpr ParameterRow kSpareParameter{
    "spare", ParameterRow::Kind::text,
    "logical CPUs of each NUMA node that are left to others; at most a quarter of them", "0"};

/// Errors: kInvalid: not 0 to 1024.
Result<int> spare_parameter(ParameterRows rows, const Parameters& parameters);

}  // namespace cupel::burnin
