#pragma once
// A node's GPUs as their driver tells of them at one moment: hardware, physics, faults and what
// somebody set, in one place, so that no two tools disagree. A snapshot: it knows nothing of later.
#include <cstdint>
#include <string>
#include <vector>

#include "rehearsal/hardware.h"
#include "rehearsal/tools/gpu_driver.h"
#include "rehearsal/tools/gpu_model.h"

namespace cupel::rehearsal {

class Host;
class Machine;

struct NvLink {
  bool up = true;
  std::uint64_t replays = 0, recoveries = 0, crc = 0;
};

struct EccCounts {
  std::uint64_t dram_corrected = 0, dram_uncorrected = 0;
  std::uint64_t sram_corrected = 0, sram_uncorrected = 0;
};

struct RowRemaps {
  std::uint64_t correctable = 0, uncorrectable = 0;
  bool pending = false, failed = false;
  std::uint64_t low_banks = 0, empty_banks = 0;  // with few spare rows left, with none
};

/// The ClusterUUID of a GPU that is in no NVLink domain.
inline constexpr std::string_view kNoCluster = "00000000-0000-0000-0000-000000000000";

struct GpuView {
  int index = 0;  // as nvidia-smi counts: a GPU that the driver never saw has none
  Gpu part{};
  GpuModel model{};
  bool lost = false;  // it fell off its bus while the driver held it
  bool persistence = true, mig = false, mig_pending = false, ecc = true, ecc_pending = true;
  std::string compute_mode{};
  double watts = 0, limit_watts = 0, requested_watts = 0;
  int celsius = 0, memory_celsius = 0;
  int sm_mhz = 0, memory_mhz = 0;
  std::uint64_t throttle = 0;     // NVML's bits
  int busy = 0, memory_busy = 0;  // per cent
  EccCounts volatile_ecc{}, lifetime_ecc{};
  RowRemaps remaps{};
  std::uint64_t pcie_replays = 0, pcie_rollovers = 0;
  bool inforom_valid = true;
  std::vector<NvLink> links{};
  std::vector<GpuProcess> processes{};
  int used_mib = 0;
  std::string recovery = "None";
  std::string fabric_state{}, fabric_status{};
  /// Of a GPU that has joined: an NVL72's are in the partition of all of the rack's GPUs; a machine
  /// that is a fabric by itself has neither, which its tools write as zeros.
  std::string fabric_clique = "0", fabric_cluster{kNoCluster};

  bool idle() const { return (throttle & 1) != 0; }
  std::string product() const;  // "NVIDIA H100 80GB HBM3"
  std::string bus_id() const;   // "00000000:1B:00.0"
  long mib() const { return static_cast<long>(part.bytes / 1048576); }
  int links_up() const;
};

/// Of a compute tray of an NVL72.
bool is_of_nvl72(const GpuModel& model);

/// The ClusterUUID of a rack's NVLink domain: always the same for the same name.
std::string domain_uuid(std::string_view rack);

struct DriverView {
  bool loaded = true;     // without its module no program finds a GPU
  std::string version{};  // of the kernel's module
  std::string library{};  // of NVML: another one after an upgrade without a restart
  std::string cuda{};
  double now = 0;  // seconds since 1970
  std::vector<GpuView> gpus{};

  bool any_lost() const;
};

/// Everything as it is now.
DriverView look_at_gpus(Host& host);

/// nvidia-fabricmanager's version and whether it serves: without it no GPU joins the NVLink fabric.
struct FabricService {
  bool running = true;
  std::string version{};
  bool serves = true;
};
FabricService fabric_manager(const Host& host);

/// Whether the kernel has loaded the driver's module.
bool is_driver_loaded(const Machine& machine);

/// Of the kernel's module, where the profile does not say another one.
std::string driver_version(const Hardware& hardware);

}  // namespace cupel::rehearsal
