#pragma once
// Where the root of a system lies on a btrfs, whose subvolumes are what others have partitions for.
// Works on folders where the file system is mounted; mounts nothing.
// Source: btrfs(5), subvol and subvolid; fstab(5).
#include <string>
#include <string_view>

#include "base/fstab.h"
#include "burnin/agent/node/boot/failure.h"

namespace cupel::agent::boot {

/// The subvolume with an etc/os-release, of those in the top level that is mounted at `top`:
/// "root",
/// "@". Errors: kSeed: none has, or several have.
Outcome<std::string> root_subvolume(const std::string& top);

/// The subvolume of `subvol=`, where the line mounts one of the file system with this UUID, or in
/// the partition with this PARTUUID. Empty: it mounts something else.
std::string subvolume_of(const FstabLine& line, std::string_view uuid, std::string_view part_uuid);

/// "0a1b2c3d-...": of the btrfs on this device or in this file; empty: it cannot be read.
std::string btrfs_uuid(const std::string& device);

}  // namespace cupel::agent::boot
