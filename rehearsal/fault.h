#pragma once
// What can be wrong with a virtual machine: one table, so that a rack's file, its errors and the
// documentation all speak of the same faults.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/clock.h"

namespace cupel::rehearsal {

enum class FaultKind {
  gpu_missing,
  gpu_ecc,
  gpu_remap_pending,
  gpu_slow_link,
  dimm_missing,
  dimm_too_small,
  psu_missing,
  nvme_missing,
  wrong_firmware,
  bmc_busy,
  bmc_wrong_password,
  bmc_certificate_changed,
  ssh_host_key_changed,
  boot_hangs,
  disk_slow,
  disk_errors,
  memory_errors,
  ssh_drops,
  bmc_answer,
  leak,
  ipmi_suite_3_only,
  ipmi_silent,
  ipmi_lossy,
};

/// What a BMC does instead of answering properly.
struct WrongAnswer {
  std::string method{};  // empty: any
  std::string path{};    // with * for anything
  int status = 0;        // 0: the proper answer, late
  std::string body{};
  int times = 0;                 // 0: always
  std::chrono::seconds late{0};  // of our time: the client's clock counts it
  friend bool operator==(const WrongAnswer&, const WrongAnswer&) = default;
};

/// One fault of one node. What the kind does not ask for stays empty.
struct Fault {
  FaultKind kind{};
  std::string part{};                 // "gpu5", "dimm A7", "psu2", "nvme0"
  std::optional<double> bytes{};      // size
  std::optional<VirtualTime> span{};  // for, after
  std::optional<int> errors{};
  std::optional<int> gen{};  // of a PCIe link
  std::optional<int> width{};
  std::optional<int> every{};  // of datagrams, each n-th
  std::string component{};     // of the firmware
  std::string version{};
  WrongAnswer answer{};
  friend bool operator==(const Fault&, const Fault&) = default;
};

/// One row of the table.
struct FaultRow {
  FaultKind kind;
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> required;
  std::span<const std::string_view> optional;
};

std::span<const FaultRow> fault_table();
const FaultRow& row_of(FaultKind kind);
/// nullptr if there is no fault of that name.
const FaultRow* fault_row(std::string_view name);
std::vector<std::string> fault_names();

/// The first fault of that kind, for that part where one is named; nullptr if there is none.
const Fault* find_fault(std::span<const Fault> faults, FaultKind kind, std::string_view part = {});

}  // namespace cupel::rehearsal
