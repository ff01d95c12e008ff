#pragma once
// The libraries that are opened when they are needed, and which of them this node has in a version
// that can be used. The controller brings those that it has not.
#include <span>
#include <string>
#include <string_view>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/common/shared_library.h"

namespace cupel::burn {

/// As the loader knows cuBLASLt, the newest first.
std::span<const std::string_view> cublaslt_names();

/// The first cuBLASLt of CUDA 12 or 13 that has every function we call and that the node's driver
/// runs: the node's own, or that in lib/ beside this program. Errors: no-library.
Outcome<agent::SharedLibrary> open_cublaslt(
    std::span<const std::string_view> names = cublaslt_names());

/// Lines of JSON: {"kind":"driver","fits":true,"path":..,"cuda":"12.4"}, and for each library
/// {"kind":"library","name":"libcublasLt","fits":true,"path":..,"version":"13.1.0"}; or
/// "fits":false and "why". Asks no GPU, and the driver for its version alone.
std::string library_lines();

}  // namespace cupel::burn
