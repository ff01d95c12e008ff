#pragma once
// The disk that an order names: exactly one, or an error that lists what there is. Never "the
// first".
#include <optional>
#include <string>
#include <vector>

#include "burnin/agent/node/boot/disks.h"
#include "burnin/agent/node/boot/failure.h"

namespace cupel::agent::boot {

/// Everything that is given must match.
struct DiskHint {
  std::string serial{};
  std::string wwn{};
  std::string model{};
  std::optional<std::uint64_t> size_min{};
  std::optional<std::uint64_t> size_max{};
};

/// Whether `wipe` is the disk's own serial number or WWN.
bool is_named(const Disk& disk, std::string_view wipe);

/// The disk that fits the hint and may be overwritten. `wipe`: a serial number or a WWN; a USB disk
/// and one that holds anything is taken only with its own there. What is read-only or in use is
/// never taken; what we left unfinished always. Errors: kDiskMissing, kDiskAmbiguous, kDiskRefused,
/// kDiskNotEmpty, kOrder.
Outcome<Disk> choose_disk(const std::vector<Disk>& disks, const DiskHint& hint,
                          std::string_view wipe);

}  // namespace cupel::agent::boot
