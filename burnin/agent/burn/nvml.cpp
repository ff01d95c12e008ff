#include "burnin/agent/burn/nvml.h"

#include <array>

#include "burnin/agent/burn/library.h"

namespace cupel::burn {

// Source: NVML API reference, R580: nvmlReturn_t is an int, 0 is success; nvmlDevice_t a pointer.
struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*driver)(char* version, unsigned length) = nullptr;
  int (*device)(const char* pci, void** device) = nullptr;
  int (*index)(void* device, unsigned* index) = nullptr;
  int (*temperature)(void* device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(void* device, unsigned* milliwatts) = nullptr;
  int (*power_limit)(void* device, unsigned* milliwatts) = nullptr;
  int (*mig)(void* device, unsigned* current, unsigned* pending) = nullptr;
};

namespace {

constexpr std::array<std::string_view, 2> kNames{"libnvidia-ml.so.1", "libnvidia-ml.so"};

}  // namespace

Outcome<Nvml> Nvml::open() { return open(kNames); }

Outcome<Nvml> Nvml::open(std::span<const std::string_view> names) {
  TRY(const auto library, Library::open(names));
  auto found = std::make_shared<Functions>();
  TRY(library.load(found->init, "nvmlInit_v2"));
  TRY(library.load(found->driver, "nvmlSystemGetDriverVersion"));
  TRY(library.load(found->device, "nvmlDeviceGetHandleByPciBusId_v2"));
  TRY(library.load(found->index, "nvmlDeviceGetIndex"));
  TRY(library.load(found->temperature, "nvmlDeviceGetTemperature"));
  TRY(library.load(found->power, "nvmlDeviceGetPowerUsage"));
  TRY(library.load(found->power_limit, "nvmlDeviceGetEnforcedPowerLimit"));
  TRY(library.load(found->mig, "nvmlDeviceGetMigMode"));
  if (const int status = found->init(); status != 0)
    return Failure{.code = "no-cuda-device",
                   .message = "NVML does not start (status " + std::to_string(status) +
                              "): is the driver loaded? see nvidia-smi"};
  Nvml nvml;
  nvml.functions_ = std::move(found);
  return nvml;
}

std::optional<std::string> Nvml::driver() const {
  std::array<char, 96> version{};
  if (functions_->driver(version.data(), version.size() - 1) != 0) return std::nullopt;
  return std::string{version.data()};
}

std::optional<void*> Nvml::device(const std::string& pci) const {
  void* found = nullptr;
  if (functions_->device(pci.c_str(), &found) != 0) return std::nullopt;
  return found;
}

std::optional<int> Nvml::index(const std::string& pci) const {
  const auto gpu = device(pci);
  unsigned index = 0;
  if (!gpu || functions_->index(*gpu, &index) != 0 || index > 1024) return std::nullopt;
  return static_cast<int>(index);
}

std::optional<int> Nvml::celsius(const std::string& pci) const {
  const auto gpu = device(pci);
  unsigned celsius = 0;
  if (!gpu || functions_->temperature(*gpu, 0, &celsius) != 0 || celsius > 200) return std::nullopt;
  return static_cast<int>(celsius);
}

std::optional<double> Nvml::watts(const std::string& pci) const {
  const auto gpu = device(pci);
  unsigned milliwatts = 0;
  if (!gpu || functions_->power(*gpu, &milliwatts) != 0) return std::nullopt;
  return milliwatts / 1000.0;
}

std::optional<double> Nvml::watts_limit(const std::string& pci) const {
  const auto gpu = device(pci);
  unsigned milliwatts = 0;
  if (!gpu || functions_->power_limit(*gpu, &milliwatts) != 0) return std::nullopt;
  return milliwatts / 1000.0;
}

std::optional<bool> Nvml::mig(const std::string& pci) const {
  const auto gpu = device(pci);
  unsigned current = 0;
  unsigned pending = 0;
  if (!gpu || functions_->mig(*gpu, &current, &pending) != 0) return std::nullopt;
  return current == 1;
}

}  // namespace cupel::burn
