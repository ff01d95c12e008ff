#pragma once
// Queues kernels by name: CUPEL_LAUNCH(gemm_sum, blocks, threads, stream, memory, sums). What is
// given is taken as the kernel's declaration takes it. cudaGetLastError() tells whether it could be
// queued.
#include <tuple>
#include <type_traits>

struct CUstream_st;

namespace cupel::burn {

/// `shared`: bytes of dynamic shared memory.
struct Grid {
  unsigned blocks = 1;
  unsigned threads = 1;
  unsigned shared = 0;
};

/// `values` point to the arguments. Errors: cudaGetLastError().
void launch_kernel(const char* name, Grid grid, CUstream_st* stream, void** values);

/// The kernel's limit of dynamic shared memory on the current device. Returns a cudaError_t.
int allow_shared_memory(const char* name, int bytes);

template <class... Taken, class... Given>
void launch_as(std::type_identity<void(Taken...)>, const char* name, Grid grid, CUstream_st* stream,
               Given... given) {
  std::tuple<Taken...> taken{static_cast<Taken>(given)...};
  std::apply(
      [&](auto&... each) {
        void* values[] = {const_cast<void*>(static_cast<const volatile void*>(&each))...};
        launch_kernel(name, grid, stream, values);
      },
      taken);
}

}  // namespace cupel::burn

#define CUPEL_LAUNCH(kernel, blocks, threads, stream, ...)                  \
  ::cupel::burn::launch_as(std::type_identity<decltype(kernel)>{}, #kernel, \
                           ::cupel::burn::Grid{(blocks), (threads)}, (stream), __VA_ARGS__)
