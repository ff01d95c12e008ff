#include "burnin/agent/node/kernel_messages.h"

#include <algorithm>

#include "base/enum_words.h"
#include "base/text.h"
#include "burnin/agent/node/hardware_messages.h"
#include "burnin/agent/node/message_text.h"
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

Found xid_of(std::string_view line) {
  const auto told = after(line, "NVRM: Xid (");
  const auto event = told ? event_of(*told) : std::nullopt;
  if (!event) return std::nullopt;
  KernelMessage message{.kind = xid, .code = event->code, .pci = event->pci};
  switch (burnin::weight_of_xid(event->code, event->rest)) {
    case burnin::XidWeight::information:
      message.weight = Weight::information;
      break;
    case burnin::XidWeight::corrected:
      message.weight = Weight::corrected;
      break;
    case burnin::XidWeight::error:
      break;
  }
  message.detail = bounded(event->rest);
  return message;
}

/// "NVRM: GPU 0000:61:00.0: RmInitAdapter failed! (0x62:0xffff:2477)"; "NVRM: GPU 0000:61:00.0: GPU
/// has fallen off the bus.", with an Xid before it or without.
Found gpu_of(std::string_view line) {
  const auto told = after(line, "NVRM: ");
  if (!told) return std::nullopt;
  constexpr std::array<std::string_view, 3> kBad{"RmInitAdapter failed", "fallen off the bus",
                                                 "GPU is lost"};
  if (std::ranges::none_of(kBad, [&](auto word) { return has(*told, word); })) return std::nullopt;
  return KernelMessage{.kind = gpu, .pci = first_address(*told), .detail = bounded(*told)};
}

/// One event is a head ("Fatal, Link 48 LTSSM Fault Up") and lines of data: only the head counts.
Found sxid_of(std::string_view line) {
  const auto told = after(line, ": SXid (");
  const auto event = told ? event_of(*told) : std::nullopt;
  if (!event) return std::nullopt;
  KernelMessage message{.kind = sxid, .code = event->code, .pci = event->pci};
  if (const auto name = after(line, "nvidia-nvswitch"))
    message.part = "nvswitch" + std::string{leading_word(*name)};
  message.weight = event->rest.starts_with("Fatal") ? Weight::error : Weight::information;
  const bool head = message.weight == Weight::error || event->rest.starts_with("Non-fatal");
  if (!head) return std::nullopt;
  message.detail = bounded(event->rest);
  return message;
}

/// The heads of an AER report: "nvidia 0000:1b:00.0: PCIe Bus Error: severity=Corrected, ..."
/// (since Linux 6.8 "Correctable", "Uncorrectable") and what firmware that has the error first
/// makes of it. The port's own line ("AER: Corrected error
/// received: 0000:1b:00.0") stands before each, and is passed over.
Found aer_of(std::string_view line) {
  // A port that cut its device off, and a device that did not come back.
  for (const std::string_view mark : {"DPC: containment event", "evice recovery failed"})
    if (const auto at = line.find(mark); at != line.npos)
      return KernelMessage{
          .kind = aer, .pci = first_address(line), .detail = bounded(line.substr(at))};
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
  const auto limited = after(line, "available PCIe bandwidth, limited by ");
  if (limited)
    return KernelMessage{.kind = pcie,
                         .weight = Weight::information,
                         .pci = first_address(line),
                         .detail = bounded(line.substr(line.find("limited by ")))};
  return std::nullopt;
}

Found nvme_of(std::string_view line) {
  // "nvme nvme0: I/O 5 QID 1 timeout, aborting"; "nvme0n1: I/O Error ..."; "critical medium error,
  // dev nvme0n1, sector 2048".
  constexpr std::array<std::string_view, 13> kBad{"timeout",
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
                                                  "protection error"};
  const auto told = after(line, "nvme nvme");
  const auto device = told ? told : after(line, "dev nvme");
  const auto plain = line.find("nvme");
  if (!device && (plain == line.npos || !has(line, "nvme") || !has(line, ": ")))
    return std::nullopt;
  if (has(line, "Shutdown timeout set to")) return std::nullopt;  // a drive that starts
  const auto number_text = device ? *device : line.substr(plain + 4);
  const auto index = leading_number(number_text);
  if (!index) return std::nullopt;
  const bool bad = std::ranges::any_of(kBad, [&](auto word) { return has(line, word); });
  if (!bad) return std::nullopt;
  return KernelMessage{
      .kind = nvme, .part = "nvme" + std::to_string(*index), .detail = bounded(line.substr(plain))};
}

