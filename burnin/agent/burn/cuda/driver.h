#pragma once
// NVIDIA's driver (libcuda.so.1), opened when it is needed: every driver of CUDA 12 and later,
// which are those from 525 on, has all of these calls. Each is of the header's own type.
#include <cuda.h>

#include "base/result.h"

namespace cupel::burn {

struct Driver {
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) version = nullptr;
  decltype(&::cuGetErrorName) error_name = nullptr;
  decltype(&::cuDeviceGetCount) device_count = nullptr;
  decltype(&::cuDeviceGet) device = nullptr;
  decltype(&::cuDeviceGetName) device_name = nullptr;
  decltype(&::cuDeviceGetUuid) device_uuid = nullptr;
  decltype(&::cuDeviceTotalMem) device_memory = nullptr;
  decltype(&::cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&::cuDeviceCanAccessPeer) can_access_peer = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) primary_context = nullptr;
  decltype(&::cuCtxSetCurrent) set_context = nullptr;
  decltype(&::cuCtxEnablePeerAccess) enable_peer_access = nullptr;
  decltype(&::cuMemGetInfo) memory_info = nullptr;
  decltype(&::cuMemAlloc) allocate = nullptr;
  decltype(&::cuMemFree) free = nullptr;
  decltype(&::cuMemHostAlloc) host_allocate = nullptr;
  decltype(&::cuMemFreeHost) host_free = nullptr;
  decltype(&::cuMemHostRegister) host_register = nullptr;
  decltype(&::cuMemHostUnregister) host_unregister = nullptr;
  decltype(&::cuMemHostGetDevicePointer) host_device_pointer = nullptr;
  decltype(&::cuMemcpy) copy = nullptr;
  decltype(&::cuMemcpyAsync) copy_async = nullptr;
  decltype(&::cuMemcpyPeerAsync) copy_peer_async = nullptr;
  decltype(&::cuMemsetD8Async) set_async = nullptr;
  decltype(&::cuStreamCreate) stream_create = nullptr;
  decltype(&::cuStreamDestroy) stream_destroy = nullptr;
  decltype(&::cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&::cuStreamQuery) stream_query = nullptr;
  decltype(&::cuStreamWaitEvent) stream_wait_event = nullptr;
  decltype(&::cuEventCreate) event_create = nullptr;
  decltype(&::cuEventDestroy) event_destroy = nullptr;
  decltype(&::cuEventRecord) event_record = nullptr;
  decltype(&::cuEventSynchronize) event_synchronize = nullptr;
  decltype(&::cuEventQuery) event_query = nullptr;
  decltype(&::cuEventElapsedTime) event_elapsed = nullptr;
  decltype(&::cuModuleLoadData) module_load = nullptr;
  decltype(&::cuModuleGetFunction) module_function = nullptr;
  decltype(&::cuFuncSetAttribute) function_attribute = nullptr;
  decltype(&::cuLaunchKernel) launch = nullptr;

  /// Opened once. Errors: kNotFound, kUnsupported: no driver, or one that is older than 525.
  static const Result<Driver>& get();
};

}  // namespace cupel::burn
