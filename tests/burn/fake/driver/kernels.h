#pragma once
// Kernels as the stand-in driver has them: of a module it looks only at what kind of image it is,
// and finds each function by its name among those that tests run on the host.
#include "tests/burn/fake/driver/machine.h"

namespace cupel::burn::fake {

inline constexpr int kSms = 4;

/// Machine code where the driver is of CUDA 13, else PTX of at most the version that it knows.
/// Errors: CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, as a driver's.
CUresult load(CUmodule* module, const void* image);
/// Errors: CUDA_ERROR_NOT_FOUND: not in this image.
CUresult find(CUfunction* function, CUmodule module, const char* name);
Operation launch(CUfunction function, unsigned blocks, unsigned threads, void** values);

/// Of up to eight bytes at once, as a GPU writes what the host reads meanwhile.
void copy(char* to, const char* from, std::size_t bytes);
/// What is queued may still name it.
void keep(CUevent event);

}  // namespace cupel::burn::fake
