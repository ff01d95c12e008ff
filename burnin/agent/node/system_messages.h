#pragma once
// What the kernel's log says of drives, RAID controllers, arrays, file systems, network cards, the
// IOMMU, non-maskable interrupts, and of the kernel itself. Pure. Source: Linux 6.12, the files
// that each reader names.
#include <optional>
#include <string_view>

#include "burnin/agent/node/kernel_messages.h"

namespace cupel::agent {

std::optional<KernelMessage> disk_of(std::string_view line);
std::optional<KernelMessage> net_of(std::string_view line);
std::optional<KernelMessage> iommu_of(std::string_view line);
std::optional<KernelMessage> nmi_of(std::string_view line);
std::optional<KernelMessage> hang_of(std::string_view line);

}  // namespace cupel::agent
