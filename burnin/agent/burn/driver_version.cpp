#include "burnin/agent/burn/driver_version.h"

#include <array>

namespace cupel::burn {
namespace {

using agent::SharedLibrary;

constexpr int kOldest = 12'000;

Result<void> check(const SharedLibrary& driver) {
  TRY(const int version, cuda_of_driver(driver));
  if (version < kOldest)
    return Error{Code::kUnsupported, driver.path() + " is of CUDA " + cuda_version_text(version) +
                                         "; drivers from 525 on have CUDA 12 or later"};
  return ok();
}

}  // namespace

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<SharedLibrary> open_driver() {
  const std::array<std::string, 1> names{"libcuda.so.1"};
  return within("no usable NVIDIA driver, which must be 525 or later",
                SharedLibrary::open(names, check));
}

Result<int> cuda_of_driver(const SharedLibrary& driver) {
  int (*ask)(int*) = nullptr;
  TRY(driver.load(ask, "cuDriverGetVersion"));
  int version = 0;
  if (const int status = ask(&version); status != 0)
    return Error{Code::kUnsupported, driver.path() + " does not report its version: CUDA error " +
                                         std::to_string(status)};
  return version;
}

}  // namespace cupel::burn
