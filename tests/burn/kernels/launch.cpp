// Launches run at once, in the host's memory.
#include "burnin/agent/burn/cuda/launch.h"

#include <gtest/gtest.h>

#include "tests/burn/kernels/grid.h"
#include "tests/burn/kernels/table.h"

namespace cupel::burn {

void launch_kernel(const char* name, Grid grid, CUstream_st*, void** values) {
  const auto* const kernel = on_host::kernel(name);
  ASSERT_NE(kernel, nullptr) << name;
  on_host::run(grid.blocks, grid.threads, kernel->with(values));
}

void on_host::misused(const std::string& what) { ADD_FAILURE() << what; }

}  // namespace cupel::burn
