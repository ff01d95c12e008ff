#pragma once
// NVIDIA's driver as the program finds it on a node, before anything else of CUDA is needed.
#include <string>

#include "base/result.h"
#include "burnin/agent/common/shared_library.h"

namespace cupel::burn {

/// libcuda.so.1 of CUDA 12 or later. Errors: kNotFound, with what to do: no driver, or one that is
/// older than 525.
/// Source: CUDA Toolkit Release Notes, "CUDA Toolkit and Minimum Required Driver Version for CUDA
/// Minor Version Compatibility": 12.x needs 525 or later.
Result<agent::SharedLibrary> open_driver();

/// Of what open_driver() opened: 12020, the newest CUDA that this driver runs. Errors:
/// kUnsupported.
Result<int> cuda_of_driver(const agent::SharedLibrary& driver);

/// 12020: "12.2"
std::string cuda_version_text(int version);

}  // namespace cupel::burn
