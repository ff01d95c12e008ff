#include "burnin/agent/node/system_messages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "burnin/agent/node/message_text.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {
namespace {

using enum MessageKind;
using Found = std::optional<KernelMessage>;
using Words = std::span<const std::string_view>;

/// The first of the words that stands in the line: where it begins.
std::optional<std::size_t> first_of(std::string_view line, Words words) {
  for (const auto word : words)
    if (const auto at = line.find(word); at != line.npos) return at;
  return std::nullopt;
}

/// "nvme1" of "nvme1n1p2", "sdb" of "sdb1:" and "md0" as they are.
std::string drive_of(std::string_view device) {
  const auto name = device.substr(0, device.find_first_of("), :,"));
  if (const auto drive = after(name, "nvme"); drive && leading_number(*drive))
    return "nvme" + std::to_string(*leading_number(*drive));
  return bounded(name);
}

/// Drives that a BMC or nobody put in.
bool is_virtual(std::string_view device) {
  return device.starts_with("sr") || device.starts_with("fd") || device.starts_with("loop");
}

/// A block device, named behind the mark. Source: block/blk-core.c (blk_errors, but what no device
/// is at fault for), fs/buffer.c, fs/ext4/super.c, fs/btrfs/messages.c, fs/xfs/xfs_message.c.
Found block_of(std::string_view line) {
  constexpr auto kMarks = std::to_array<std::string_view>(
      {"I/O error, dev ", "critical medium error, dev ", "critical target error, dev ",
       "critical space allocation error, dev ", "timeout error, dev ", "protection error, dev ",
       "recoverable transport error, dev ", "device offline error, dev ", "I/O error on dev ",
       "EXT4-fs error (device ", "BTRFS error (device ", "BTRFS critical (device ",
       "BTRFS: error (device ", "Aborting journal on device ", "XFS (", "EXT4-fs (",
       "EXT4-fs warning (device ", "BTRFS warning (device "});
  // Behind these marks file systems that are well speak, too: what else has to stand there.
  struct Also {
    std::string_view mark;
    std::array<std::string_view, 6> words;
  };
  constexpr std::array<Also, 4> kAlso{
      {{"XFS (",
        {"orruption", "I/O error", "shut down", "Shutting down", "CRC error", "xfs_repair"}},
       {"EXT4-fs (", {"emounting filesystem read-only", "I/O error"}},
       {"EXT4-fs warning (device ", {"I/O error"}},
       {"BTRFS warning (device ", {"csum failed", "checksum error"}}}};
  for (const auto mark : kMarks) {
    const auto reported = after(line, mark);
    if (!reported) continue;
    const auto also = std::ranges::find(kAlso, mark, &Also::mark);
    const auto is_parameter_given = [&](auto word) {
      return !word.empty() && has(*reported, word);
    };
    if (also != kAlso.end() && std::ranges::none_of(also->words, is_parameter_given))
      return std::nullopt;
    const auto device = leading_word(reported->substr(0, reported->find('-')));
    if (is_virtual(device)) return std::nullopt;
    return KernelMessage{
        .kind = disk, .part = drive_of(*reported), .detail = bounded(line.substr(line.find(mark)))};
  }
  return std::nullopt;
}

/// "md/raid1:md0: Disk failure on nvme1n1p2, disabling device."; "md: super_written gets error=-5";
/// "md: kicking non-fresh sdb1 from array!". Source: drivers/md.
Found array_of(std::string_view line) {
  const auto begin = std::min(line.find("md/raid"), line.find("md: "));
  if (begin == line.npos) return std::nullopt;
  const auto reported = line.substr(begin);
  constexpr auto kBad = std::to_array<std::string_view>(
      {"Disk failure on ", "kicking non-fresh ", "gets error", "read error",
       "not enough operational", "Cannot continue operation", "rescheduling sector",
       "unrecoverable I/O"});
  if (!first_of(reported, kBad)) return std::nullopt;
  KernelMessage message{.kind = disk, .detail = bounded(reported)};
  for (const std::string_view mark : {"Disk failure on ", "non-fresh "})
    if (const auto device = after(reported, mark)) message.part = drive_of(*device);
  return message;
}

/// "ata1.00: exception Emask 0x10 SAct 0x0 SErr 0x4050000 action 0xe frozen". An empty port says
/// "SATA link down" as it starts, and is none. Source: drivers/ata/libata-eh.c.
Found ata_of(std::string_view line) {
  const auto at = line.find("ata");
  if (at == line.npos || (at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0))
    return std::nullopt;
  const auto reported = line.substr(at);
  if (!leading_number(reported.substr(3))) return std::nullopt;
  constexpr auto kBad = std::to_array<std::string_view>(
      {": exception Emask", ": failed command:", ": error: {", "COMRESET failed", "disable device",
       ": revalidation failed", "qc timeout", "device not ready", "reset failed", ": limiting "});
  if (!first_of(reported, kBad)) return std::nullopt;
  return KernelMessage{
      .kind = disk, .part = std::string{leading_word(reported)}, .detail = bounded(reported)};
}

/// "sd 0:0:0:0: [sda] tag#0 Sense Key : Medium Error [current]". Keys like "Illegal Request" and
/// "Unit Attention" are no error. Source: drivers/scsi/constants.c, scsi_logging.c, scsi_error.c.
Found scsi_of(std::string_view line) {
  constexpr auto kBad = std::to_array<std::string_view>(
      {"Sense Key : Medium Error", "Sense Key : Hardware Error", "Sense Key : Aborted Command",
       "rejecting I/O to offline device", "Device offlined", "rejecting I/O to dead device",
       "Unrecovered read error", "fault_state("});
  const bool of_scsi = has(line, "sd ") || has(line, "scsi ") || has(line, "mpt3sas");
  const auto at = first_of(line, kBad);
  if (!of_scsi || !at) return std::nullopt;
  KernelMessage message{.kind = disk, .detail = bounded(line.substr(*at))};
  if (const auto device = after(line, "[sd"))
    message.part = "sd" + std::string{leading_word(*device)};
  return message;
}

/// RAID controllers and the arrays behind them: "megaraid_sas 0000:18:00.0: 5452
/// (614093735s/0x0001/CRIT) - VD 00/0 is now DEGRADED"; "smartpqi 0000:5c:00.0: scsi 0:1:0:0 Volume
/// degraded". Resets that each driver makes as it starts are none. Source:
/// drivers/scsi/megaraid/megaraid_sas_base.c (megasas_decode_evt), mpt3sas/mpt3sas_base.c,
/// smartpqi/smartpqi_init.c (pqi_show_volume_status), hpsa.c, aacraid/linit.c, src.c.
Found raid_of(std::string_view line) {
  struct Driver {
    std::string_view name;
    std::array<std::string_view, 12> bad;
  };
  constexpr std::array<Driver, 6> kDrivers{
      {{"megaraid_sas",
        {"/CRIT) - ", "/FATAL) - ", "/DEAD) - ", "FW in FAULT state", "will reset adapter scsi",
         "Diag reset adapter never cleared"}},
       {"mpt2sas", {"fault_state(", "coredump_state(", "SAS host is non-operational"}},
       {"mpt3sas", {"fault_state(", "coredump_state(", "SAS host is non-operational"}},
       {"smartpqi",
        {"controller is offline", "controller offline", "no heartbeat detected", ": FAILED",
         "Volume failed", "Volume degraded", "Volume undergoing recovery",
         "Volume ready for recovery operation", "Wrong physical drive was replaced",
         "A physical drive not properly connected", "Hardware is overheating",
         "Hardware has overheated"}},
       {"hpsa", {"ontroller lockup detected"}},
       {"aacraid",
        {"adapter kernel panic'd", "adapter self-test failed", "Host adapter abort request",
         "Host adapter reset request", "Host bus reset request"}}}};
  for (const auto& driver : kDrivers) {
    const auto begin = line.find(driver.name);
    if (begin == line.npos) continue;
    const auto reported = line.substr(begin);
    const bool bad = std::ranges::any_of(driver.bad, [&](auto word) {
      return !word.empty() && reported.find(word) != reported.npos;
    });
    if (!bad) return std::nullopt;
    return KernelMessage{.kind = disk, .pci = first_address(reported), .detail = bounded(reported)};
  }
  return std::nullopt;
}

/// The name of a network interface in front of a mark: "eno1" of "ice 0000:29:00.0 eno1: NIC Link".
std::string_view interface_before(std::string_view line, std::size_t mark) {
  auto text = line.substr(0, mark);
  while (text.ends_with(':') || text.ends_with(' ')) text.remove_suffix(1);
  return text.substr(text.find_last_of(" (") + 1);
}

/// "device [1b:00.0]", "device=1b:00.0", "device 0000:1b:00.0": domain 0 where none is named.
std::string device_behind(std::string_view line, std::string_view mark) {
  const auto reported = after(line, mark);
  if (!reported) return {};
  const auto text = reported->substr(0, reported->find_first_of(" ]"));
  return pci_address(text).value_or("");
}

}  // namespace

