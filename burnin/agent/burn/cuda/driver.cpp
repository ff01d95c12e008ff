#include "burnin/agent/burn/cuda/driver.h"

#include <array>

#include "burnin/agent/burn/driver_version.h"
#include "burnin/agent/common/shared_library.h"

namespace cupel::burn {
namespace {

/// By the names of CUDA 12's first driver: the header may map a call to a later variant.
Result<Driver> load(const agent::SharedLibrary& library) {
  Driver driver;
  TRY(library.load(driver.init, "cuInit"));
  TRY(library.load(driver.version, "cuDriverGetVersion"));
  TRY(library.load(driver.error_name, "cuGetErrorName"));
  TRY(library.load(driver.device_count, "cuDeviceGetCount"));
  TRY(library.load(driver.device, "cuDeviceGet"));
  TRY(library.load(driver.device_name, "cuDeviceGetName"));
  TRY(library.load(driver.device_uuid, "cuDeviceGetUuid_v2"));
  TRY(library.load(driver.device_memory, "cuDeviceTotalMem_v2"));
  TRY(library.load(driver.device_attribute, "cuDeviceGetAttribute"));
  TRY(library.load(driver.can_access_peer, "cuDeviceCanAccessPeer"));
  TRY(library.load(driver.primary_context, "cuDevicePrimaryCtxRetain"));
  TRY(library.load(driver.set_context, "cuCtxSetCurrent"));
  TRY(library.load(driver.enable_peer_access, "cuCtxEnablePeerAccess"));
  TRY(library.load(driver.memory_info, "cuMemGetInfo_v2"));
  TRY(library.load(driver.allocate, "cuMemAlloc_v2"));
  TRY(library.load(driver.free, "cuMemFree_v2"));
  TRY(library.load(driver.host_allocate, "cuMemHostAlloc"));
  TRY(library.load(driver.host_free, "cuMemFreeHost"));
  TRY(library.load(driver.host_register, "cuMemHostRegister_v2"));
  TRY(library.load(driver.host_unregister, "cuMemHostUnregister"));
  TRY(library.load(driver.host_device_pointer, "cuMemHostGetDevicePointer_v2"));
  TRY(library.load(driver.copy, "cuMemcpy"));
  TRY(library.load(driver.copy_async, "cuMemcpyAsync"));
  TRY(library.load(driver.copy_peer_async, "cuMemcpyPeerAsync"));
  TRY(library.load(driver.set_async, "cuMemsetD8Async"));
  TRY(library.load(driver.stream_create, "cuStreamCreate"));
  TRY(library.load(driver.stream_destroy, "cuStreamDestroy_v2"));
  TRY(library.load(driver.stream_synchronize, "cuStreamSynchronize"));
  TRY(library.load(driver.stream_query, "cuStreamQuery"));
  TRY(library.load(driver.stream_wait_event, "cuStreamWaitEvent"));
  TRY(library.load(driver.event_create, "cuEventCreate"));
  TRY(library.load(driver.event_destroy, "cuEventDestroy_v2"));
  TRY(library.load(driver.event_record, "cuEventRecord"));
  TRY(library.load(driver.event_synchronize, "cuEventSynchronize"));
  TRY(library.load(driver.event_query, "cuEventQuery"));
  TRY(library.load(driver.event_elapsed, "cuEventElapsedTime"));
  TRY(library.load(driver.module_load, "cuModuleLoadData"));
  TRY(library.load(driver.module_function, "cuModuleGetFunction"));
  TRY(library.load(driver.function_attribute, "cuFuncSetAttribute"));
  TRY(library.load(driver.launch, "cuLaunchKernel"));
  return driver;
}

Result<Driver> open() {
  TRY(const auto library, open_driver());
  return load(library);
}

}  // namespace

const Result<Driver>& Driver::get() {
  static const Result<Driver> driver = open();
  return driver;
}

}  // namespace cupel::burn
