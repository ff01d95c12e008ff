#include "orchestrator/os/console_cause.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace cupel::os {
namespace {

constexpr std::size_t kLongestLine = 160;

constexpr std::string_view kCable = "look at the cable and the switch port of its boot interface";
constexpr std::string_view kDhcp =
    "look whether a DHCP server answers its MAC address: journalctl -u dnsmasq, or "
    "cupel boot dhcp --run";
constexpr std::string_view kFetch =
    "look whether the machine can reach the address of boot: serve, and what its firewall allows";
constexpr std::string_view kArchitecture =
    "take a RAM system for the machine's architecture: cupel image build NAME --arch ARCH, and "
    "ram: "
    "of the step os or of the profile";
constexpr std::string_view kPanic = "look at the console: cupel bmc NODE console";

/// Source: of PXE-E lines edk2's PxeBcDxe and Intel's PXE 2.1 ROMs, of "Error:" lines edk2's
/// HttpBootDxe, of BdsDxe lines edk2's boot manager; dracut and initramfs-tools, iPXE, GRUB, Linux.
constexpr std::array kCauses{
    ConsoleCauseRow{"no-link", "could not detect network connection", "no link", kCable},
    ConsoleCauseRow{"no-link", "pxe-e61", "no link", kCable},
    ConsoleCauseRow{"no-link", "link status: down", "no link", kCable},
    ConsoleCauseRow{"dhcp-silent", "pxe-e51", "no DHCP server answered", kDhcp},
    ConsoleCauseRow{"dhcp-silent", "pxe-e16", "no DHCP server made an offer that it takes", kDhcp},
    ConsoleCauseRow{"dhcp-silent", "no configuration methods succeeded",
                    "iPXE got no address by DHCP", kDhcp},
    ConsoleCauseRow{"dhcp-no-file", "pxe-e53", "DHCP offered an address and no boot file", kDhcp},
    ConsoleCauseRow{"dhcp-no-file", "pxe-e18",
                    "DHCP offered no boot file, or the server of that file did not answer; a "
                    "minute is lost on each interface",
                    kDhcp},
    ConsoleCauseRow{"tftp-timeout", "pxe-e32", "the TFTP server did not answer", kFetch},
    ConsoleCauseRow{"tftp-timeout", "pxe-e11", "the boot server's address was not found by ARP",
                    kFetch},
    ConsoleCauseRow{"tftp-error", "pxe-e23", "the TFTP server refused the file", kFetch},
    ConsoleCauseRow{"tftp-error", "pxe-t01", "the TFTP server has no such file", kFetch},
    ConsoleCauseRow{"network-error", "pxe-e99", "the network failed in mid-boot", kFetch},
    ConsoleCauseRow{"network-error", "pxe-e22", "an ICMP error came back from the boot server",
                    kFetch},
    ConsoleCauseRow{"http-timeout", "error: server response timeout",
                    "the boot server did not answer HTTP, or no DHCP server answered", kFetch},
    ConsoleCauseRow{"http-error", "error: could not retrieve nbp file size from http server",
                    "the boot server did not deliver the file over HTTP", kFetch},
    ConsoleCauseRow{"http-error", "error: unexpected network error",
                    "the network failed in mid-boot", kFetch},
    ConsoleCauseRow{"http-timeout", "connection timed out (http", "iPXE's download timed out",
                    kFetch},
    ConsoleCauseRow{"wrong-arch", "can't be loaded on",
                    "the firmware refused the boot file: it is for another architecture",
                    kArchitecture},
    ConsoleCauseRow{"wrong-arch", "exec format error",
                    "iPXE cannot start the kernel: it is for another architecture, or no kernel",
                    kArchitecture},
    ConsoleCauseRow{"secure-boot", "access denied",
                    "the firmware refused the boot file: secure boot is on, and the file is not "
                    "signed by a key that this machine has",
                    "sign the RAM system with the site's key, or turn secure boot off"},
    ConsoleCauseRow{"secure-boot", "security violation",
                    "the firmware refused the boot file: it is not signed by a key that this "
                    "machine has",
                    "sign the RAM system with the site's key, or turn secure boot off"},
    // Our own RAM system's: what its boot client and its first process print.
    ConsoleCauseRow{"ram-system", "cupel failed ", "the RAM system gave up",
                    "look at what its console says; log in where it has an address: ssh root@PEER",
                    true},
    ConsoleCauseRow{"clock", "cupel failed clock",
                    "by the machine's clock the boot server's certificate does not hold",
                    "set its clock in the BIOS setup or by its BMC; where the clock is right, "
                    "renew the certificate of boot: tls",
                    true},
    ConsoleCauseRow{"dhcp-silent", "no address by dhcp yet",
                    "the RAM system got no address by DHCP", kDhcp},
    // Titles of what Debian's installer asks where it cannot go on: netcfg, preseed, choose-mirror.
    ConsoleCauseRow{"dhcp-silent", "network autoconfiguration failed",
                    "the installer got no address by DHCP", kDhcp, true},
    ConsoleCauseRow{"no-driver", "no network interfaces detected",
                    "the installer has no driver of the NIC",
                    "take an installer whose initrd has it: cupel image installer NAME --kernel "
                    "FILE --initrd FILE --mirror URL",
                    true},
    ConsoleCauseRow{"no-answer-file", "failed to retrieve the preconfiguration file",
                    "the installer could not fetch its answer file", kFetch, true},
    ConsoleCauseRow{"no-answer-file", "failed to process the preconfiguration file",
                    "the installer does not understand its answer file",
                    "take Debian's installer: no other has such an answer file", true},
    ConsoleCauseRow{"installer-command", "failed to run preseeded command",
                    "a command of the installer's answer file failed", kPanic, true},
    ConsoleCauseRow{"mirror", "bad archive mirror", "the installer's mirror cannot be used",
                    "look whether the node's network reaches the mirror, and whether it has that "
                    "suite",
                    true},
    ConsoleCauseRow{"wrong-way-first", ">>start pxe over ipv6",
                    "the firmware tries PXE over IPv6, and waits for it",
                    "turn IPv6 PXE off in the BIOS settings of the boot interface"},
    ConsoleCauseRow{"no-boot-device", "no bootable option or device was found",
                    "the firmware found nothing to boot",
                    "look at the machine's boot order: cupel "
                    "bmc NODE boot",
                    true},
    ConsoleCauseRow{"no-boot-device", "no bootable device", "the firmware found nothing to boot",
                    "look at the machine's boot order: cupel bmc NODE boot", true},
    ConsoleCauseRow{"uefi-shell", "uefi interactive shell", "it stands in the UEFI shell",
                    "take the UEFI shell out of its boot order", true},
    ConsoleCauseRow{"grub-prompt", "grub rescue>", "GRUB does not find its own files",
                    "look at the image's boot loader", true},
    ConsoleCauseRow{"grub-prompt", "minimal bash-like line editing is supported",
                    "GRUB has no menu and waits at its prompt", "look at the image's boot loader",
                    true},
    ConsoleCauseRow{"kernel-panic", "kernel panic - not syncing", "the kernel gave up", kPanic,
                    true},
    ConsoleCauseRow{"no-root-device", "unable to mount root fs",
                    "the kernel found no root file system",
                    "the image lacks the driver of the disk, or its command line names another "
                    "root",
                    true},
    ConsoleCauseRow{"no-root-device", "does not exist.  dropping to a shell",
                    "the initramfs found no root device",
                    "the image lacks the driver of the disk, or its command line names another "
                    "root",
                    true},
    ConsoleCauseRow{"no-root-device", "gave up waiting for root",
                    "the initramfs found no root device",
                    "the image lacks the driver of the disk, or its command line names another "
                    "root",
                    true},
    ConsoleCauseRow{"no-root-device", "dracut-initqueue timeout",
                    "the initramfs found no root device",
                    "the image lacks the driver of the disk, or its command line names another "
                    "root"},
};

/// Without escape sequences (ECMA-48, 5.4: from CSI to the final byte), which firmware puts into
/// the middle of its lines.
std::string plain_text(std::string_view text) {
  constexpr char kEscape = '\x1b';
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kEscape) {
      out += text[i] == '\r' ? '\n' : text[i];
      continue;
    }
    if (i + 1 >= text.size()) break;
    if (text[++i] != '[') continue;
    while (++i < text.size() && (text[i] < '@' || text[i] > '~')) {
    }
  }
  return out;
}

