#pragma once
// What UEFI starts from a disk for which no loader is named.
#include <string_view>

namespace cupel {

/// `arch` as uname -m has it. Source: UEFI 2.10, 3.5.1.1 (removable media boot behavior).
constexpr std::string_view default_efi_loader(std::string_view arch) {
  return arch == "aarch64" ? R"(\EFI\BOOT\BOOTAA64.EFI)" : R"(\EFI\BOOT\BOOTX64.EFI)";
}

}  // namespace cupel
