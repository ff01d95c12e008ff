#pragma once
// One number of one part at one moment, and who reads such numbers. Samplers open what they need
// once and then only read.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/common/nvml.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// `part` and `name` stay as long as the sampler does.
struct Reading {
  std::string_view part;  // "gpu3", "mlx5_0", "cpu1", "fan2", "mc0"
  std::string_view name;  // of kQuantities
  double value = 0;
};

struct Quantity {
  std::string_view name, unit;
  bool counts = false;  // only ever grows: what matters is by how much
};

/// All that may be sampled. "throttle" holds NVML's bits, and is reported in words.
const Quantity* quantity(std::string_view name);

struct Gap {
  std::string fact, source, why;
};

class Sampler {
 public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  virtual ~Sampler() = default;
  /// Adds what can be read now; `slow` also what changes seldom or costs much.
  virtual void read(bool slow, std::vector<Reading>& into) = 0;
  /// What it will never read, with the reason. After the first read().
  virtual std::vector<Gap> gaps() const = 0;
};

/// The library outlives it.
std::unique_ptr<Sampler> gpu_sampler(const nvml::Library& library);
/// Ports of HCAs and RoCE devices: data each time, errors when slow.
std::unique_ptr<Sampler> port_sampler(const Tree& tree);
/// hwmon: CPU packages, fans, and (slow) drives; CPU clocks of a few CPUs of each socket.
std::unique_ptr<Sampler> heat_sampler(const Tree& tree);
/// EDAC's counts, only slow.
std::unique_ptr<Sampler> memory_sampler(const Tree& tree);

}  // namespace cupel::agent
