#pragma once
// What a virtual machine is being worked with: the word that tools say to the physics. Data only.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cupel::rehearsal {

/// What a piece of work asks of the machine; what each costs stands in physics/gpu_kind.cpp.
enum class Work : std::uint8_t {
  idle,
  gemm,        // matrix products: all SMs, at the power limit
  hbm,         // the GPU's own memory
  pcie,        // between host and GPU
  p2p,         // between GPUs, over NVLink
  collective,  // NCCL: NVLink, and the fabric where more than one node takes part
  train,       // gemm and collectives in turn
  cpu,
  disk,
  memory,  // the host's
};

/// Their names, as a fault's `under:` says them.
std::string_view to_string(Work work);
std::optional<Work> work_named(std::string_view name);
constexpr bool is_of_gpus(Work work) { return work > Work::idle && work < Work::cpu; }

struct Load {
  Work work = Work::idle;
  double share = 1;         // of what the work can ask for, 0 to 1
  std::vector<int> gpus{};  // positions on the baseboard; empty: all, for a work of GPUs
  int threads = 0;          // of the CPUs; 0: what the work usually takes
};

enum class LoadId : std::uint64_t {};

}  // namespace cupel::rehearsal
