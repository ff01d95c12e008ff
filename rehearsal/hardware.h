#pragma once
// What is screwed into one virtual machine: made from its profile and its faults, the same every
// time for the same name and seed. Data only.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "rehearsal/fault.h"

namespace cupel::rehearsal {

struct Gpu {
  int index = 0;        // position on the baseboard, also where a neighbour is missing
  std::string name{};   // "gpu0"
  std::string model{};  // "H100 80GB HBM3"
  std::string serial{}, uuid{}, pci{};
  double bytes = 0;
  std::string vbios{};
  int gen = 5, gen_max = 5, width = 16, width_max = 16;
  std::uint64_t uncorrected = 0;
  bool remap_pending = false;
  int numa = 0;
};

struct Cpu {
  std::string name{}, model{};
  int cores = 0;
};

struct Dimm {
  std::string name{};     // "dimm A7"
  std::string locator{};  // "DIMM A7", as BMC and dmidecode say it
  std::string model{}, serial{}, manufacturer{};
  double bytes = 0;
  int mts = 4400;  // the rate that it was trained to
  bool present = true;
};

/// What a link trained to, and what both its ends can.
struct PcieLink {
  int gen = 5, gen_max = 5, width = 16, width_max = 16;
};

struct Drive {
  std::string name{}, model{}, serial{}, pci{}, firmware{};
  double bytes = 0;
  bool slow = false, broken = false;
  PcieLink link{4, 4, 4, 4};
};

struct Psu {
  std::string name{}, model{}, serial{}, firmware{};
};

struct Adapter {
  std::string name{};  // "mlx5_0" or "eno1"
  std::string model{}, serial{}, pci{}, mac{}, guid{}, firmware{};
  bool infiniband = false;
  int numa = 0;
  PcieLink link{};
};

/// What it is called on its link: six bytes, and of InfiniBand's twenty the queue pair and the
/// port's GID. Source: RFC 4391, 9.1.1.
std::string link_address(const Adapter& adapter);

/// Of the BMC of a machine of that serial number. Of a vendor's range, as real ones are: a local
/// address is that of a link inside the machine.
std::string bmc_mac_of(std::string_view serial);

struct NvSwitch {
  std::string name{}, pci{};  // "nvswitch0"
};

struct Fan {
  std::string name{};  // "fan0"
};

struct Hardware {
  std::string node, profile;
  std::string manufacturer, model, serial, uuid;
  std::string bmc_mac;  // of its BMC's own port: "94:6d:ae:00:11:22"
  std::vector<Gpu> gpus;
  std::vector<Cpu> cpus;
  std::vector<Dimm> dimms;
  std::vector<Drive> drives;
  std::vector<Psu> psus;
  std::vector<Adapter> adapters;
  std::vector<NvSwitch> nvswitches;
  std::vector<Fan> fans;
  std::map<std::string, std::string> firmware;  // component: version
  double idle_watts = 0, loaded_watts = 0;
  int threads_of_core = 2;

  double memory_bytes() const;
  int cores() const;
  int threads() const { return cores() * threads_of_core; }
  /// The version of a component, or `otherwise` where the profile does not speak of it.
  std::string version(const std::string& component, const std::string& otherwise) const;
};

/// Never fails: what a profile does not say gets a plausible default.
Hardware make_hardware(const inventory::Profile& profile, const std::string& node,
                       std::uint64_t seed, std::span<const Fault> faults);

/// What `component` is called there ("HostBIOS_0", "HGX_FW_GPU_SXM_3", "PSU_2", "mlx5_0", "nvme3")
/// runs that version.
void set_version(Hardware& hardware, const std::string& component, const std::string& version);

/// The two GPUs, DIMMs, drives or supplies of these names sit in each other's place: their serial
/// numbers change, and of GPUs the UUIDs. Names, addresses and what faults have done to a place
/// stay. Nothing where it has not both.
void exchange_parts(Hardware& hardware, const std::string& one, const std::string& other);

}  // namespace cupel::rehearsal
