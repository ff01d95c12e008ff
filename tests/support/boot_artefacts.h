#pragma once
// What tests boot machines with: a RAM system and a small installed disk, built once from Debian
// packages (tests/support/boot/make-artefacts) and kept in $CUPEL_BOOT_ARTEFACTS, or beside the
// build.
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupel::testing {

struct BootArtefacts {
  std::filesystem::path ram_efi{}, vmlinuz{}, initrd{}, ram_iso{};
  std::uint64_t iso_ticket = 0;       // where ticket.json, of 4096 bytes, is in ram_iso
  std::filesystem::path disk{};       // disk.raw.zst; boots by \EFI\cupel\linux.efi
  std::uint64_t disk_size = 0;        // uncompressed
  std::filesystem::path bios_disk{};  // of x86_64: the same system, started by a BIOS alone
  std::uint64_t bios_disk_size = 0;
  std::filesystem::path ca{}, ca_key{};  // PEM, of the authority that the RAM system trusts
};

/// `node_program`: the cupel-node of `arch` that goes into the RAM system. Takes a quarter of a
/// minute at first, nothing afterwards. Errors: kUnsupported, with the program or package that is
/// missing here.
Result<BootArtefacts> boot_artefacts(const std::filesystem::path& node_program,
                                     const std::string& arch = "x86_64");

}  // namespace cupel::testing
