#pragma once
// One GPU and memory of one NUMA node of the host, with the PCIe between them.
#include <cstdint>
#include <string_view>

#include "burnin/agent/burn/cuda/link_memory.h"
#include "burnin/agent/burn/statistics.h"

namespace cupel::burn {

enum class Way { kToGpu, kToHost, kBoth };

class Lane {
 public:
  /// On the current device and from the thread that will use it. Errors: memory, cuda.
  static Outcome<Lane> open(std::optional<int> node, std::size_t bytes, std::uint64_t seed);

  /// Makes new data and lets go of what an earlier pass left, so that nothing of it can be taken
  /// for this one's. Errors: cuda.
  Outcome<> prepare(Way way);
  /// Copies all of it once. In GB/s, both ways together where it is both. Errors: cuda.
  Outcome<double> copy(Way way);

  struct Wrong {
    Mismatches to_gpu;
    Mismatches to_host;

    std::uint64_t count() const { return to_gpu.count + to_host.count; }
  };
  /// Every word that the last pass copied. Errors: cuda.
  Outcome<Wrong> check(Way way);

  /// Turns over one bit of what has arrived. Errors: cuda.
  Outcome<> plant_on_gpu(std::uint64_t word, int bit);
  void plant_on_host(std::uint64_t word, int bit);

  /// Microseconds of a round trip: the host writes into its memory, a kernel that watches it
  /// answers there. Errors: cuda.
  Outcome<Samples> round_trips(std::uint64_t rounds);
  /// Microseconds of a copy of eight bytes, from the call until it is known to have ended.
  Outcome<Samples> small_copies(Way way, int rounds);

  std::uint64_t words() const { return words_; }

 private:
  Lane() = default;

  std::uint64_t words_ = 0;
  std::uint64_t host_seed_ = 0;
  std::uint64_t gpu_seed_ = 0;
  HostMemory sent_;      // of the host, to the GPU
  HostMemory received_;  // by the host
  HostMemory flags_;
  DeviceMemory arrived_;  // on the GPU
  DeviceMemory source_;
  Counter found_;
  StreamHandle down_;
  StreamHandle up_;
  EventHandle begin_;
  EventHandle end_;
  EventHandle up_end_;
};

}  // namespace cupel::burn
