#pragma once
// What a round of `gemm` holds: which types, for how long, and how many products are queued at
// once.
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "burnin/agent/burn/shapes.h"

namespace cupel::burn {

/// Of the types that were asked for, in their order: those that this chip multiplies. Where none
/// was asked for by name (`is_default`), fp64 is left out of chips whose fp64 units are too few to
/// load them.
std::vector<Type> types_for(std::span<const std::string> asked, bool is_default, int major,
                            int minor);

/// For how long each type is multiplied within a round. By time and not by count: one product takes
/// 1 ms of bf16 on a B200 and 900 ms of fp64 on a B300. So short that each type has its turn a few
/// times within the whole run. `in_waves`: what lies between two rounds is a gap in the load.
std::chrono::duration<double> time_of_type(std::chrono::duration<double> of_run, std::size_t types,
                                           bool in_waves);

inline constexpr std::size_t kMostQueued = 32;

/// How many products are queued at once, the one that runs among them: enough for 20 ms in which
/// the host does something else, and few enough to stop at once. `seconds_each` 0: not known yet.
std::size_t products_queued(double seconds_each);

}  // namespace cupel::burn
