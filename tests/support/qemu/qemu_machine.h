#pragma once
// What a real machine of a test is made of, and the line that starts it in QEMU: by emulation
// alone, never KVM. Not the process: that is qemu_process.h.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/support/qemu/efi_variables.h"

namespace cupel::rehearsal {

/// The PCI slot of the SCSI adapter that a UEFI machine's disc drive hangs on. Not SATA: the kernel
/// for virtual machines, which boots in half the time, has no driver of AHCI, and could not read
/// its ticket from the disc.
inline constexpr char kDiscSlot = 0x10;

struct QemuDisk {
  std::string serial{};
  std::uint64_t bytes = 0;
  bool nvme = true;  // else virtio
};

struct QemuNic {
  std::string tap{};
  std::string mac{};
  bool rom = false;  // QEMU's own iPXE in it: BIOS boots from the network by it, UEFI is slower
};

struct QemuMachine {
  enum class Firmware { bios, uefi, uefi_secure };
  enum class Arch { x86_64, aarch64 };

  Firmware firmware = Firmware::bios;
  Arch arch = Arch::x86_64;        // aarch64: by UEFI without Secure Boot alone
  std::filesystem::path folder{};  // of its disks and EFI variables, which stay over power cycles
  int mebibytes = 16;
  int cpus = 1;
  std::string manufacturer{}, product{}, serial{}, uuid{};  // as SMBIOS says them; empty: QEMU's
  std::vector<QemuDisk> disks{};
  std::optional<QemuNic> nic{};
  bool network_first = false;   // in the order of a BIOS
  bool pxe = false;             // UEFI tries PXE too: 60 s for a network that does not answer
  std::filesystem::path tpm{};  // swtpm's socket; empty: it has none

  std::filesystem::path disk_file(const QemuDisk& disk) const { return folder / disk.serial; }
  std::filesystem::path variables_file() const { return folder / "efi-variables"; }
};

/// Makes the files that are not there yet: empty disks, the firmware's own variables. Errors:
/// kStorage, kNotFound (the package ovmf is not installed).
Result<void> make_files(const QemuMachine& machine);

/// The EFI variables of a machine that is off. Errors: as those of EfiVariables.
Result<EfiVariables> read_variables(const QemuMachine& machine);
Result<void> write_variables(const QemuMachine& machine, const EfiVariables& variables);

/// The emulator, and its packages' firmware: what has to be there.
std::string program_of(const QemuMachine& machine);
std::string firmware_file(const QemuMachine& machine);

/// The program first; without what it is spoken to by. `boot_order` as -boot takes it, heeded by a
/// BIOS alone. `disc`: the file in its disc drive; empty: nothing is in it.
std::vector<std::string> command_line(const QemuMachine& machine, const std::string& boot_order,
                                      const std::filesystem::path& disc);

}  // namespace cupel::rehearsal
