#include "burnin/agent/node/kernel_messages.h"

#include <algorithm>

#include "base/enum_words.h"
#include "base/text.h"
#include "burnin/agent/node/hardware_messages.h"
#include "burnin/agent/node/message_text.h"
#include "burnin/agent/node/system_messages.h"
#include "burnin/agent/node/tree.h"
#include "burnin/xids.h"

namespace cupel::agent {
namespace {

using enum MessageKind;
using Found = std::optional<KernelMessage>;

/// "(PCI:0000:1b:00): 79, pid=1, name=x, GPU has fallen off the bus."
struct Event {
  std::string pci;
  int code = 0;
  std::string_view rest;
};

std::optional<Event> event_of(std::string_view text) {
  const auto close = text.find("): ");
  if (close == text.npos) return std::nullopt;
  auto place = text.substr(0, close);
  if (place.starts_with("PCI:")) place.remove_prefix(4);
  place = place.substr(0, place.find(' '));  // of an instance of MIG: "0000:9b:00 GPU-I:05"
  const auto pci = pci_address(place);
  const auto code = leading_number(text.substr(close + 3));
  if (!pci || !code) return std::nullopt;
  const auto rest = after(text.substr(close + 3), ",");
  return Event{*pci, *code, rest ? trimmed(*rest) : std::string_view{}};
}

Weight weight_of(burnin::XidWeight weight) {
  switch (weight) {
    case burnin::XidWeight::information:
      return Weight::information;
    case burnin::XidWeight::corrected:
      return Weight::corrected;
    case burnin::XidWeight::error:
      return Weight::error;
  }
  return Weight::error;
}

Found xid_of(std::string_view line) {
  const auto reported = after(line, "NVRM: Xid (");
  const auto event = reported ? event_of(*reported) : std::nullopt;
  if (!event) return std::nullopt;
  return KernelMessage{.kind = xid,
                       .weight = weight_of(burnin::weight_of_xid(event->code, event->rest)),
                       .code = event->code,
                       .pci = event->pci,
                       .detail = bounded(event->rest)};
}

/// "NVRM: GPU 0000:61:00.0: RmInitAdapter failed! (0x62:0xffff:2477)"; "NVRM: GPU 0000:61:00.0: GPU
/// has fallen off the bus.", with an Xid before it or without. A GPU that the driver refuses until
/// it is reset says so in a failed assertion alone: status 0x62, NV_ERR_RESET_REQUIRED. Source:
/// NVIDIA's open kernel modules, src/nvidia and nvstatuscodes.h.
Found gpu_of(std::string_view line) {
  const auto reported = after(line, "NVRM: ");
  if (!reported) return std::nullopt;
  constexpr auto kReset = std::to_array<std::string_view>(
      {"NV_ERR_RESET_REQUIRED", "status=0x00000062", "need to be reset"});
  constexpr auto kBad =
      std::to_array<std::string_view>({"RmInitAdapter failed",
                                       "RmInitAdapter: Cannot",
                                       "rm_init_adapter failed",
                                       "fallen off the bus",
                                       "GPU is lost",
                                       "NV_ERR_GPU_IS_LOST",
                                       "NV_ERR_ECC_ERROR",
                                       "NV_ERR_RISCV_ERROR",
                                       "is probably locked",
                                       "global fatal error",
                                       "Failed to update Rx Detect Link mask",
                                       "cannot bootstrap",
                                       "unexpected WPR2",
                                       "PCI I/O region assigned to your NVIDIA device is invalid",
                                       "None of the NVIDIA devices were initialized",
                                       "ailed to copy vbios",
                                       "GPU recovery failed",
                                       "GPU is in an unrecoverable state",
                                       "GSP firmware heartbeat timeout",
                                       "Cannot attach gpu",
                                       "an IRQ for your NVIDIA card",
                                       "request_irq() failed"});
  const auto any = [&](const auto& words) {
    return std::ranges::any_of(words, [&](auto word) { return has(*reported, word); });
  };
  const bool reset = any(kReset);
  // Of one GPU among several the driver says how many there are, and names none.
  const bool failed = reset || any(kBad) || has(*reported, "NVIDIA probe routine failed for ");
  if (!failed) return std::nullopt;
  return KernelMessage{.kind = reset ? gpu_reset : gpu,
                       .pci = first_address(*reported),
                       .detail = bounded(*reported)};
}

/// One event is a head ("Fatal, Link 48 LTSSM Fault Up") and lines of data: only the head counts.
Found sxid_of(std::string_view line) {
  const auto reported = after(line, ": SXid (");
  const auto event = reported ? event_of(*reported) : std::nullopt;
  if (!event) return std::nullopt;
  KernelMessage message{.kind = sxid, .code = event->code, .pci = event->pci};
  if (const auto name = after(line, "nvidia-nvswitch"))
    message.part = "nvswitch" + std::string{leading_word(*name)};
  // One event is a head and lines of data: "Severity 1 Engine instance 62".
  const bool head = event->rest.starts_with("Fatal") || event->rest.starts_with("Non-fatal");
  if (!head) return std::nullopt;
  message.weight = weight_of(burnin::weight_of_sxid(event->code, event->rest));
  message.detail = bounded(event->rest);
  return message;
}

/// The heads of an AER report: "nvidia 0000:1b:00.0: PCIe Bus Error: severity=Corrected, ..."
/// (since Linux 6.8 "Correctable", "Uncorrectable") and what firmware that has the error first
/// makes of it. The port's own line ("AER: Corrected error
/// received: 0000:1b:00.0") stands before each, and is passed over.
Found aer_of(std::string_view line) {
  // A port that cut its device off, and a device that did not come back.
  for (const std::string_view mark :
       {"DPC: containment event", "DPC: unmasked uncorrectable error", "evice recovery failed",
        "can't recover (no error_detected callback)", "broadcast error_detected message",
        "EDR event received"})
    if (const auto at = line.find(mark); at != line.npos)
      return KernelMessage{
          .kind = aer, .pci = first_address(line), .detail = bounded(line.substr(at))};
  // The port's own line, of the device behind it: "AER: Multiple Uncorrected (Fatal) error
  // received: 0000:c9:01.0". Where the device's registers cannot be read no other line follows.
  if (const auto reported = after(line, "AER: "); reported && has(*reported, "Uncorrect")) {
    const auto from = after(*reported, "received");
    if (from)
      return KernelMessage{.kind = aer, .pci = first_address(*from), .detail = bounded(*reported)};
  }
  const auto bus = after(line, "PCIe Bus Error: severity=");
  if (!bus) return std::nullopt;
  KernelMessage message{.kind = aer, .pci = first_address(line), .detail = bounded(*bus)};
  if (bus->starts_with("Correct")) message.weight = Weight::corrected;
  return message;
}

Found pcie_of(std::string_view line) {
  const bool slot = has(line, "pcieport ") || has(line, "pciehp");
  if (slot && (has(line, "Link Down") || has(line, "Surprise Down")))
    return KernelMessage{.kind = pcie,
                         .pci = first_address(line),
                         .detail = bounded(line.substr(line.find("pcie")))};
  // A device that does not answer any more. Source: drivers/pci/pci.c, hotplug/pciehp_ctrl.c.
  for (const std::string_view mark :
       {"hange power state from", "Refused to change power state", "after FLR; giving up",
        "broken device, retraining", ": Power fault", "after bus reset; giving up",
        "link never came up", "Cannot train link", "Failed to check link status", "not ready"}) {
    const auto at = line.find(mark);
    const bool of_device = at != line.npos && !first_address(line).empty();
    const bool bad = mark != "not ready" || has(line, "giving up");
    if (of_device && bad)
      return KernelMessage{
          .kind = pcie, .pci = first_address(line), .detail = bounded(line.substr(at))};
  }
  const auto limited = after(line, "available PCIe bandwidth, limited by ");
  if (limited)
    return KernelMessage{.kind = pcie,
                         .weight = Weight::information,
                         .pci = first_address(line),
                         .detail = bounded(line.substr(line.find("limited by ")))};
  return std::nullopt;
}

/// "nvidia 0000:1b:00.0: probe with driver nvidia failed with error -1"; before Linux 6.10 "nvidia:
/// probe of 0000:1b:00.0 failed with error -1". Of a board's own small devices (sensors, buses) it
/// is reported of machines that are well, too. Source: drivers/base/dd.c.
Found probe_of(std::string_view line) {
  constexpr auto kDrivers = std::to_array<std::string_view>(
      {"nvidia", "mlx5_core", "nvme", "ice", "i40e", "ixgbe", "igb", "bnxt_en", "tg3",
       "megaraid_sas", "mpt3sas", "smartpqi", "aacraid"});
  constexpr std::string_view kOf = ": probe of ", kWith = "probe with driver ";
  const auto older = line.find(kOf), newer = line.find(kWith);
  const auto at = std::min(older, newer);
  if (at == line.npos || !has(line.substr(at), " failed with error -")) return std::nullopt;
  const auto before = line.substr(0, at);
  const auto driver = newer == at ? leading_word(line.substr(at + kWith.size()))
                                  : before.substr(before.find_last_of(" :]") + 1);
  if (std::ranges::find(kDrivers, driver) == kDrivers.end()) return std::nullopt;
  return KernelMessage{.kind = pcie,
                       .pci = first_address(line),
                       .detail = bounded(line.substr(line.find("probe ", before.size())))};
}

Found nvme_of(std::string_view line) {
  // "nvme nvme0: I/O 5 QID 1 timeout, aborting"; "nvme0n1: I/O Error ..."; "critical medium error,
  // dev nvme0n1, sector 2048".
  constexpr auto kBad = std::to_array<std::string_view>({"timeout",
                                                         "queues lost",
                                                         "controller is down",
                                                         "Removing after probe failure",
                                                         "Device not ready",
                                                         "Disabling device",
                                                         "failed to",
                                                         "I/O Error",
                                                         "I/O error",
                                                         "medium error",
                                                         "Abort status",
                                                         "resetting controller",
                                                         "frozen state error",
                                                         "protection error",
                                                         "shutdown incomplete",
                                                         "faulty power saving",
                                                         "globally duplicate",
                                                         " failed (",
                                                         "Unrecovered ",
                                                         "Media and Data Integrity"});
  const auto reported = after(line, "nvme nvme");
  const auto device = reported ? reported : after(line, "dev nvme");
  const auto plain = line.find("nvme");
  if (!device && (plain == line.npos || !has(line, "nvme") || !has(line, ": ")))
    return std::nullopt;
  // What drives say while they start that have no namespace descriptors, no autonomous power states
  // or ask for more host memory than there is: they work without. Source: drivers/nvme/host/core.c,
  // pci.c.
  for (const std::string_view mark : {"Shutdown timeout set to", "Identify Descriptors failed",
                                      "APST feature", "host memory buffer"})
    if (has(line, mark)) return std::nullopt;
  const auto number_text = device ? *device : line.substr(plain + 4);
  const auto index = leading_number(number_text);
  if (!index) return std::nullopt;
  const bool bad = std::ranges::any_of(kBad, [&](auto word) { return has(line, word); });
  if (!bad) return std::nullopt;
  return KernelMessage{
      .kind = nvme, .part = "nvme" + std::to_string(*index), .detail = bounded(line.substr(plain))};
}

constexpr auto kBadOfMlx5 = std::to_array<std::string_view>({"health compromised",
                                                             "failed with error code",
                                                             "in pre-initializing state",
                                                             "irisc not responding",
                                                             "unrecoverable hardware error",
                                                             "firmware CRC error",
                                                             "ICM fetch PCI",
                                                             "HW fatal error",
                                                             "sw_reset",
                                                             "handling bad device",
                                                             "health recovery",
                                                             "device recovery failed",
                                                             "Failed to load",
                                                             "Fatal error",
                                                             "device's health",
                                                             "assert_",
                                                             "syndrome",
                                                             "cmd timeout",
                                                             "timeout",
                                                             "High temperature",
                                                             "firmware error",
                                                             "Port module event[error]"});

/// "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:838:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed,
/// status bad operation(0x2), syndrome (0x305684), err(-22)". That one floods the logs of DGX and
/// GB machines, from ports inside of the machine that lead nowhere, and is no fault
/// (leptonai/gpud#1164).
Found mlx5_of(std::string_view line) {
  const auto reported = after(line, "mlx5_core ");
  if (!reported) return std::nullopt;
  KernelMessage message{.kind = mlx5, .pci = first_address(line), .detail = bounded(*reported)};
  constexpr std::array<std::string_view, 1> kFloods{"0x305684"};
  if (has(*reported, "ACCESS_REG") &&
      std::ranges::any_of(kFloods, [&](auto code) { return has(*reported, code); })) {
    message.weight = Weight::harmless;
    return message;
  }
  if (has(*reported, "Port module event") && !has(*reported, "error")) {
    message.weight = Weight::information;
    return message;
  }
  if (has(*reported, "Link down") || has(*reported, "Link DOWN")) {
    message.kind = link;
    return message;
  }
  if (has(*reported, "Detected insufficient power on the PCIe slot")) {
    message.weight = Weight::information;
    return message;
  }
  // "Health issue observed, firmware internal error, severity(3) ERROR:"; from 5 on, syslog's
  // notices.
  if (has(*reported, "Health issue observed")) {
    constexpr int kNotice = 5;
    const auto severity = after(*reported, "severity(");
    const auto level = severity ? leading_number(*severity) : std::nullopt;
    if (level.value_or(0) >= kNotice) message.weight = Weight::information;
    return message;
  }
  if (has(*reported, "Waiting for FW initialization")) {  // it starts: "timeout abort in 100s"
    message.weight = Weight::information;
    return message;
  }
  if (std::ranges::none_of(kBadOfMlx5, [&](auto word) { return has(*reported, word); }))
    return std::nullopt;
  return message;
}

/// "assert_var[0] 0x00000000", "synd 0x8: unrecoverable hardware error". Source:
/// drivers/net/ethernet/mellanox/mlx5/core/health.c, print_health_info.
bool is_health_dump(std::string_view detail) {
  return has(detail, "assert_") || has(detail, "synd 0x") || has(detail, "print_health_info");
}

/// "infiniband mlx5_0: mlx5_0:dump_cqe:272:(pid 0): dump error cqe"; "infiniband mlx5_4: Port: 1
/// Link DOWN". Source: drivers/infiniband/hw/mlx5/cq.c, main.c.
Found verbs_of(std::string_view line) {
  const auto reported = after(line, "infiniband mlx5_");
  if (!reported) return std::nullopt;
  const bool down = has(*reported, "Link DOWN");
  if (!down && !has(*reported, "dump error cqe")) return std::nullopt;
  return KernelMessage{.kind = down ? link : mlx5,
                       .part = "mlx5_" + std::string{leading_word(*reported)},
                       .detail = bounded(*reported)};
}

/// "ib6: lost carrier" of systemd-networkd; "link becomes ready" of the kernel.
Found link_of(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, bool>, 4> kWords{
      {{": lost carrier", true},
       {": Lost carrier", true},
       {": Gained carrier", false},
       {": link becomes ready", false}}};
  for (const auto& [word, lost] : kWords) {
    const auto at = line.find(word);
    if (at == line.npos) continue;
    const auto before = line.substr(0, at);
    const auto name = before.substr(before.find_last_of(" )") + 1);
    // Those of containers come and go by the hundred; these are the fabric's.
    if (!name.starts_with("ib") || leading_word(name) != name) return std::nullopt;
    return KernelMessage{.kind = link,
                         .weight = lost ? Weight::error : Weight::information,
                         .part = std::string{name},
                         .detail = bounded(line.substr(at + 2))};
  }
  return std::nullopt;
}

/// Of the several lines of one killing the one that names the victim.
Found oom_of(std::string_view line) {
  // "Out of memory" and "Memory cgroup out of memory".
  const auto at = line.find("ut of memory: Kill");
  if (at == line.npos) return std::nullopt;
  return KernelMessage{.kind = oom, .detail = bounded(line.substr(at == 0 ? 0 : at - 1))};
}

constexpr std::array kReaders{xid_of,  sxid_of,  gpu_of,  edac_of,  iommu_of, aer_of,
                              mce_of,  nmi_of,   pcie_of, probe_of, nvme_of,  disk_of,
                              mlx5_of, verbs_of, link_of, net_of,   oom_of,   hang_of};

}  // namespace

std::string_view to_string(MessageKind kind) { return enum_word<'-'>(kind); }
std::string_view to_string(Weight weight) { return enum_word<'-'>(weight); }

Found recognise(std::string_view line) {
  constexpr std::size_t kMostLine = 4096;
  line = line.substr(0, kMostLine);
  for (const auto read : kReaders)
    if (auto found = read(line)) return found;
  return std::nullopt;
}

std::optional<KernelRecord> parse_record(std::string_view record) {
  const auto semicolon = record.find(';');
  if (semicolon > 256) return std::nullopt;  // npos too
  const auto head = record.substr(0, semicolon);
  const auto first = head.find(','), second = head.find(',', first + 1);
  if (first == head.npos || second == head.npos) return std::nullopt;
  const auto priority = number_in(head.substr(0, first));
  const auto sequence = number_in(head.substr(first + 1, second - first - 1));
  const auto micros = number_in(head.substr(second + 1, head.find(',', second + 1) - second - 1));
  if (!priority || !sequence || !micros || *priority < 0 || *sequence < 0 || *priority > 1e6 ||
      *sequence > 9e15)
    return std::nullopt;
  KernelRecord reported{.priority = static_cast<int>(*priority) & 7,
                        .sequence = static_cast<std::uint64_t>(*sequence),
                        .seconds = *micros / 1e6};
  const auto body = record.substr(semicolon + 1);
  reported.text = std::string{trimmed(body.substr(0, body.find('\n')))};
  for (const auto line : lines(body))
    if (line.starts_with(" DEVICE=")) reported.device = std::string{trimmed(line.substr(8))};
  return reported;
}

Found recognise(const KernelRecord& record) {
  auto found = recognise(std::string_view{record.text});
  constexpr std::string_view kPci = "+pci:";
  if (found && found->pci.empty() && record.device.starts_with(kPci))
    found->pci = pci_address(std::string_view{record.device}.substr(kPci.size())).value_or("");
  // The dump behind the head of a health report has the report's own level.
  constexpr int kNotice = 5;
  if (found && found->kind == mlx5 && record.priority >= kNotice && is_health_dump(found->detail))
    found->weight = Weight::information;
  return found;
}

std::vector<KernelMessage> MessageReader::read(const KernelRecord& record) {
  std::vector<KernelMessage> found;
  if (report_->take(record.text)) return found;
  // Lines of other messages come in between; only another line of the firmware ends a report.
  if (report_->is_open() && has(record.text, "[Hardware Error]:")) {
    found.push_back(report_->finish());
    if (report_->take(record.text)) return found;
  }
  if (auto message = recognise(record)) found.push_back(*std::move(message));
  return found;
}

Found MessageReader::rest() {
  return report_->is_open() ? std::optional{report_->finish()} : std::nullopt;
}

MessageReader::MessageReader() : report_{std::make_unique<FirmwareReport>()} {}
MessageReader::~MessageReader() = default;

}  // namespace cupel::agent
