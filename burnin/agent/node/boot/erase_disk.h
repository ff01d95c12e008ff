#pragma once
// All data of one disk made unreadable by the disk itself, before it gets an image.
#include "burnin/agent/node/boot/disks.h"
#include "burnin/agent/node/boot/order.h"
#include "burnin/agent/node/boot/tool.h"

namespace cupel::agent::boot {

/// NVMe: format with user data erase. ATA: security erase. The disk's serial number is read once
/// more first, and must be the one that the order says `wipe` with; afterwards it must hold nothing
/// that was known on it. Errors: kErase.
Outcome<void> erase_disk(const Tree& tree, const Disk& disk, Erase how, std::string_view wipe,
                         const RunTool& run);

}  // namespace cupel::agent::boot
