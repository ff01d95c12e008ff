#include "burnin/agent/node/hardware_messages.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "base/text.h"
#include "burnin/agent/node/message_text.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {
namespace {

using enum MessageKind;
using Found = std::optional<KernelMessage>;

constexpr std::string_view kMark = "[Hardware Error]:";
constexpr std::string_view kSeverity = "event severity: ";

/// "mce: Uncorrected hardware memory error in user-access at 3f2a1c0"; "Memory failure: 0x3f2a1:
/// recovery action for dirty LRU page: Failed". Source: mm/memory-failure.c of Linux.
Found lost_memory_of(std::string_view line) {
  for (const std::string_view mark : {"hardware memory error in", "Memory failure: 0x",
                                      "oft-offlining pfn", "Soft offline: 0x"}) {
    const auto at = line.find(mark);
    if (at == line.npos) continue;
    const auto begin = std::min(line.find("Uncorrected "), at);
    return KernelMessage{.kind = mce, .detail = bounded(line.substr(begin))};
  }
  return std::nullopt;
}

/// "CPU7: Core temperature is above threshold, cpu clock is throttled (total events = 219)"; before
/// Linux 5.12 with "mce: " in front. Source: therm_throt.c of Linux.
Found heat_of(std::string_view line) {
  const auto at = line.find(" temperature");
  if (at == line.npos || !has(line.substr(at), "above threshold, cpu clock")) return std::nullopt;
  const auto cpu = line.substr(0, at).rfind("CPU");
  if (cpu == line.npos || !leading_number(line.substr(cpu + 3))) return std::nullopt;
  return KernelMessage{.kind = thermal,
                       .weight = Weight::information,
                       .part = "CPU" + std::string{leading_word(line.substr(cpu + 3))},
                       .detail = bounded(line.substr(cpu))};
}

/// "thermal thermal_zone0: acpitz: critical temperature reached"; "ACPI: thermal: Critical
/// temperature reached (105 C)". Source: drivers/thermal/thermal_core.c, drivers/acpi/thermal.c.
Found critical_heat_of(std::string_view line) {
  const auto at = line.find("ritical temperature reached");
  if (at == line.npos || !has(line, "thermal")) return std::nullopt;
  return KernelMessage{.kind = thermal, .detail = bounded(line.substr(at - (at == 0 ? 0 : 1)))};
}

Weight weight_of_severity(std::string_view severity) {
  if (severity.starts_with("corrected")) return Weight::corrected;
  return severity.starts_with("info") ? Weight::information : Weight::error;
}

/// "CPU 12: Machine Check: 0 Bank 7: 8c00004000010091": nothing without the bank's status.
/// Source: Intel SDM 3B, 15.3.2.2: bit 61, UC: the processor did not correct it.
std::optional<bool> is_corrected(std::string_view error) {
  const auto bank = after(error, " Bank ");
  const auto status = bank ? after(*bank, ": ") : std::nullopt;
  if (!status) return std::nullopt;
  std::uint64_t bits = 0;
  const auto word = leading_word(*status);
  const auto read = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
  if (read.ec != std::errc{} || word.size() != 16) return std::nullopt;
  return (bits >> 61 & 1) == 0;
}

/// So many corrected errors that the kernel stops taking an interrupt for each: "CMCI storm
/// detected: switching to poll mode"; since Linux 6.9 "CPU12 BANK7 CMCI storm detected". Source:
/// arch/x86/kernel/cpu/mce/intel.c, threshold.c.
Found storm_of(std::string_view line) {
  const auto at = line.find("CMCI storm detected");
  if (at == line.npos) return std::nullopt;
  KernelMessage message{.kind = mce, .detail = bounded(line.substr(at))};
  const auto cpu = line.substr(0, at).rfind("CPU");
  if (cpu != line.npos && leading_number(line.substr(cpu + 3)))
    message.part = "CPU" + std::string{leading_word(line.substr(cpu + 3))};
  return message;
}

}  // namespace

