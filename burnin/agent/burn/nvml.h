#pragma once
// The few things that NVML is asked: temperature, watts, MIG, the driver's version. Opened when
// there, with declarations of our own; what it does not say is unknown, never zero.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "burnin/agent/burn/failure.h"

namespace cupel::burn {

class Nvml {
 public:
  /// Errors: no-library; no-cuda-device where it opens but does not start.
  static Outcome<Nvml> open(std::span<const std::string_view> names);
  static Outcome<Nvml> open();

  std::optional<std::string> driver() const;
  /// `pci` as "0000:1b:00.0".
  std::optional<int> celsius(const std::string& pci) const;
  std::optional<double> watts(const std::string& pci) const;
  std::optional<double> watts_limit(const std::string& pci) const;
  /// As nvidia-smi counts, also where CUDA does not see all of them.
  std::optional<int> index(const std::string& pci) const;
  std::optional<bool> mig(const std::string& pci) const;

 private:
  struct Functions;
  std::optional<void*> device(const std::string& pci) const;

  std::shared_ptr<const Functions> functions_;
};

}  // namespace cupel::burn
