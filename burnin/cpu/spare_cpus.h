#pragma once
// Which CPUs a stage leaves to others while it works beside one of the GPUs (burnin/companions.h):
// the threads that feed the GPUs and NCCL's own must not wait for a burned core.
#include <string>

#include "burnin/parameters.h"

namespace cupel::burnin {

/// "spare": logical CPUs of each NUMA node.
inline constexpr ParameterRow kSpareParameter{
    "spare", ParameterRow::Kind::text,
    "logical CPUs of each NUMA node that are left to others; at most a quarter of them", "0"};

/// Errors: kInvalid: not 0 to 1024.
Result<int> spare_parameter(ParameterRows rows, const Parameters& parameters);

/// Shell: `$spare` and `$nice`, and functions of a list such as "0-55,112-167": `cpus_in LIST`
/// counts, `spared_in LIST` prints the CPUs that are left to others, `rest_of LIST` the list of
/// the others.
std::string spare_cpus(int spare);

}  // namespace cupel::burnin
