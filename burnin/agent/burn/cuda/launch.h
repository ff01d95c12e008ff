#pragma once
// A kernel's launch as a call, so that kernels are plain C++ but for this file: tests run them on
// the host, where tests/burn/on_host/cuda.h takes this one's place.
#ifndef CUPEL_CUDA_ON_HOST
#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace cupel::burn {

/// Queued on `stream`; each thing given is taken as the kernel takes it.
template <class... Taken, class... Given>
void launch(void (*kernel)(Taken...), unsigned blocks, unsigned threads, cudaStream_t stream,
            Given&&... given) {
  kernel<<<blocks, threads, 0, stream>>>(static_cast<Taken>(std::forward<Given>(given))...);
}

}  // namespace cupel::burn
#endif
