#pragma once
// A drive written, read back and compared, and how fast: fio on a scratch file. Finds wrong blocks
// and sick drives; touches no raw device.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameters: `directory` (/var/tmp), `size` of the scratch file (4GiB; 16 MiB to 16 TiB), and
/// `runtime` of the writing and of the reading measurement (60s; 1s to 24h). The whole file is
/// written and verified once more between the two.
/// Source: fio(1), "JSON Output Format" and "Verification" of its documentation.
Stage disk();

}  // namespace cupel::burnin
