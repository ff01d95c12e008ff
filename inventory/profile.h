#pragma once
// One kind of machine: what is in it, which firmware it should carry, what it draws, how much
// patience it needs, and the numbers that it must reach. Data only; loaded by
// inventory/load_profile.h.
#include <string>
#include <vector>

#include "inventory/baseline.h"
#include "inventory/criterion.h"
#include "inventory/expected_parts.h"
#include "inventory/machine_settings.h"
#include "inventory/patience.h"
#include "inventory/problem.h"
#include "inventory/profile_os.h"

namespace cupel::inventory {

struct Draw {
  double idle_watts = 0;
  double loaded_watts = 0;
};

struct Profile {
  std::string name;
  std::string description{};
  int units = 1;  // height in the rack
  std::vector<ExpectedParts> parts{};
  std::vector<ExpectedFirmware> firmware{};
  std::vector<ExpectedSetting> bios{};
  MachineSettings settings{};
  ProfileOs os{};
  Draw draw{};
  Patience patience{};
  std::vector<Criterion> criteria{};
  /// The compute HCAs, rail by rail: ["mlx5_0", "mlx5_1", ...]. Empty: not reported.
  std::vector<std::string> rails{};
  std::string gpu_type{};         // Slurm's Gres type: "h100"
  int slurm_cpus = 0;             // logical CPUs
  double slurm_memory_bytes = 0;  // RealMemory, rounded down to MiB by the printer
  Place where{};

  bool has_gpus() const;
  /// Whether its baseline can be written, and not only judged: by the BMC, on the node.
  bool has_bmc_images() const;
  bool has_node_images() const;
};

}  // namespace cupel::inventory
