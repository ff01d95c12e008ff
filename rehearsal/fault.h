#pragma once
// What can be wrong with a virtual machine: one table (fault_table.cpp), so that a rack's file, its
// errors, the catalogue and the documentation all speak of the same faults. Data only: where a
// fault shows, there it is looked up.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/clock.h"

namespace cupel::rehearsal {

enum class FaultKind {
  gpu_missing,
  gpu_off_bus,
  gpu_ecc,
  gpu_wants_reset,
  gpu_wants_reset_again,
  gpu_remap_pending,
  gpu_remap_failed,
  gpu_wrong_results,
  gpu_hot,
  gpu_power_capped,
  gpu_slow_memory,
  gpu_slow_link,
  gpu_slow_rdma,
  gpu_xid,
  gpu_busy,
  gpu_wrong_size,
  nvlink_down,
  nvlink_errors,
  nvswitch_fatal,
  fabric_manager_off,
  fabric_manager_version,
  driver_mismatch,
  driver_not_loaded,
  mig_on,
  ecc_off,
  persistence_off,
  gpu_report,
  gpu_clock_locked,
  hca_missing,
  hca_slow,
  hca_slow_link,
  hca_down,
  hca_errors,
  hca_flapping,
  hca_ethernet,
  cables_swapped,
  wrong_rail,
  cables_crossed,
  hca_blocked,
  cable_slow,
  cable_loses_packets,
  pair_slow,
  uplink_exchanged,
  node_slow,
  cage_bad,
  leaf_port_bad,
  leaf_slow,
  spine_slow,
  uplink_slow,
  gid_wrong,
  nccl_setting,
  ports_blocked,
  dimm_missing,
  dimm_too_small,
  dimm_slow,
  memory_slow,
  dimm_storm,
  dimm_uncorrected,
  nvme_missing,
  nvme_worn,
  nvme_slow_link,
  nvme_no_sanitize,
  nvme_sanitize_fails,
  nvme_sanitize_locked,
  disk_slow,
  disk_errors,
  disk_full,
  psu_missing,
  psu_feed_lost,
  fan_stuck,
  leak,
  cpu_missing,
  smt_off,
  cpu_throttled,
  cpu_core_wrong,
  memory_errors,
  wrong_bios_setting,
  settings_ignored,
  wrong_firmware,
  firmware_stuck,
  firmware_unchanged,
  firmware_not_active,
  firmware_refused,
  firmware_interrupted,
  firmware_unverified,
  firmware_full,
  firmware_task_lost,
  firmware_part_fails,
  firmware_bad_signature,
  firmware_any_model,
  firmware_bricks,
  firmware_needs_ac,
  firmware_busy,
  firmware_no_space,
  lifecycle_busy,
  upload_cut,
  upload_restarts_bmc,
  session_dies,
  bmc_dead,
  bmc_hung,
  bmc_busy,
  bmc_sessions_full,
  bmc_locked,
  bmc_wrong_password,
  bmc_certificate_changed,
  bmc_resets,
  bmc_clock_wrong,
  bmc_log_entry,
  bmc_mac_twice,
  ipmi_suite_3_only,
  ipmi_silent,
  ipmi_lossy,
  boot_hangs,
  boot_loops,
  kernel_panic,
  node_restarts,
  no_pxe,
  dhcp_silent,
  wrong_boot_device,
  node_clock_wrong,
  time_service_off,
  ssh_host_key_changed,
  ssh_drops,
  node_swapped,
  node_renamed,
  serial_twice,
  slurm_unaware,
  hot_inlet,
  cords_on_one_feed,
  outlet_elsewhere,
  kernel_line,
  nvme_too_small,
  nvme_not_empty,
  serial_wrong,
  bmc_crossed,
  boot_override_ignored,
  boot_override_kept,
  boot_file_refused,
  http_entry_stays,
  old_system_first,
  image_corrupted,
  write_interrupted,
  nvram_full,
  wrong_arch,
};

/// What must exist in the controller before it can look for a fault. `nothing`: stages of today do.
enum class Needs {
  nothing,
  burn_in,   // load on GPUs, NVLink and HCAs inside a node
  fabric,    // tests between nodes
  firmware,  // the roll-out of firmware and settings
  os,        // the installation of an operating system
  sanitize,  // the erase of drives before a machine leaves
};
std::string_view to_string(Needs needs);

/// What the word `part` of a fault names.
enum class PartClass { none, gpu, nvswitch, dimm, drive, psu, fan, cpu, hca };

/// When a fault is there. All of it in the rack's time; without a word: always.
struct Timing {
  VirtualTime after{0};                // since the rack stands
  std::optional<VirtualTime> every{};  // it comes back so often...
  std::optional<VirtualTime> lasts{};  // ...and stays so long; without `every`: it is over then
  std::string under{};                 // only while this load runs: a name of physics/load.h's Work

  bool at(VirtualTime now) const;
  /// How often it has begun until then.
  int begun(VirtualTime now) const;
  /// When it next begins or ends; nothing where it never does again. `under` is not looked at.
  std::optional<VirtualTime> next(VirtualTime now) const;
  friend bool operator==(const Timing&, const Timing&) = default;
};

/// One fault of one node. What the kind does not ask for stays empty.
struct Fault {
  FaultKind kind{};
  std::string part{};                 // "gpu5", "dimm A7", "psu2", "nvme0", "mlx5_3", "fan4"
  std::optional<double> bytes{};      // size
  std::optional<VirtualTime> span{};  // the kind's own `for`, `after` or `every`
  std::optional<int> errors{};
  std::optional<int> gen{};  // of a PCIe link
  std::optional<int> width{};
  std::optional<int> every{};  // of datagrams, each n-th
  std::string component{};     // of the firmware; the setting; the line, message or field
  std::string version{};  // of it; a setting's, field's or severity's value; a written identity
  std::optional<double> amount{};  // watts, celsius, share, gbit, percent, mhz or years
  std::optional<int> number{};  // link, sm, core, code, uplink, cores, index, feed: the kind says
  std::string other{};  // the other node or cable; the wrong name; "out" or "in"; the sensor
  bool logged = true;   // by its BMC, where BMCs log such a fault
  Timing timing{};
  friend bool operator==(const Fault&, const Fault&) = default;
};

/// One row of the table.
struct FaultRow {
  FaultKind kind;
  std::string_view name;   // as a file says it
  PartClass about;         // what its `part` names
  std::string_view words;  // what else it says: "errors? link", each in kWords; ? may be left out
  Needs needs;
  std::string_view summary;  // what is seen
};

std::span<const FaultRow> fault_table();
const FaultRow& row_of(FaultKind kind);
/// nullptr if there is no fault of that name.
const FaultRow* fault_row(std::string_view name);
std::vector<std::string> fault_names();

/// The first fault of that kind, for that part where one is named; nullptr if there is none.
const Fault* find_fault(std::span<const Fault> faults, FaultKind kind, std::string_view part = {});

}  // namespace cupel::rehearsal