Found disk_of(std::string_view line) {
  if (auto found = block_of(line)) return found;
  if (auto found = array_of(line)) return found;
  if (auto found = ata_of(line)) return found;
  if (auto found = scsi_of(line)) return found;
  if (auto found = raid_of(line)) return found;
  const auto mapper = line.find("device-mapper: ");
  constexpr auto kBad =
      std::to_array<std::string_view>({"Failing path", "Failing array", "aborting", "error"});
  if (mapper == line.npos || !first_of(line.substr(mapper), kBad)) return std::nullopt;
  return KernelMessage{.kind = disk, .detail = bounded(line.substr(mapper))};
}

/// Of cards other than Mellanox's, which have a reader of their own: a queue or the hardware that
/// hangs, and a carrier that is lost. Source: net/sched/sch_generic.c,
/// drivers/net/bonding/bond_main.c, drivers/net/ethernet/{intel,broadcom}; of Broadcom's tg3 "Link
/// is down".
Found net_of(std::string_view line) {
  constexpr auto kHangs = std::to_array<std::string_view>(
      {"NETDEV WATCHDOG: ", "Hardware error event occurred", "Detected Tx Unit Hang",
       "Detected Hardware Unit Hang", "TX timeout detected", "Adapter removed", "PCIe link lost",
       "Malicious Driver Detection event", "firmware hang", "Fatal firmware error",
       "Firmware not responding", "stopped because it has over", "Fan has stopped",
       "an unsupported SFP", "an unsupported module type"});
  if (const auto at = first_of(line, kHangs)) {
    KernelMessage message{
        .kind = net, .pci = first_address(line), .detail = bounded(line.substr(*at))};
    if (const auto named = after(line, "NETDEV WATCHDOG: "))
      message.part = std::string{leading_word(*named)};
    return message;
  }
  constexpr auto kDown = std::to_array<std::string_view>(
      {"NIC Link is Down", "NIC: Link is Down", "NIC Copper Link is Down", "Link is Down",
       "Link is down", "link status definitely down"});
  const auto at = first_of(line, kDown);
  if (!at) return std::nullopt;
  auto name = interface_before(line, *at);
  if (const auto member = after(line, "(slave ")) name = leading_word(*member);
  // Those of containers come and go by the hundred, and have no slot.
  const bool placed = !first_address(line).empty() || has(line, "(slave ");
  const bool card = name.starts_with("e") || name.starts_with("ib");
  if ((!placed && !card) || leading_word(name) != name) return std::nullopt;
  return KernelMessage{.kind = link,
                       .pci = first_address(line),
                       .part = std::string{name},
                       .detail = bounded(line.substr(*at))};
}

