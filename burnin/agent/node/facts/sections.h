#pragma once
// The sections of the document, in the order in which they stand in it. Each reads what it needs
// below the tree's root, and says what it could not read.
#include "burnin/agent/common/nvml.h"
#include "burnin/agent/node/facts/report.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// DMI: who built it, board, BIOS, serials (root only). Source: Documentation/ABI/testing/
/// sysfs-firmware-dmi... of Linux; SMBIOS 3.7 (DSP0134), types 1 to 3.
void add_system(const Tree& tree, Report& report);
/// "cpus": a row for each socket, with microcode, governor and how often it was throttled; and
/// "cpu_threads" of all, which a kernel without sockets reports too (Arm).
void add_cpus(const Tree& tree, Report& report);
/// "memory": total, NUMA nodes with their CPUs, huge pages.
void add_memory(const Tree& tree, Report& report);
/// "dimms": every slot, from the firmware's table (root only).
void add_dimms(const Tree& tree, Report& report);
/// "edac": controllers and DIMMs with their counts.
void add_edac(const Tree& tree, Report& report);
void add_kernel(const Tree& tree, Report& report);
void add_iommu(const Tree& tree, Report& report);
void add_drivers(const Tree& tree, Report& report);
void add_fabric_manager(const Tree& tree, Report& report);
/// "firmware": how the machine was booted, Secure Boot, the entries of the boot order.
void add_boot_settings(const Tree& tree, Report& report);
/// "consoles": where the running kernel writes, and whether a UART is there.
void add_consoles(const Tree& tree, Report& report);
/// "cpufreq": governor and energy preference of all CPUs; "mixed" where they differ.
void add_frequency_policy(const Tree& tree, Report& report);
/// "time": adjtimex(2) of this host, whatever the tree; who keeps it, where that can be seen.
void add_time(const Tree& tree, Report& report);
/// "pci": GPUs, NVSwitches, HCAs, NICs and NVMe drives, with the way of each to its root port.
void add_pci(const Tree& tree, Report& report);
/// "gpus" and "nvml".
void add_gpus(const nvml::Library& library, Report& report);
/// "infiniband": devices and their ports.
void add_infiniband(const Tree& tree, Report& report);
/// "nics": Ethernet interfaces with a device, and what their links carry.
void add_nics(const Tree& tree, Report& report);
/// "nvme": from sysfs; identify and SMART by ioctl where the device may be opened.
void add_nvme(const Tree& tree, Report& report);
/// "nvme" by files alone: no device is asked.
void add_nvme_files(const Tree& tree, Report& report);

/// The value behind "PCI_SLOT_NAME=" of a device's uevent, and of other keys.
std::optional<std::string> uevent_value(const Tree& tree, const std::string& device,
                                        std::string_view key);
/// "0000:1b:00.0": by its uevent, else by where the link `device` leads.
std::optional<std::string> pci_address_of(const Tree& tree, const std::string& device);

/// Firmware's fillings of a field that nobody filled: "To Be Filled By O.E.M.".
bool is_filler(std::string_view text);

/// All of it.
std::string facts_document(const Tree& tree, const nvml::Library& library);

}  // namespace cupel::agent
