#pragma once
// GPU memory, streams and events that end with their scope. Each belongs to the device that was
// current when it was made.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "burnin/agent/burn/cuda/cuda_check.h"

namespace cupel::burn {

/// Something of CUDA's that `End` gives back.
template <class Handle, cudaError_t (*End)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_{handle} {}
  Owned(Owned&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) End(handle_);
  }
  Handle get() const { return handle_; }
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Memory = Owned<void*, cudaFree>;
using Pinned = Owned<void*, cudaFreeHost>;

inline Outcome<Stream> make_stream() {
  cudaStream_t stream = nullptr;
  TRY(cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream"));
  return Stream{stream};
}

/// The host thread sleeps where it waits for it.
inline Outcome<Event> make_event(bool timed = true) {
  cudaEvent_t event = nullptr;
  const unsigned flags = cudaEventBlockingSync | (timed ? 0 : cudaEventDisableTiming);
  TRY(cuda(cudaEventCreateWithFlags(&event, flags), "creating an event"));
  return Event{event};
}

inline Outcome<Memory> make_memory(std::size_t bytes, std::string what) {
  void* memory = nullptr;
  TRY(cuda(cudaMalloc(&memory, bytes),
           "allocating " + std::to_string(bytes) + " bytes for " + what));
  return Memory{memory};
}

/// Of the host, pinned, so that copies need not wait.
inline Outcome<Pinned> make_pinned(std::size_t bytes) {
  void* memory = nullptr;
  TRY(cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "allocating pinned memory"));
  return Pinned{memory};
}

}  // namespace cupel::burn
