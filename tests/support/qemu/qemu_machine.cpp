#include "tests/support/qemu/qemu_machine.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/try.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kFlash = 64u << 20;          // of aarch64's virt machine
constexpr std::uint32_t kBlockOfArm = 256u << 10;  // of its variables

bool has_uefi(const QemuMachine& machine) {
  return machine.firmware != QemuMachine::Firmware::bios;
}

bool is_arm(const QemuMachine& machine) { return machine.arch == QemuMachine::Arch::aarch64; }

std::string first_variables(const QemuMachine& machine) {
  return machine.firmware == QemuMachine::Firmware::uefi_secure
             ? "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"
             : "/usr/share/OVMF/OVMF_VARS_4M.fd";
}

void add(Words& line, std::initializer_list<std::string> words) { line.insert(line.end(), words); }

void add_firmware(Words& line, const QemuMachine& machine) {
  const bool secure = machine.firmware == QemuMachine::Firmware::uefi_secure;
  if (!has_uefi(machine)) {
    add(line, {"-machine", "pc,graphics=off"});  // the firmware writes on the serial port
    return;
  }
  if (is_arm(machine))
    add(line, {"-machine", "virt", "-cpu", "cortex-a57"});
  else
    add(line, {"-machine", secure ? "q35,smm=on" : "q35"});
  if (secure)
    add(line, {"-global", "driver=cfi.pflash01,property=secure,value=on", "-global",
               "ICH9-LPC.disable_s3=1"});
  add(line, {"-drive", "if=pflash,unit=0,format=raw,readonly=on,file=" + firmware_file(machine),
             "-drive", "if=pflash,unit=1,format=raw,file=" + machine.variables_file().string()});
  add(line, {"-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n"});
  if (!machine.pxe) add(line, {"-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n"});
}

/// No -device has a bootindex: with one OVMF writes BootOrder anew at each power-on.
void add_disks(Words& line, const QemuMachine& machine, const fs::path& disc) {
  add(line, {"-drive", "if=none,id=disc,media=cdrom,readonly=on" +
                           (disc.empty() ? "" : ",format=raw,file=" + disc.string())});
  if (has_uefi(machine))
    add(line, {"-device", fmt::format("virtio-scsi-pci,id=scsi,addr={:#x}", +kDiscSlot), "-device",
               "scsi-cd,id=drive,bus=scsi.0,scsi-id=0,lun=0,drive=disc"});
  else
    add(line, {"-device", "ide-cd,id=drive,bus=ide.0,drive=disc"});
  for (std::size_t i = 0; i < machine.disks.size(); ++i) {
    const auto& disk = machine.disks[i];
    add(line, {"-drive",
               fmt::format("if=none,id=disk{},format=raw,cache=unsafe,discard=unmap,file={}", i,
                           machine.disk_file(disk).string()),
               "-device",
               fmt::format("{},drive=disk{},serial={}", disk.nvme ? "nvme" : "virtio-blk-pci", i,
                           disk.serial)});
  }
}

void add_nic(Words& line, const QemuMachine& machine) {
  if (!machine.nic) return;
  const auto& nic = *machine.nic;
  add(line,
      {"-netdev", fmt::format("tap,id=net,ifname={},script=no,downscript=no", nic.tap), "-device",
       fmt::format("virtio-net-pci,netdev=net,mac={}{}", nic.mac, nic.rom ? "" : ",romfile=")});
}

void add_identity(Words& line, const QemuMachine& machine) {
  std::string output = "type=1";
  const auto say = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) output += fmt::format(",{}={}", key, value);
  };
  say("manufacturer", machine.manufacturer);
  say("product", machine.product);
  say("serial", machine.serial);
  say("uuid", machine.uuid);
  if (output != "type=1") add(line, {"-smbios", output});
}

}  // namespace

std::string program_of(const QemuMachine& machine) {
  return is_arm(machine) ? "/usr/bin/qemu-system-aarch64" : "/usr/bin/qemu-system-x86_64";
}

/// Debian's packages ovmf and qemu-efi-aarch64. "Snakeoil" variables trust the key that comes with
/// them.
std::string firmware_file(const QemuMachine& machine) {
  if (is_arm(machine)) return "/usr/share/AAVMF/AAVMF_CODE.fd";
  return machine.firmware == QemuMachine::Firmware::uefi_secure
             ? "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
             : "/usr/share/OVMF/OVMF_CODE_4M.fd";
}

Result<void> make_files(const QemuMachine& machine) {
  std::error_code failed;
  for (const auto& disk : machine.disks) {
    const auto file = machine.disk_file(disk);
    if (fs::exists(file)) continue;
    TRY(write_file(file, ""));
    fs::resize_file(file, disk.bytes, failed);  // sparse
    if (failed) return Error{Code::kStorage, file.string() + ": " + failed.message()};
  }
  if (!has_uefi(machine) || fs::exists(machine.variables_file())) return {};
  if (is_arm(machine)) {
    // Debian's AAVMF_VARS.fd is zeros, until the firmware formats it: no override could be set.
    TRY(write_file(machine.variables_file(), blank_variables(kBlockOfArm)));
    fs::resize_file(machine.variables_file(), kFlash, failed);
    if (failed)
      return Error{Code::kStorage, machine.variables_file().string() + ": " + failed.message()};
    return {};
  }
  fs::copy_file(first_variables(machine), machine.variables_file(), failed);
  if (failed)
    return Error{Code::kNotFound, first_variables(machine) + ": " + failed.message() +
                                      ". Install the package ovmf."};
  return {};
}

Result<EfiVariables> read_variables(const QemuMachine& machine) {
  auto image = read_file(machine.variables_file(), kFlash);
  if (!image) return image.error();
  return EfiVariables::parse(*std::move(image));
}

Result<void> write_variables(const QemuMachine& machine, const EfiVariables& variables) {
  const auto image = variables.image();
  if (!image) return image.error();
  return write_file(machine.variables_file(), *image);
}

Words command_line(const QemuMachine& machine, const std::string& boot_order,
                   const fs::path& disc) {
  Words line{program_of(machine), "-nodefaults", "-no-user-config", "-display", "none"};
  add(line, {"-accel", machine.cpus > 1 ? "tcg,thread=multi,tb-size=64" : "tcg,tb-size=64"});
  add(line, {"-m", std::to_string(machine.mebibytes), "-smp", std::to_string(machine.cpus)});
  add_firmware(line, machine);
  add_disks(line, machine, disc);
  add_nic(line, machine);
  add_identity(line, machine);
  if (!machine.tpm.empty())
    add(line, {"-chardev", "socket,id=tpm,path=" + machine.tpm.string(), "-tpmdev",
               "emulator,id=tpm0,chardev=tpm", "-device", "tpm-tis,tpmdev=tpm0"});
  if (machine.nic) add(line, {"-device", "virtio-rng-pci"});
  add(line, {"-boot", "order=" + boot_order});
  return line;
}

}  // namespace cupel::rehearsal
