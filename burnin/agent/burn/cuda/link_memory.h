#pragma once
// Memory, streams and events that end with their scope, and what a GPU found wrong.
#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <type_traits>

#include "burnin/agent/burn/cuda/cuda_check.h"
#include "burnin/agent/burn/links/mismatch.h"
#include "burnin/agent/burn/links/numa.h"

namespace cupel::burn {

struct EndsStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct EndsEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
struct FreesDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};

using StreamHandle = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, EndsStream>;
using EventHandle = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, EndsEvent>;
using DeviceMemory = std::unique_ptr<void, FreesDevice>;

// All on the current device. Errors: cuda, memory.
Outcome<StreamHandle> new_stream();
Outcome<EventHandle> new_event();
Outcome<DeviceMemory> device_memory(std::size_t bytes);

/// Milliseconds between two events that have happened. Errors: cuda.
Outcome<double> milliseconds_between(const EventHandle& begin, const EventHandle& end);

/// Pinned memory of the host, on one of its NUMA nodes where one is named, for all GPUs.
class HostMemory {
 public:
  /// Errors: memory, cuda.
  static Outcome<HostMemory> on(std::optional<int> node, std::size_t bytes);

  std::span<std::byte> bytes() const { return memory_->bytes(); }
  std::span<std::uint64_t> words() const {
    return {reinterpret_cast<std::uint64_t*>(bytes().data()), bytes().size() / 8};
  }
  /// The same memory as the current device sees it. Errors: cuda.
  Outcome<std::uint64_t*> on_device() const;

 private:
  struct Unpins {
    void operator()(NodeMemory* memory) const;
  };
  std::unique_ptr<NodeMemory, Unpins> memory_;
};

/// Where a GPU counts what is wrong.
class Counter {
 public:
  /// On the current device. Errors: cuda, memory.
  static Outcome<Counter> create();
  Outcome<> clear(cudaStream_t stream) const;
  Mismatches* on_device() const { return static_cast<Mismatches*>(memory_.get()); }
  /// Waits for the stream. Errors: cuda.
  Outcome<Mismatches> read(cudaStream_t stream) const;

 private:
  DeviceMemory memory_;
};

}  // namespace cupel::burn
