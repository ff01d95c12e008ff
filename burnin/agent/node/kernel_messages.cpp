#include "burnin/agent/node/kernel_messages.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {
namespace {

using enum MessageKind;
using Found = std::optional<KernelMessage>;

constexpr std::size_t kMostDetail = 160;

constexpr std::array<std::string_view, kMessageKinds> kKinds{
    "xid", "sxid", "mce", "edac", "aer", "pcie", "nvme", "mlx5", "link", "oom", "thermal", "hang"};
constexpr std::array<std::string_view, 4> kWeights{"harmless", "information", "corrected", "error"};

std::string bounded(std::string_view text) {
  std::string kept{trimmed(text.substr(0, kMostDetail))};
  for (char& c : kept)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  return kept;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// What follows `mark`; nothing where it is not there.
std::optional<std::string_view> after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  return at == text.npos ? std::nullopt : std::optional{text.substr(at + mark.size())};
}

std::optional<int> leading_number(std::string_view text) {
  int value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && value >= 0 ? std::optional{value} : std::nullopt;
}

/// Letters, digits and '_' from the beginning: "nvme0" of "nvme0: I/O".
std::string_view leading_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < 32 &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  return text.substr(0, end);
}

/// The first PCI address with domain and function in the text: "0000:1b:00.0".
std::string first_address(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
    if (dot < 10 || dot + 1 >= text.size()) continue;
    const auto found = pci_address(text.substr(dot - 10, 12));
    if (found && text[dot - 3] == ':' && text[dot - 6] == ':') return *found;
  }
  return {};
}

/// Those whose first action is a reset, a restart or a person, and contained memory errors: a
/// burn-in's own program makes no mistakes. The rest are the program's, or tell what is read
/// elsewhere. Source: NVIDIA's Xid catalogue, column "immediate action".
bool is_serious(int xid) {
  constexpr std::array kSerious{46,  48,  54,  62,  64,  74,  79,  92,  94,  95,  109, 110,
                                119, 120, 121, 136, 140, 142, 143, 144, 145, 146, 147, 148,
                                149, 150, 155, 156, 157, 158, 167, 168, 169, 171, 172};
  return std::ranges::find(kSerious, xid) != kSerious.end();
}

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
  message.weight = is_serious(event->code) ? Weight::error : Weight::information;
  // NVLink 5 says itself which of its events end nothing. Both spacings are in use.
  if (event->code >= 144 && event->code <= 150 && has(event->rest, "Nonfatal"))
    message.weight = Weight::corrected;
  message.detail = bounded(event->rest);
  return message;
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

Found mce_of(std::string_view line) {
  const auto error = after(line, "[Hardware Error]: ");
  const auto plain = after(line, "mce: ");
  if (const auto cpu = after(line, "mce: CPU"); cpu && has(line, "temperature")) {
    if (has(line, "temperature/speed normal")) return std::nullopt;
    return KernelMessage{.kind = thermal,
                         .weight = Weight::information,
                         .part = "CPU" + std::string{leading_word(*cpu)},
                         .detail = bounded(*plain)};
  }
  if (!error) return std::nullopt;
  // "Machine check events logged" tells of one; what it was is in the lines that EDAC writes.
  if (has(*error, "Machine check events logged"))
    return KernelMessage{.kind = mce, .weight = Weight::information, .detail = bounded(*error)};
  const auto cpu = after(*error, "CPU ");
  const bool head = cpu && (has(*error, "Machine Check") || has(*error, "MC"));
  const bool corrected = has(*error, "Corrected error");
  const bool uncorrected = has(*error, "Uncorrected") || has(*error, "Fatal") || has(line, "Fatal");
  if (!head && !corrected && !uncorrected) return std::nullopt;
  KernelMessage message{.kind = mce, .detail = bounded(*error)};
  if (cpu) message.part = "CPU" + std::string{leading_word(*cpu)};
  if (corrected && !uncorrected) message.weight = Weight::corrected;
  return message;
}

/// "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 ..."
Found edac_of(std::string_view line) {
  const auto told = after(line, "EDAC MC");
  if (!told) return std::nullopt;
  const auto rest = after(*told, ": ");
  if (!rest) return std::nullopt;
  const auto cells = words(*rest);
  const bool counted = cells.size() > 2 && (cells[1] == "CE" || cells[1] == "UE");
  if (!counted || !number_in(cells[0])) return std::nullopt;
  KernelMessage message{.kind = edac, .detail = bounded(*rest)};
  message.weight = cells[1] == "CE" ? Weight::corrected : Weight::error;
  if (const auto on = after(*rest, " on ")) {
    const auto label = on->substr(0, on->find_first_of(" ("));
    message.part = "dimm " + bounded(label);
  }
  return message;
}

/// The heads of an AER report: "nvidia 0000:1b:00.0: PCIe Bus Error: severity=Corrected, ..." and
/// what firmware that has the error first makes of it. The port's own line ("AER: Corrected error
/// received: 0000:1b:00.0") stands before each, and is passed over.
Found aer_of(std::string_view line) {
  const auto bus = after(line, "PCIe Bus Error: severity=");
  if (!bus) return std::nullopt;
  KernelMessage message{.kind = aer, .pci = first_address(line), .detail = bounded(*bus)};
  if (bus->starts_with("Corrected")) message.weight = Weight::corrected;
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
  constexpr std::array<std::string_view, 12> kBad{"timeout",
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
                                                  "protection error"};
  const auto told = after(line, "nvme nvme");
  const auto device = told ? told : after(line, "dev nvme");
  const auto plain = line.find("nvme");
  if (!device && (plain == line.npos || !has(line, "nvme") || !has(line, ": ")))
    return std::nullopt;
  const auto number_text = device ? *device : line.substr(plain + 4);
  const auto index = leading_number(number_text);
  if (!index) return std::nullopt;
  const bool bad = std::ranges::any_of(kBad, [&](auto word) { return has(line, word); });
  if (!bad) return std::nullopt;
  return KernelMessage{
      .kind = nvme, .part = "nvme" + std::to_string(*index), .detail = bounded(line.substr(plain))};
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
  constexpr std::array<std::string_view, 8> kBad{"soft lockup - CPU#",
                                                 "hard LOCKUP",
                                                 "blocked for more than ",
                                                 "rcu_sched self-detected stall",
                                                 "detected stalls on CPUs",
                                                 "unable to handle kernel",
                                                 "Kernel panic",
                                                 "Oops: "};
  for (const auto word : kBad) {
    const auto at = line.find(word);
    if (at == line.npos) continue;
    return KernelMessage{.kind = hang, .detail = bounded(line.substr(at))};
  }
  return std::nullopt;
}

constexpr std::array kReaders{xid_of,  sxid_of, edac_of, aer_of, mce_of, pcie_of,
                              nvme_of, mlx5_of, link_of, oom_of, hang_of};

}  // namespace

std::string_view to_string(MessageKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }
std::string_view to_string(Weight weight) { return kWeights.at(static_cast<std::size_t>(weight)); }

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

}  // namespace cupel::agent