/// "DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr 0xff9e0000 [fault reason 0x05]";
/// "nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0020 address=0xfd000000"; of
/// ARM "arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:". Source: drivers/iommu/intel/dmar.c,
/// drivers/iommu/amd/iommu.c, drivers/iommu/arm.
Found iommu_of(std::string_view line) {
  constexpr auto kBad = std::to_array<std::string_view>(
      {"AMD-Vi: Event logged [", "AMD-Vi: Completion-Wait loop timed out",
       "DMAR: DRHD: handling fault status", "Invalidation Queue Error", "Invalidation Time-out",
       "Unhandled context fault", "Unexpected global fault"});
  auto at = first_of(line, kBad);
  if (!at && has(line, "DMAR: [") && has(line, "fault addr")) at = line.find("DMAR: [");
  const bool smmu = has(line, "arm-smmu-v3") && (has(line, "event 0x") || has(line, "event: F_"));
  if (!at && smmu) at = line.find("arm-smmu-v3");
  if (!at) return std::nullopt;
  KernelMessage message{.kind = iommu, .detail = bounded(line.substr(*at))};
  for (const std::string_view mark : {"Request device [", "device=", "device [", "client: "})
    if (message.pci.empty()) message.pci = device_behind(line, mark);
  if (message.pci.empty()) message.pci = first_address(line);
  return message;
}

