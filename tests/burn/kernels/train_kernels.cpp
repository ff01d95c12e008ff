// The kernels of train_kernels.cu as they are, on the host.
#include "tests/burn/kernels/cuda.h"
// after it
#include "burnin/agent/burn/cuda/train_kernels.cu"
