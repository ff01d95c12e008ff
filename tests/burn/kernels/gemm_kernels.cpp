// The kernels of gemm_kernels.cu as they are, on the host.
#include "tests/burn/kernels/cuda.h"
// after it
#include "burnin/agent/burn/cuda/gemm_kernels.cu"
