// libcuda.so.1 as the program under test opens it: the calls of cuda/driver.h, which do what the
// CUDA Driver API's documentation says of them.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "tests/burn/fake/driver/faults.h"
#include "tests/burn/fake/driver/kernels.h"
#include "tests/burn/fake/driver/machine.h"

// The header maps it to a later variant, which drivers before CUDA 12.8 have not.
#undef cuEventElapsedTime

namespace {

namespace fake = cupel::burn::fake;

thread_local CUctx_st* current = nullptr;

CUresult state_of(const CUctx_st& gpu) { return static_cast<CUresult>(gpu.dead.load()); }

/// Of the current GPU.
CUresult state() { return current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : state_of(*current); }

char* at(CUdeviceptr memory) { return reinterpret_cast<char*>(memory); }

CUresult put(CUstream stream, fake::Operation operation) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  if (stream == nullptr) fake::misuse("work on the default stream");
  if (&stream->gpu() != current) fake::misuse("work on a stream of another GPU");
  stream->put(std::move(operation));
  return CUDA_SUCCESS;
}

void check_copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  fake::blocks().check(at(to), bytes, "a copy writes");
  fake::blocks().check(at(from), bytes, "a copy reads");
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  const char* const loading = std::getenv("CUDA_MODULE_LOADING");
  const bool eager = loading != nullptr && std::string_view{loading} == "EAGER";
  return eager || !fake::faults().wants_eager ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuDriverGetVersion(int* version) {
  *version = fake::faults().driver;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult status, const char** name) {
  *name = status == CUDA_ERROR_ECC_UNCORRECTABLE ? "CUDA_ERROR_ECC_UNCORRECTABLE"
                                                 : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = fake::faults().only ? 1 : fake::faults().gpus;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = fake::faults().only.value_or(ordinal);
  return fake::gpu_at(*device) == nullptr ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(size), "NVIDIA H100 80GB HBM3");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  std::memset(uuid, 0, sizeof *uuid);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = fake::faults().memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = fake::kSms;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = 0x10 + device;
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 4096;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 232'448;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  *can = device == peer ? 0 : 1;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (fake::faults().refuses == device) return CUDA_ERROR_UNKNOWN;
  *context = fake::gpu_at(device);
  return *context == nullptr ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  const std::scoped_lock lock{current->mutex};
  return current->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

// ---- memory

CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* all) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  *all = fake::faults().memory;
  *free_bytes = *all - std::min(*all, current->used.load());
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* memory, std::size_t bytes) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  if (current->used + bytes > fake::faults().memory) return CUDA_ERROR_OUT_OF_MEMORY;
  current->used += bytes;
  void* const block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  fake::blocks().add(block, bytes, current);
  *memory = reinterpret_cast<CUdeviceptr>(block);
  return CUDA_SUCCESS;
}

/// Waits for what its GPU has under way.
CUresult cuMemFree_v2(CUdeviceptr memory) {
  const auto [bytes, gpu] = fake::blocks().take(at(memory));
  gpu->used -= bytes;
  std::set<CUstream_st*> streams;
  {
    const std::scoped_lock lock{gpu->mutex};
    streams = gpu->streams;
  }
  for (auto* const stream : streams) stream->wait();
  std::free(at(memory));
  return state_of(*gpu);
}

CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  fake::blocks().add(*memory, bytes, current);
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* memory) {
  fake::blocks().take(memory);
  std::free(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  fake::blocks().add(memory, bytes, current);
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void* memory) {
  fake::blocks().take(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* seen, void* memory, unsigned) {
  *seen = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  check_copy(to, from, bytes);
  std::memcpy(at(to), at(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  check_copy(to, from, bytes);
  return put(stream, {.work = [=] { fake::copy(at(to), at(from), bytes); }});
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t bytes, CUstream stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, std::size_t bytes,
                         CUstream stream) {
  fake::blocks().check(at(memory), bytes, "a memset writes");
  return put(stream, {.work = [=] { std::memset(at(memory), value, bytes); }});
}

// ---- streams and events

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  *stream = new CUstream_st{*current};
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  delete stream;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  stream->wait();
  return state_of(stream->gpu());
}

CUresult cuStreamQuery(CUstream stream) {
  if (stream->gpu().dead != 0) return state_of(stream->gpu());
  return stream->is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  std::uint64_t which = 0;
  {
    const std::scoped_lock lock{event->mutex};
    which = event->recorded;
  }
  stream->put_mark([=] { event->wait_for(which); });
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  *event = new CUevent_st{*current};
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  fake::keep(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  if (&event->gpu != &stream->gpu()) return CUDA_ERROR_INVALID_HANDLE;
  std::uint64_t which = 0;
  {
    const std::scoped_lock lock{event->mutex};
    which = ++event->recorded;
  }
  stream->put_mark([=] {
    {
      const std::scoped_lock lock{event->mutex};
      event->done = which;
      event->at = fake::Clock::now();
    }
    event->happened.notify_all();
  });
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
  std::uint64_t which = 0;
  {
    const std::scoped_lock lock{event->mutex};
    which = event->recorded;
  }
  event->wait_for(which);
  return state_of(event->gpu);
}

CUresult cuEventQuery(CUevent event) {
  if (event->gpu.dead != 0) return state_of(event->gpu);
  const std::scoped_lock lock{event->mutex};
  return event->done < event->recorded ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  const std::scoped_lock lock{begin->mutex, end->mutex};
  if (begin->recorded == 0 || end->recorded == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (begin->done < begin->recorded || end->done < end->recorded) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return CUDA_SUCCESS;
}

// ---- kernels

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (const auto status = state(); status != CUDA_SUCCESS) return status;
  return fake::load(module, image);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return fake::find(function, module, name);
}

CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return state(); }

CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads,
                        unsigned, unsigned, unsigned, CUstream stream, void** values, void**) {
  return put(stream, fake::launch(function, blocks, threads, values));
}

/// For the stand-ins of cuBLASLt and NCCL: work on a stream, whose result may be wrong. `drop`
/// gives back the data, also of work that never ran.
CUresult fake_on_stream(CUstream stream, const char* what, void* result, void (*work)(void*),
                        void (*drop)(void*), void* data) {
  const std::shared_ptr<void> owned{data, drop};
  return put(stream, {.what = what, .memory = result, .work = [=] { work(owned.get()); }});
}
}
