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

/// The first cuBLASLt of CUDA 12 or 13 that has every function we call: the node's own, or that in
/// lib/ beside this program. Errors: no-library.
Outcome<agent::SharedLibrary> open_cublaslt(
    std::span<const std::string_view> names = cublaslt_names());

/// A line of JSON for each library: {"kind":"library","name":"libcublasLt","fits":true,"path":..,
/// "version":"13.1.0"}, or "fits":false and "why". Asks no GPU and no driver.
std::string library_lines();

}  // namespace cupel::burn
