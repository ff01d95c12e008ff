#pragma once
// The NoCloud seed of cloud-init on the root file system of a written image.
#include <map>
#include <string>

#include "burnin/agent/node/boot/tool.h"

namespace cupel::agent::boot {

/// "meta-data", "user-data" and "network-config", each with its text.
using Seed = std::map<std::string, std::string>;

/// Into var/lib/cloud/seed/nocloud below `root`, for root's eyes alone, and never out of it: a link
/// of the image is followed within the image (openat2, RESOLVE_IN_ROOT). Errors: kSeed.
Outcome<void> write_seed(const std::string& root, const Seed& seed);

/// Below `root`, where that is what the image mounts at `place` ("/var") of its root.
Outcome<void> write_seed_below(const std::string& root, const std::string& place, const Seed& seed);

/// On the last partition of the disk that has an /etc. Of a btrfs that is in the default subvolume,
/// or in the one of its top level that has an /etc/os-release; where /etc/fstab mounts a subvolume
/// of the same btrfs over the seed's folder, the seed is in that. Errors: kSeed, kGrow.
Outcome<void> seed_disk(const std::string& disk, const Seed& seed, const RunTool& run);

}  // namespace cupel::agent::boot
