// The calls of the CUDA runtime that this program makes, over the driver. NVIDIA's own runtime
// starts only on drivers of the CUDA it came with, and nodes have older ones. The declarations are
// NVIDIA's; each call does what the CUDA Runtime API's documentation says of it, as far as it is
// used here. Numbers of errors, flags and attributes are the same in both interfaces.
#include <cuda_runtime_api.h>

#include <cstring>

#include "burnin/agent/burn/cuda/gpus.h"

using cupel::burn::Driver;
using cupel::burn::kept;
using cupel::burn::LoadedGpu;
using cupel::burn::LoadedGpus;

namespace {

static_assert(cudaErrorNotReady == static_cast<int>(CUDA_ERROR_NOT_READY));
static_assert(cudaErrorPeerAccessAlreadyEnabled ==
              static_cast<int>(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
static_assert(cudaErrorPeerAccessUnsupported ==
              static_cast<int>(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED));
static_assert(cudaErrorMemoryAllocation == static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY));
static_assert(cudaErrorECCUncorrectable == static_cast<int>(CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(cudaStreamNonBlocking == static_cast<int>(CU_STREAM_NON_BLOCKING));
static_assert(cudaEventBlockingSync == static_cast<int>(CU_EVENT_BLOCKING_SYNC));
static_assert(cudaEventDisableTiming == static_cast<int>(CU_EVENT_DISABLE_TIMING));
static_assert(cudaHostRegisterPortable == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(cudaHostRegisterMapped == CU_MEMHOSTREGISTER_DEVICEMAP);
static_assert(cudaDevAttrL2CacheSize == static_cast<int>(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
static_assert(cudaDevAttrMaxSharedMemoryPerBlockOptin ==
              static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));

/// With the calling thread's GPU current: what `call` gives.
template <class Call>
cudaError_t on_gpu(const Call& call) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  LoadedGpu* gpu = nullptr;
  if (const auto status = all->current(gpu); status != cudaSuccess) return status;
  return kept(call(all->driver()));
}

/// Asks of a GPU that need not be started.
template <class Call>
cudaError_t of_gpu(int ordinal, const Call& call) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  const auto* const gpu = all->at(ordinal);
  if (gpu == nullptr) return kept(cudaErrorInvalidDevice);
  return kept(call(all->driver(), gpu->device()));
}

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

extern "C" {

// ---- the driver and its GPUs

cudaError_t cudaDriverGetVersion(int* version) {
  const auto& driver = Driver::get();
  *version = 0;
  return driver ? kept(driver->version(version)) : cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t status) {
  const char* name = nullptr;
  const auto& driver = Driver::get();
  if (status == cudaErrorInsufficientDriver) return "cudaErrorInsufficientDriver";
  if (driver) static_cast<void>(driver->error_name(static_cast<CUresult>(status), &name));
  return name == nullptr ? "unknown error" : name;
}

cudaError_t cudaGetDeviceCount(int* count) {
  LoadedGpus* all = nullptr;
  *count = 0;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  *count = all->count();
  return *count == 0 ? kept(cudaErrorNoDevice) : cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  return all->choose(ordinal);
}

cudaError_t cudaGetDevice(int* ordinal) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  *ordinal = all->chosen();
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
  return of_gpu(ordinal, [&](const Driver& driver, CUdevice device) {
    return driver.device_attribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

/// Those that this program reads; all others are 0.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  std::memset(static_cast<void*>(properties), 0, sizeof *properties);
  return of_gpu(ordinal, [&](const Driver& driver, CUdevice device) {
    CUuuid uuid{};
    auto status = driver.device_name(properties->name, sizeof properties->name, device);
    const auto then = [&status](const auto& call) {
      if (status == CUDA_SUCCESS) status = call();
    };
    const auto attribute = [&](CUdevice_attribute which, int& value) {
      then([&] { return driver.device_attribute(&value, which, device); });
    };
    then([&] { return driver.device_uuid(&uuid, device); });
    then([&] { return driver.device_memory(&properties->totalGlobalMem, device); });
    attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, properties->major);
    attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, properties->minor);
    attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, properties->multiProcessorCount);
    attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, properties->pciDomainID);
    attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, properties->pciBusID);
    attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, properties->pciDeviceID);
    std::memcpy(properties->uuid.bytes, uuid.bytes, sizeof uuid.bytes);
    return status;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int ordinal, int peer) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  const auto* const own = all->at(ordinal);
  const auto* const other = all->at(peer);
  if (own == nullptr || other == nullptr) return kept(cudaErrorInvalidDevice);
  return kept(all->driver().can_access_peer(can, own->device(), other->device()));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  auto* const other = all->at(peer);
  if (other == nullptr) return kept(cudaErrorInvalidDevice);
  if (const auto status = other->start(all->driver()); status != CUDA_SUCCESS) return kept(status);
  // Starting it has made its context this thread's.
  if (const auto status = all->choose(all->chosen()); status != cudaSuccess) return status;
  return kept(all->driver().enable_peer_access(other->context(), flags));
}

// ---- memory

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  return on_gpu([&](const Driver& driver) { return driver.memory_info(free_bytes, all_bytes); });
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  CUdeviceptr found = 0;
  const auto status = on_gpu([&](const Driver& driver) { return driver.allocate(&found, bytes); });
  *memory = reinterpret_cast<void*>(found);
  return status;
}

cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  return on_gpu([&](const Driver& driver) { return driver.free(address(memory)); });
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return on_gpu([&](const Driver& driver) { return driver.host_allocate(memory, bytes, flags); });
}

cudaError_t cudaFreeHost(void* memory) {
  return on_gpu([&](const Driver& driver) { return driver.host_free(memory); });
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return on_gpu([&](const Driver& driver) { return driver.host_register(memory, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* memory) {
  return on_gpu([&](const Driver& driver) { return driver.host_unregister(memory); });
}

cudaError_t cudaHostGetDevicePointer(void** seen, void* memory, unsigned flags) {
  CUdeviceptr found = 0;
  const auto status = on_gpu(
      [&](const Driver& driver) { return driver.host_device_pointer(&found, memory, flags); });
  *seen = reinterpret_cast<void*>(found);
  return status;
}

// Which way a copy goes the driver sees by the addresses.

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return on_gpu(
      [&](const Driver& driver) { return driver.copy(address(to), address(from), bytes); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return on_gpu([&](const Driver& driver) {
    return driver.copy_async(address(to), address(from), bytes, stream);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_gpu, const void* from, int from_gpu,
                                std::size_t bytes, cudaStream_t stream) {
  LoadedGpus* all = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  const auto* const receiver = all->at(to_gpu);
  const auto* const sender = all->at(from_gpu);
  if (receiver == nullptr || sender == nullptr) return kept(cudaErrorInvalidDevice);
  return on_gpu([&](const Driver& driver) {
    return driver.copy_peer_async(address(to), receiver->context(), address(from),
                                  sender->context(), bytes, stream);
  });
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return on_gpu([&](const Driver& driver) {
    return driver.set_async(address(memory), static_cast<unsigned char>(value), bytes, stream);
  });
}

// ---- streams and events

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return on_gpu([&](const Driver& driver) { return driver.stream_create(stream, flags); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return on_gpu([&](const Driver& driver) { return driver.stream_destroy(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return on_gpu([&](const Driver& driver) { return driver.stream_synchronize(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_gpu([&](const Driver& driver) { return driver.stream_query(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return on_gpu(
      [&](const Driver& driver) { return driver.stream_wait_event(stream, event, flags); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return on_gpu([&](const Driver& driver) { return driver.event_create(event, flags); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return on_gpu([&](const Driver& driver) { return driver.event_destroy(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return on_gpu([&](const Driver& driver) { return driver.event_record(event, stream); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return on_gpu([&](const Driver& driver) { return driver.event_synchronize(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return on_gpu([&](const Driver& driver) { return driver.event_query(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return on_gpu(
      [&](const Driver& driver) { return driver.event_elapsed(milliseconds, begin, end); });
}

}  // extern "C"