/// What firmware comes to when all that it tried has failed.
bool is_consequence(const ConsoleCauseRow& row) { return row.id == "no-boot-device"; }

const ConsoleCauseRow* row_in(std::string_view line) {
  const auto low = lower_case(line);
  const ConsoleCauseRow* found = nullptr;
  for (const auto& row : kCauses) {
    if (!low.contains(row.line)) continue;
    // A line may say two things: "Kernel panic - not syncing: VFS: Unable to mount root fs".
    if (found == nullptr || row.ends) found = &row;
  }
  return found;
}

}  // namespace

std::span<const ConsoleCauseRow> console_causes() { return kCauses; }

std::optional<ConsoleCause> console_cause(std::string_view text) {
  std::optional<ConsoleCause> found;
  const auto plain = plain_text(text);
  for (const auto line : lines(plain)) {
    const auto* row = row_in(line);
    if (row == nullptr || (found && found->ends && !row->ends)) continue;
    if (found && is_consequence(*row)) {
      found->ends = true;
      continue;
    }
    found = ConsoleCause{row, shortened(printable(trimmed(line)), kLongestLine), row->ends};
  }
  return found;
}

std::string to_string(const ConsoleCause& cause) {
  return fmt::format("{} (its console: \"{}\")", cause.row->cause, cause.line);
}

}  // namespace cupel::os
