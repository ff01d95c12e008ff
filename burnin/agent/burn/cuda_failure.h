#pragma once
// What a status of the CUDA runtime means for a burn-in: the hardware's own word that it is broken,
// no device, no memory, or something else that keeps from finding out. By number: no CUDA here.
#include <string>
#include <string_view>

#include "burnin/agent/burn/failure.h"

namespace cupel::burn {

/// `status` is a cudaError_t other than success, `name` what CUDA calls it, `tried` what was tried.
/// Source: CUDA Runtime API 13.0, section 6.30, "enum cudaError".
Failure cuda_failure(int status, std::string_view name, std::string_view tried);

}  // namespace cupel::burn
