#pragma once
// The last partition of a written image up to the end of its disk, and its file system with it.
#include <string>

#include "burnin/agent/node/boot/tool.h"

namespace cupel::agent::boot {

/// Moves the GPT's copy to the disk's end and makes the kernel read the table again. A last
/// partition with ext4, XFS or btrfs is enlarged, and its file system grown; any other stays as it
/// is.
/// Errors: kGrow, naming the tool.
Outcome<void> grow_last_partition(const std::string& disk, const RunTool& run);

/// The kernel's own list of partitions after a table was written. Errors: kGrow.
Outcome<void> reread_partitions(const std::string& disk);

}  // namespace cupel::agent::boot
