#pragma once
// What the machines of a rehearsal boot and are installed with where their disks are empty: images
// of cupel-sim, in a store in the rack's folder, which the profiles of its inventory then name.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupel::cli {

/// An address for the boot server: loopback, with a port that is free now. Errors: kFailed.
Result<std::string> free_boot_address();

/// The rack stands, and its inventory is in `folder`. Images that are there are left as they are.
/// Errors: as those of the image store and of cupel-sim; kInvalid (the inventory).
Result<void> add_rehearsal_images(const std::filesystem::path& programs,
                                  const std::filesystem::path& folder);

}  // namespace cupel::cli