Found mce_of(std::string_view line) {
  const auto error = after(line, "[Hardware Error]: ");
  if (auto storm = storm_of(line)) return storm;
  if (auto heat = heat_of(line)) return heat;
  if (auto lost = lost_memory_of(line)) return lost;
  if (auto hot = critical_heat_of(line)) return hot;
  // What the handler says of an exception that it cannot survive: "mce: Machine check: Processor
  // context corrupt". Source: arch/x86/kernel/cpu/mce/severity.c. Of ARM:
  // arch/arm64/kernel/traps.c.
  for (const std::string_view mark :
       {"Machine check: ", "Fatal machine check", "Fatal local machine",
        "CPUs not responding to MCE", "SError Interrupt on CPU", "synchronous external abort"})
    if (const auto at = line.find(mark); at != line.npos && !error)
      return KernelMessage{.kind = mce, .detail = bounded(line.substr(at))};
  if (!error) return std::nullopt;
  if (const auto severity = after(*error, kSeverity)) {
    // Without a number in front it is of the boot before, which another run may have seen.
    // Source: ACPI 6.5, 18.3.1 (BERT); drivers/acpi/apei/bert.c.
    if (!line.substr(0, line.find(kMark)).ends_with('}'))
      return KernelMessage{.kind = mce,
                           .weight = Weight::information,
                           .detail = "of the boot before: " + bounded(*error)};
    return KernelMessage{
        .kind = mce, .weight = weight_of_severity(*severity), .detail = bounded(*error)};
  }
  // "Machine check events logged" tells of one; what it was is in the lines that EDAC writes.
  if (has(*error, "Machine check events logged"))
    return KernelMessage{.kind = mce, .weight = Weight::information, .detail = bounded(*error)};
  const auto cpu = after(*error, "CPU ");
  const bool head = cpu && (has(*error, "Machine Check") || has(*error, "MC"));
  const bool corrected = has(*error, "Corrected error");
  // Deferred: data is wrong, and nobody has used it yet (AMD).
  const bool uncorrected = has(*error, "Uncorrected") || has(*error, "Deferred error") ||
                           has(*error, "Fatal") || has(line, "Fatal");
  if (!head && !corrected && !uncorrected) return std::nullopt;
  KernelMessage message{.kind = mce, .detail = bounded(*error)};
  if (cpu) message.part = "CPU" + std::string{leading_word(*cpu)};
  const bool is_head_of_corrected = head && is_corrected(*error).value_or(false);
  if ((corrected || is_head_of_corrected) && !uncorrected) message.weight = Weight::corrected;
  return message;
}

/// "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 ..."
Found edac_of(std::string_view line) {
  const auto reported = after(line, "EDAC MC");
  if (!reported) return std::nullopt;
  const auto rest = after(*reported, ": ");
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

bool FirmwareReport::take(std::string_view line) {
  const auto message = after(line, kMark);
  if (!message) return false;
  // Without a number it is of the boot before (BERT), or no report at all.
  auto before = line.substr(0, line.find(kMark));
  if (!before.ends_with('}')) return false;
  before.remove_suffix(1);
  const auto number = bounded(before.substr(before.rfind('{') + 1));
  const auto severity = after(*message, kSeverity);
  if (is_open()) {
    if (number != number_ || severity) return false;
    note(*message);
    return true;
  }
  if (!severity) return false;
  number_ = number;
  severity_ = bounded(*severity);
  return true;
}

void FirmwareReport::note(std::string_view message) {
  const std::array<std::pair<std::string_view, std::string*>, 6> kRows{{
      {"section_type: ", &section_},
      {"physical_address: ", &address_},
      {"DIMM location: ", &dimm_},
      {"device_id: ", &device_},
      {"error_type: ", &type_},
      {"aer_uncor_status: ", &type_},
  }};
  for (const auto& [mark, into] : kRows)
    if (const auto value = after(message, mark); value && into->empty()) *into = bounded(*value);
}

KernelMessage FirmwareReport::finish() {
  const bool of_memory = has(section_, "memory error"), of_pcie = has(section_, "PCIe error");
  KernelMessage message{.kind = of_memory ? edac
                                : of_pcie ? aer
                                          : mce,
                        .weight = weight_of_severity(severity_)};
  const bool placed = !dimm_.empty() && !dimm_.starts_with("not present");
  if (placed) message.part = "dimm " + dimm_;
  if (of_pcie) message.pci = pci_address(device_).value_or("");
  std::string detail = "firmware reported severity " + severity_;
  for (const auto& [name, value] : {std::pair{"", &section_},
                                    {"", &type_},
                                    {"physical address ", &address_},
                                    {"DIMM ", &dimm_}})
    if (!value->empty()) detail += ", " + (name + *value);
  message.detail = bounded(detail);
  *this = FirmwareReport{};
  return message;
}

}  // namespace cupel::agent