/// "I/O error, dev sdb, sector 2048 op 0x0:(READ)"; "Buffer I/O error on dev sdb1"; "EXT4-fs error
/// (device sda2): ...". Not of drives that a BMC or nobody put in: sr0, fd0, loop3.
Found disk_of(std::string_view line) {
  constexpr std::array<std::string_view, 8> kMarks{"I/O error, dev ",
                                                   "critical medium error, dev ",
                                                   "critical target error, dev ",
                                                   "I/O error on dev ",
                                                   "EXT4-fs error (device ",
                                                   "BTRFS error (device ",
                                                   "BTRFS critical (device ",
                                                   "XFS ("};
  for (const auto mark : kMarks) {
    const auto told = after(line, mark);
    if (!told) continue;
    const bool said = mark != "XFS (" || has(*told, "orruption") || has(*told, "I/O error") ||
                      has(*told, "shut down") || has(*told, "Shutting down");
    const auto device = leading_word(told->substr(0, told->find('-')));
    if (!said || device.starts_with("sr") || device.starts_with("fd") || device.starts_with("loop"))
      return std::nullopt;
    const auto name = told->substr(0, told->find_first_of("), :"));
    std::string part = bounded(name);
    if (const auto drive = after(name, "nvme"); drive && leading_number(*drive))
      part = "nvme" + std::to_string(*leading_number(*drive));
    return KernelMessage{
        .kind = disk, .part = std::move(part), .detail = bounded(line.substr(line.find(mark)))};
  }
  return std::nullopt;
}

/// "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:838:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed,
/// status bad operation(0x2), syndrome (0x305684), err(-22)". That one floods the logs of DGX and
/// GB machines, from ports inside of the machine that lead nowhere, and is no fault
/// (leptonai/gpud#1164).
Found mlx5_of(std::string_view line) {
  const auto told = after(line, "mlx5_core ");
  if (!told) return std::nullopt;
  KernelMessage message{.kind = mlx5, .pci = first_address(line), .detail = bounded(*told)};
  constexpr std::array<std::string_view, 10> kBad{"health compromised",
                                                  "Fatal error",
                                                  "device's health",
                                                  "assert_",
                                                  "syndrome",
                                                  "cmd timeout",
                                                  "timeout",
                                                  "High temperature",
                                                  "firmware error",
                                                  "Port module event[error]"};
  constexpr std::array<std::string_view, 1> kFloods{"0x305684"};
  if (has(*told, "ACCESS_REG") &&
      std::ranges::any_of(kFloods, [&](auto code) { return has(*told, code); })) {
    message.weight = Weight::harmless;
    return message;
  }
  if (has(*told, "Port module event") && !has(*told, "error")) {
    message.weight = Weight::information;
    return message;
  }
  if (has(*told, "Link down")) {
    message.kind = link;
    return message;
  }
  if (has(*told, "Waiting for FW initialization")) {  // it starts: "timeout abort in 100s"
    message.weight = Weight::information;
    return message;
  }
  if (std::ranges::none_of(kBad, [&](auto word) { return has(*told, word); })) return std::nullopt;
  return message;
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

Found hang_of(std::string_view line) {
  // Of a user's program it is "traps: x[7] general protection fault ip:...".
  constexpr std::array<std::string_view, 11> kBad{"soft lockup - CPU#",
                                                  "hard LOCKUP",
                                                  "blocked for more than ",
                                                  "self-detected stall",
                                                  "detected stalls on CPUs",
                                                  "detected expedited stalls on CPUs",
                                                  "unable to handle kernel",
                                                  "general protection fault, ",
                                                  "kernel BUG at ",
                                                  "Kernel panic",
                                                  "Oops: "};
  for (const auto word : kBad) {
    const auto at = line.find(word);
    if (at == line.npos) continue;
    return KernelMessage{.kind = hang, .detail = bounded(line.substr(at))};
  }
  return std::nullopt;
}

constexpr std::array kReaders{xid_of,  sxid_of, gpu_of,  edac_of, aer_of, mce_of, pcie_of,
                              nvme_of, disk_of, mlx5_of, link_of, oom_of, hang_of};

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
  KernelRecord told{.priority = static_cast<int>(*priority) & 7,
                    .sequence = static_cast<std::uint64_t>(*sequence),
                    .seconds = *micros / 1e6};
  const auto body = record.substr(semicolon + 1);
  told.text = std::string{trimmed(body.substr(0, body.find('\n')))};
  for (const auto line : lines(body))
    if (line.starts_with(" DEVICE=")) told.device = std::string{trimmed(line.substr(8))};
  return told;
}

Found recognise(const KernelRecord& record) {
  auto found = recognise(std::string_view{record.text});
  constexpr std::string_view kPci = "+pci:";
  if (found && found->pci.empty() && record.device.starts_with(kPci))
    found->pci = pci_address(std::string_view{record.device}.substr(kPci.size())).value_or("");
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
