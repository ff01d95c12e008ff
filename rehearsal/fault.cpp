#include "rehearsal/fault.h"

#include <array>

namespace cupel::rehearsal {
namespace {

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 1> kPart{"part"};
constexpr std::array<std::string_view, 2> kPartSize{"part", "size"};
constexpr std::array<std::string_view, 1> kErrors{"errors"};
constexpr std::array<std::string_view, 2> kLink{"gen", "width"};
constexpr std::array<std::string_view, 2> kFirmware{"component", "version"};
constexpr std::array<std::string_view, 1> kFor{"for"};
constexpr std::array<std::string_view, 1> kAfter{"after"};
constexpr std::array<std::string_view, 1> kPath{"path"};
constexpr std::array<std::string_view, 5> kAnswer{"method", "status", "body", "times", "late"};
constexpr std::array<std::string_view, 1> kEvery{"every"};

constexpr std::array<FaultRow, 23> kTable{{
    {FaultKind::gpu_missing,
     "gpu-missing",
     "the GPU is gone from PCI, nvidia-smi and Redfish",
     kPart,
     {}},
    {FaultKind::gpu_ecc, "gpu-ecc", "uncorrected ECC errors", kPart, kErrors},
    {FaultKind::gpu_remap_pending,
     "gpu-remap-pending",
     "a row remap waits for a GPU reset",
     kPart,
     {}},
    {FaultKind::gpu_slow_link, "gpu-slow-link", "PCIe trained below its generation or width", kPart,
     kLink},
    {FaultKind::dimm_missing, "dimm-missing", "the slot is empty", kPart, {}},
    {FaultKind::dimm_too_small,
     "dimm-too-small",
     "BMC, dmidecode and /proc/meminfo agree on a smaller module",
     kPartSize,
     {}},
    {FaultKind::psu_missing, "psu-missing", "the bay is empty", kPart, {}},
    {FaultKind::nvme_missing,
     "nvme-missing",
     "the drive is gone from PCI, lsblk and Redfish",
     kPart,
     {}},
    {FaultKind::wrong_firmware,
     "wrong-firmware",
     "one component reports another version",
     kFirmware,
     {}},
    {FaultKind::bmc_busy,
     "bmc-busy",
     "503 with Retry-After for so long, counted from the first request",
     kFor,
     {}},
    {FaultKind::bmc_wrong_password, "bmc-wrong-password", "the BMC has another password", {}, {}},
    {FaultKind::bmc_certificate_changed,
     "bmc-certificate-changed",
     "the BMC shows another certificate than before",
     {},
     {}},
    {FaultKind::ssh_host_key_changed,
     "ssh-host-key-changed",
     "the node shows another host key than before",
     {},
     {}},
    {FaultKind::boot_hangs, "boot-hangs", "powered on, but SSH never comes up", {}, {}},
    {FaultKind::disk_slow, "disk-slow", "the drive moves a tenth of what it should", kPart, {}},
    {FaultKind::disk_errors, "disk-errors", "reads and writes of the drive fail", kPart, {}},
    {FaultKind::memory_errors, "memory-errors", "stress-ng's verification fails", {}, kErrors},
    {FaultKind::ssh_drops, "ssh-drops", "connections are cut after so long", kAfter, {}},
    {FaultKind::bmc_answer, "bmc-answer", "the BMC answers wrongly, or late", kPath, kAnswer},
    {FaultKind::leak, "leak", "a leak detector of the BMC is wet", {}, {}},
    {FaultKind::ipmi_suite_3_only, "ipmi-suite-3-only", "IPMI knows cipher suite 3 alone", {}, {}},
    {FaultKind::ipmi_silent, "ipmi-silent", "IPMI's datagrams vanish, both ways", {}, {}},
    {FaultKind::ipmi_lossy, "ipmi-lossy", "every n-th datagram of IPMI is lost", {}, kEvery},
}};

}  // namespace

std::span<const FaultRow> fault_table() { return kTable; }

const FaultRow& row_of(FaultKind kind) { return *std::ranges::find(kTable, kind, &FaultRow::kind); }

const FaultRow* fault_row(std::string_view name) {
  const auto row = std::ranges::find(kTable, name, &FaultRow::name);
  return row == kTable.end() ? nullptr : &*row;
}

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const auto& row : kTable) names.emplace_back(row.name);
  return names;
}

const Fault* find_fault(std::span<const Fault> faults, FaultKind kind, std::string_view part) {
  for (const auto& fault : faults)
    if (fault.kind == kind && (part.empty() || fault.part == part)) return &fault;
  return nullptr;
}

}  // namespace cupel::rehearsal
