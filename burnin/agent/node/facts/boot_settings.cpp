#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/efi_variables.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kMostConsoles = 32;

std::string word(std::string_view text) {
  return shortened(printable(trimmed(text)), kLongestWord);
}

void add_boot_entries(const Tree& tree, Report& report) {
  const auto current = efi_entries(tree, "BootCurrent");
  if (!current.empty())
    report.line.add("boot_current", std::string_view{efi_entry_name(current.front())});
  const auto order = efi_entries(tree, "BootOrder");
  if (order.empty())
    return report.unknown("boot order", efi_variable_path("BootOrder"), "absent, or unreadable");
  report.line.array("boot_order");
  for (const auto number : order) {
    const auto name = efi_entry_name(number);
    const auto option = load_option(tree, number);
    if (!option) report.unknown("boot entry " + name, efi_variable_path(name), "absent");
    report.line.object().add("name", std::string_view{name});
    if (option)
      report.line.add("label", std::string_view{option->label})
          .add("active", option->active)
          .add("kind", boot_kind(*option));
    report.line.end();
  }
  report.line.end();
}

/// "ttyS0", "ttyAMA0": a UART, not a virtual terminal.
bool is_serial(std::string_view console) {
  return console.starts_with("ttyS") || console.starts_with("ttyAMA");
}

struct Console {
  std::string name{};
  bool enabled = false;
};

/// Of /proc/consoles, "ttyS0  -W- (EC p  )  4:64", or by their names alone. Source:
/// Documentation/filesystems/proc.rst, 1.9, and Documentation/ABI/testing/sysfs-tty of Linux.
std::optional<std::vector<Console>> read_consoles(const Tree& tree) {
  std::vector<Console> consoles;
  const auto listed = tree.text("/proc/consoles");
  for (const auto line : lines(listed ? *listed : std::string{})) {
    const auto cells = words(line);
    const auto flags = line.find('(');
    if (cells.empty() || flags == line.npos || consoles.size() == kMostConsoles) continue;
    const auto shown = line.substr(flags, line.find(')', flags) - flags);
    consoles.push_back({word(cells[0]), shown.contains('E')});
  }
  if (listed) return consoles;
  const auto active = tree.text("/sys/class/tty/console/active");
  if (!active) return std::nullopt;
  for (const auto name : words(*active))
    if (consoles.size() < kMostConsoles) consoles.push_back({word(name), true});
  return consoles;
}

/// One value for all, or "mixed"; nothing where one of them reports none.
std::optional<std::string> common_word(const Tree& tree, const std::vector<std::string>& folders,
                                       std::string_view file) {
  std::optional<std::string> common;
  bool mixed = false;
  for (const auto& folder : folders) {
    const auto text = tree.text(folder + "/" + std::string{file});
    if (!text) return std::nullopt;
    mixed = mixed || (common && *common != *text);
    common = *text;
  }
  return mixed ? "mixed" : common ? std::optional{word(*common)} : std::nullopt;
}

}  // namespace

void add_boot_settings(const Tree& tree, Report& report) {
  constexpr std::string_view kFirmware = "/sys/firmware";
  const bool uefi = tree.exists("/sys/firmware/efi");
  // A kernel that has ACPI's tables and no EFI was started by a BIOS, or by a UEFI's CSM.
  const bool bios = !uefi && tree.exists("/sys/firmware/acpi");
  report.line.object("firmware");
  if (uefi || bios) report.line.add("boot_mode", uefi ? "uefi" : "bios");
  if (!uefi && !bios) report.unknown("boot mode", std::string{kFirmware}, "neither efi nor acpi");
  if (uefi) {
    for (const auto& [key, name] :
         {std::pair{"secure_boot", "SecureBoot"}, std::pair{"setup_mode", "SetupMode"}}) {
      const auto flag = efi_flag(tree, name);
      report.add(key, flag);
      if (!flag) report.unknown(name, efi_variable_path(name), "absent, unreadable, or no flag");
    }
    add_boot_entries(tree, report);
  }
  report.line.end();
}

void add_consoles(const Tree& tree, Report& report) {
  const auto consoles = read_consoles(tree);
  if (!consoles) return report.unknown("consoles", "/proc/consoles", "absent");
  report.line.array("consoles");
  for (const auto& console : *consoles) {
    const bool serial = is_serial(console.name);
    report.line.object().add("name", std::string_view{console.name});
    report.line.add("enabled", console.enabled).add("serial", serial);
    // 0 is PORT_UNKNOWN: the driver found no UART there. Source: include/uapi/linux/serial_core.h.
    const auto type = serial && !console.name.contains('/')
                          ? tree.number("/sys/class/tty/" + console.name + "/type")
                          : std::nullopt;
    if (type) report.line.add("uart", *type != 0);
    report.line.end();
  }
  report.line.end();
}

void add_frequency_policy(const Tree& tree, Report& report) {
  constexpr std::string_view kFolder = "/sys/devices/system/cpu/cpufreq";
  std::vector<std::string> policies;
  for (const auto& name : tree.names(kFolder))
    if (name.starts_with("policy") && number<int>(name.substr(6)))
      policies.push_back(std::string{kFolder} + "/" + name);
  if (policies.empty())
    return report.unknown("CPU frequency policy", std::string{kFolder},
                          "absent: this kernel does not set the CPUs' clocks");
  report.line.object("cpufreq").add("policies", std::uint64_t{policies.size()});
  for (const auto& [key, file] :
       {std::pair{"driver", "scaling_driver"}, std::pair{"governor", "scaling_governor"},
        std::pair{"energy_preference", "energy_performance_preference"}})
    report.add(key, common_word(tree, policies, file));
  report.line.end();
}

}  // namespace cupel::agent
