#pragma once
// What the light test of a node compares with: /etc/cupel/check.json, as `cupel check conf` writes
// it from the node's profile. Without it only what is bad whatever the machine is bad.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

inline constexpr std::string_view kExpectationsFile = "/etc/cupel/check.json";

struct ExpectedPort {
  std::string name{};  // "mlx5_0": each of its ports
  double gbits = 0;
};

struct Expectations {
  std::optional<double> gpus{}, gpu_memory_gib{}, nvlinks{}, gpu_pcie_width{};
  std::optional<bool> ecc{}, fabric_manager{}, time_synchronised{};
  std::optional<double> hcas{}, nvme{}, memory_gib{};
  std::vector<ExpectedPort> ports{};
  std::vector<std::string> mounts{};                  // must be mounted; are not looked into
  std::map<std::string, double, std::less<>> free{};  // per cent of a local file system
};

/// Errors: kMalformed, naming the key that is unknown or is not what it must be.
Result<Expectations> parse_expectations(std::string_view text);

}  // namespace cupel::agent
