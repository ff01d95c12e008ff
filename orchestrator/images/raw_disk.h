#pragma once
// A file before it becomes a disk image. The next one to look would be a node whose disk is
// overwritten by then.
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::images {

/// Whether the RAM system can install it: a raw disk with a partition table in sectors of 512
/// bytes, something to start it, no swap or LVM at its end, where it is grown, and no btrfs that
/// cannot be mounted alone. Errors: kInvalid.
Result<void> check_raw_disk(const std::string& file);

/// Whether the EFI system partition has a file of this path (\EFI\debian\shimx64.efi), which is
/// that of the boot entry. Errors: kInvalid, with the loaders that are there.
Result<void> check_efi_loader(const std::string& file, std::string_view loader);

/// Whether a BIOS finds a boot loader on it: code before the partition table of its first sector.
/// Source: UEFI specification 2.10, 5.2.1 (BootCode and Signature of the legacy MBR).
bool has_bios_loader(const std::string& file);

}  // namespace cupel::images