/// "NMI: PCI system error (SERR) for reason a1 on CPU 0."; "Uhhuh. NMI received for unknown reason
/// 2d on CPU 12.". Source: arch/x86/kernel/nmi.c.
Found nmi_of(std::string_view line) {
  constexpr auto kBad = std::to_array<std::string_view>(
      {"NMI: PCI system error", "NMI: IOCK error", "NMI: Not continuing",
       "NMI received for unknown reason", "NMI appears to be stuck"});
  const auto at = first_of(line, kBad);
  if (!at) return std::nullopt;
  return KernelMessage{.kind = nmi, .detail = bounded(line.substr(*at))};
}

Found hang_of(std::string_view line) {
  // Of a user's program it is "traps: x[7] general protection fault ip:...".
  constexpr auto kBad = std::to_array<std::string_view>({"soft lockup - CPU#",
                                                         "hard LOCKUP",
                                                         "blocked for more than ",
                                                         "self-detected stall",
                                                         "detected stalls on CPUs",
                                                         "detected expedited stalls on CPUs",
                                                         "unable to handle kernel",
                                                         "nable to handle page fault",
                                                         "nable to handle kernel",
                                                         "NULL pointer dereference, address",
                                                         "general protection fault, ",
                                                         "kernel BUG at ",
                                                         "Kernel panic",
                                                         "Oops: ",
                                                         "list_del corruption",
                                                         "list_add corruption",
                                                         "stack is corrupted",
                                                         "workqueue lockup",
                                                         "double fault: ",
                                                         "invalid opcode: 0000",
                                                         "kernel stack overflow"});
  auto at = first_of(line, kBad);
  if (!at && has(line, "Marking clocksource") && has(line, "as unstable"))
    at = line.find("Marking clocksource");
  // "BUG: Bad page state in process python3", not "DEBUG: " and not "(bug)" of a BIOS.
  for (const std::string_view mark : {"BUG: ", "BUG kmalloc", "Bad page map"}) {
    if (at) break;
    const auto found = line.find(mark);
    const bool whole =
        found != line.npos &&
        (found == 0 || std::isalpha(static_cast<unsigned char>(line[found - 1])) == 0);
    if (whole) at = found;
  }
  if (!at) return std::nullopt;
  return KernelMessage{.kind = hang, .detail = bounded(line.substr(*at))};
}

}  // namespace cupel::agent
