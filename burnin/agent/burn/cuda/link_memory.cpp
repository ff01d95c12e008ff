#include "burnin/agent/burn/cuda/link_memory.h"

namespace cupel::burn {

Outcome<StreamHandle> new_stream() {
  cudaStream_t stream = nullptr;
  TRY(cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream"));
  return StreamHandle{stream};
}

Outcome<EventHandle> new_event() {
  cudaEvent_t event = nullptr;
  TRY(cuda(cudaEventCreate(&event), "creating an event"));
  return EventHandle{event};
}

Outcome<DeviceMemory> device_memory(std::size_t bytes) {
  void* memory = nullptr;
  TRY(cuda(cudaMalloc(&memory, bytes),
           "allocating " + std::to_string(bytes >> 20) + " MiB of the GPU's memory"));
  return DeviceMemory{memory};
}

Outcome<double> milliseconds_between(const EventHandle& begin, const EventHandle& end) {
  float milliseconds = 0;
  TRY(cuda(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "reading a GPU's clock"));
  return double{milliseconds};
}

void HostMemory::Unpins::operator()(NodeMemory* memory) const {
  cudaHostUnregister(memory->bytes().data());
  delete memory;
}

Outcome<HostMemory> HostMemory::on(std::optional<int> node, std::size_t bytes) {
  TRY(auto memory, NodeMemory::on(node, bytes));
  TRY(cuda(cudaHostRegister(memory.bytes().data(), bytes,
                            cudaHostRegisterPortable | cudaHostRegisterMapped),
           "pinning " + std::to_string(bytes >> 20) + " MiB of the host's memory"));
  HostMemory pinned;
  pinned.memory_.reset(new NodeMemory{std::move(memory)});
  return pinned;
}

Outcome<std::uint64_t*> HostMemory::on_device() const {
  void* seen = nullptr;
  TRY(cuda(cudaHostGetDevicePointer(&seen, bytes().data(), 0), "mapping the host's memory"));
  return static_cast<std::uint64_t*>(seen);
}

Outcome<Counter> Counter::create() {
  Counter counter;
  TRY(counter.memory_, device_memory(sizeof(Mismatches)));
  return counter;
}

Outcome<> Counter::clear(cudaStream_t stream) const {
  return cuda(cudaMemsetAsync(memory_.get(), 0, sizeof(Mismatches), stream), "clearing a counter");
}

Outcome<Mismatches> Counter::read(cudaStream_t stream) const {
  Mismatches found;
  TRY(cuda(cudaMemcpyAsync(&found, memory_.get(), sizeof found, cudaMemcpyDeviceToHost, stream),
           "reading what a GPU found wrong"));
  TRY(cuda(cudaStreamSynchronize(stream), "waiting for what a GPU found wrong"));
  return found;
}

}  // namespace cupel::burn
