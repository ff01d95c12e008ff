#pragma once
// Which of its boot options a UEFI machine takes next, as its firmware sets that up on the word of
// the BMC: BootNext, and an option for what has none of its own.
// Source: UEFI specification 2.10, 3.1.3 (load options), 10.3 (device paths).
#include <string>
#include <string_view>

#include "rehearsal/managed_system.h"
#include "tests/support/qemu/efi_variables.h"

namespace cupel::rehearsal {

/// The option that the firmware makes for what a BMC wants, replaced each time.
inline constexpr std::string_view kOptionOfBmc = "Boot00F0";

/// EFI_LOAD_OPTION, active.
std::string load_option(std::string_view description, std::string_view device_path);
/// The short form: whichever network card gets there. Source: UEFI specification 2.10, 3.1.2.
std::string uri_path(std::string_view uri);
/// The disc drive of a UEFI machine: SCSI target 0 of the adapter in slot kDiscSlot.
std::string disc_drive_path();

/// The first option that boots so: "Boot0003".
enum class EfiNode { ipv4_pxe, uri, disk };
std::optional<std::string> option_of(const EfiVariables& variables, EfiNode kind);

/// Sets, or takes away, what the next boot is to be. What the firmware has no option for yet (its
/// first boot makes them) is left to its own order.
void choose_boot(EfiVariables& variables, const BootOverride& requested);

}  // namespace cupel::rehearsal
