#pragma once
// CPUs and memory under load, every result compared: stress-ng with --verify. Finds wrong bits, not
// slow machines.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameters: `duration` (5m; 1s to 168h), `memory` (80%; 1% to 95%, or a size of 1 MiB to
/// 64 TiB), shared by one worker for each logical CPU.
/// Source: stress-ng(1); exit statuses as in its section EXIT STATUS.
Stage cpu_memory();

}  // namespace cupel::burnin
