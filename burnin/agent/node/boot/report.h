#pragma once
// What the steps of a boot report: lines of JSON, progress at most once a second.
#include <chrono>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/boot/write_image.h"

namespace cupel::agent::boot {

/// Passes on a new phase at once, and the same one at most once a second.
Progress paced(Progress progress);

/// {"state":"writing","bytes":1,"of":2}, the body of `progress`.
JsonLine progress_line(Phase phase, std::uint64_t bytes, std::uint64_t of);
/// {"cause":"cut","text":".."}, the body of `failed`.
JsonLine failure_line(const Failure& failure);

}  // namespace cupel::agent::boot
