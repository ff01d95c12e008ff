#pragma once
// NVIDIA's own diagnosis, `dcgmi diag -j`, as a stage. Not what its thresholds are worth: some of
// them pass a GPU a quarter too slow (docs/know/traps.md, 6 and 7), so that it never stands alone.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameter `level`: 1 to 4. Each GPU's tests that passed and that failed, and the errors that
/// DCGM reported, by what they ask of a person. A test that was skipped is neither; one that passed
/// with a warning has warned. The exit status proves nothing: 205 comes with all tests passed.
/// Source: NVIDIA/DCGM v2.4.7 to v4.6.0, dcgmi/Diag.cpp and nvvs/include/NvvsJsonStrings.h;
/// severities: dcgmErrorSeverity_enum of dcgmlib/dcgm_errors.h.
Stage dcgm_diag();

}  // namespace cupel::burnin
