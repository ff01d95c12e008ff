#pragma once
// One kind of machine: what is in it, which firmware it should carry, what it draws, how much
// patience it needs, and the numbers that it must reach. Data only; loaded by
// inventory/load_profile.h.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/baseline.h"
#include "inventory/boot.h"
#include "inventory/machine_settings.h"
#include "inventory/parts.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// So many parts of one kind. What is empty is not checked.
struct ExpectedParts {
  PartKind kind{};
  int count = 0;
  std::vector<std::string> models{};  // any of these, each as a part of what is told, ignoring case
  std::optional<double> size_bytes{};  // each
  double size_tolerance = 0.02;        // share of size_bytes
  std::optional<double> cores{};       // of each CPU
  std::vector<std::string> pci{};      // addresses in the order of the names: gpu0, gpu1, ...
  std::string source{};                // datasheet
  Place where{};
};

/// A BIOS setting that matters to what the machine is for.
struct ExpectedSetting {
  std::string attribute;  // as the BMC's BIOS registry calls it
  std::string value;
  std::string source{};
  Place where{};
};

/// What one measurement of one stage must meet, for each of `parts`.
struct Criterion {
  std::string stage;    // "gpu-facts"
  std::string measure;  // "gpu.ecc.uncorrected"
  /// "gpu0".."gpu7"; one empty text: the node as a whole; "dimm *": all of such a name that tell a
  /// number, however many.
  std::vector<std::string> parts{};
  std::optional<double> at_least{};
  std::optional<double> at_most{};
  std::string unit{};
  std::string remedy{};  // what a person should do about a failure
  std::string source{};  // where the number comes from
  Place where{};
  /// Limits that are as many as there are parts of a kind; empty once a profile is loaded.
  std::optional<PartKind> at_least_count{};
  std::optional<PartKind> at_most_count{};
};

struct Patience {
  std::chrono::seconds power_on{120};
  std::chrono::seconds post{900};  // power-on to SSH
  std::chrono::seconds bmc_restart{300};
};

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
  /// The compute HCAs, rail by rail: ["mlx5_0", "mlx5_1", ...]. Empty: not told.
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
