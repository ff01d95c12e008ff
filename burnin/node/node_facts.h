#pragma once
// What the kernel says of the node at rest: CPUs, memory, DIMMs and their error counts, drives,
// network adapters and HCAs with their links. cupel-node reads /proc and /sys, and runs tools that
// only look: burnin/agent/node/stages/node_facts.cpp.
#include "burnin/stage.h"

namespace cupel::burnin {

/// No parameters. DIMMs and serial numbers need root; without it they are unknown. A
/// node whose kernel has no EDAC driver gives no `edac.uncorrected`: nobody watches its memory
/// then. Source: proc(5); Documentation/ABI/testing/{sysfs-devices-edac,sysfs-class-infiniband} and
/// Documentation/ABI/stable/sysfs-class-infiniband of Linux; SMBIOS 3.7 (DSP0134), 7.18.
Stage node_facts();

}  // namespace cupel::burnin
