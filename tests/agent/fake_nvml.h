#pragma once
// The test's own libnvidia-ml.so.1, loaded by dlopen as the real one is
// (tests/agent/fake/nvml.cpp).
#include <dlfcn.h>

#include "burnin/agent/common/nvml.h"

namespace cupel::agent {

/// Numbers under the names of fake/nvml.cpp, until this goes.
class Planted {
 public:
  Planted() : loaded_{::dlopen(FAKE_NVML_WHOLE, RTLD_NOW | RTLD_LOCAL)} {}
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
  ~Planted() {
    reinterpret_cast<void (*)()>(::dlsym(loaded_, "fake_nvml_forget"))();
    ::dlclose(loaded_);
  }
  void plant(unsigned gpu, const char* name, double value) const {
    using Plant = void (*)(unsigned, const char*, double);
    reinterpret_cast<Plant>(::dlsym(loaded_, "fake_nvml_plant"))(gpu, name, value);
  }

 private:
  void* loaded_;
};

}  // namespace cupel::agent
