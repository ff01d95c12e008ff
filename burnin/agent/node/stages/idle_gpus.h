#pragma once
// What every tool of GPUs needs before it begins: GPUs that are whole and idle, counted in one
// order. Burn-in must neither disturb another
// user's program nor measure beside it.
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// Lists the GPUs as evidence "gpus" (index and PCI address), then waits, for a minute at most,
/// until what ran before has let go. Empty where the tool may begin; else why not: there is no
/// nvidia-smi, MIG is on, a GPU is in use.
Work<GaveUp> wait_for_idle_gpus(Node& node);

/// What nvidia-smi reported of the GPUs' use.
struct GpuUse {
  bool busy = false;
  int holders = 0;  // programs that hold memory of a GPU
  Ran gpus{};       // a line each: address, per cent of the time
  Ran programs{};   // those that hold memory: address of the GPU, number, name
};
Command ask_gpu_use();
Command ask_gpu_programs();

/// Waits, for a minute at most, until what ran before has let go. The last look.
Work<GpuUse> wait_until_unused(Node& node);

/// With this CUDA counts GPUs as nvidia-smi does.
std::pair<std::string, std::string> cuda_order();

}  // namespace cupel::agent
