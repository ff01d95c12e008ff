#include "orchestrator/settings/os_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace cupel::settings {
namespace {

using burnin::Findings;

std::optional<double> measured(const Findings& facts, std::string_view name) {
  const auto found = std::ranges::find_if(
      facts.measurements, [&](const auto& one) { return one.name == name && one.part.empty(); });
  return found == facts.measurements.end() ? std::nullopt : std::optional{found->value};
}

/// What the operating system sees in place of a value, and how it came to know; nothing where it
/// was not measured.
struct Seen {
  std::string value{};
  std::string by{};
};

std::optional<Seen> iommu(const Findings& facts, std::string_view) {
  const auto on = measured(facts, "iommu.on");
  if (!on) return std::nullopt;
  return Seen{*on > 0 ? "on" : "off", fmt::format("iommu.on {}", plain(*on))};
}

/// Bridges above any device that send peers' traffic up for a check. Linux turns that on only where
/// it uses an IOMMU (pci_enable_acs()): without one, a bridge that does not is no proof.
std::optional<Seen> acs(const Findings& facts, std::string_view expected) {
  double devices = 0, redirect = 0;
  for (const auto& one : facts.measurements) {
    if (one.name != "pcie.acs" || one.part.empty()) continue;
    devices += 1;
    redirect += one.value > 0 ? 1 : 0;
  }
  if (devices < 1) return std::nullopt;
  const bool on = redirect > 0;
  if (!on && expected == "on" && measured(facts, "iommu.on").value_or(0) <= 0) return std::nullopt;
  return Seen{on ? "on" : "off",
              fmt::format("pcie.acs of {} of {} devices", plain(redirect), plain(devices))};
}

/// NUMA nodes of each socket. Where they do not divide evenly some are memory alone (a GPU's, CXL).
std::optional<Seen> numa_per_socket(const Findings& facts, std::string_view) {
  const auto nodes = measured(facts, "numa.nodes"), sockets = measured(facts, "cpu.count");
  if (!nodes || !sockets || *sockets < 1) return std::nullopt;
  const auto each = static_cast<long>(*nodes) / static_cast<long>(*sockets);
  if (each * static_cast<long>(*sockets) != static_cast<long>(*nodes)) return std::nullopt;
  return Seen{std::to_string(each),
              fmt::format("numa.nodes {}, cpu.count {}", plain(*nodes), plain(*sockets))};
}

std::optional<Seen> smt(const Findings& facts, std::string_view) {
  const auto threads = measured(facts, "cpu.threads");
  double cores = 0;
  for (const auto& part : facts.parts)
    if (part.kind == inventory::PartKind::cpu) cores += part.count.value_or(0);
  if (!threads || cores < 1) return std::nullopt;
  return Seen{*threads > cores ? "on" : "off",
              fmt::format("cpu.threads {} of {} cores", plain(*threads), plain(cores))};
}

std::string word_of(const Findings& facts, std::string_view name) {
  const auto found = facts.facts.find(std::string{name});
  return found == facts.facts.end() ? std::string{} : found->second;
}

/// Of this boot. A machine that a BIOS or a CSM started checked no signature.
std::optional<Seen> secure_boot(const Findings& facts, std::string_view) {
  const auto uefi = measured(facts, "uefi.boot"), secure = measured(facts, "uefi.secure_boot");
  if (!secure && uefi && *uefi <= 0) return Seen{"off", "uefi.boot 0"};
  if (!secure) return std::nullopt;
  const auto setup = measured(facts, "uefi.setup_mode");
  // In setup mode there is no key to check by: Linux takes Secure Boot as off there
  // (efi_get_secureboot_mode()).
  if (*secure > 0 && setup && *setup > 0)
    return Seen{"off", "uefi.secure_boot 1, uefi.setup_mode 1"};
  return Seen{*secure > 0 ? "on" : "off", fmt::format("uefi.secure_boot {}", plain(*secure))};
}

/// The kernel's console beside the firmware's. A kernel without a serial console is no proof,
/// unless its command line asks for one: then no UART is there.
std::optional<Seen> sol(const Findings& facts, std::string_view expected) {
  const auto serial = measured(facts, "console.serial");
  if (!serial || expected != "on") return std::nullopt;
  if (*serial > 0) return Seen{"on", fmt::format("console.serial {}", plain(*serial))};
  const auto line = word_of(facts, "kernel.command_line");
  const bool asks = std::ranges::any_of(words(line), [](std::string_view each) {
    return each.starts_with("console=ttyS") || each.starts_with("console=ttyAMA");
  });
  if (!asks) return std::nullopt;
  return Seen{"off", "console.serial 0, and its command line has a serial console"};
}

/// By the energy preference, else by a governor that has one clock alone. Source:
/// Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst and cpufreq.rst of Linux.
std::string_view profile_of(std::string_view governor, std::string_view preference) {
  if (governor == "performance" || preference == "performance") return "performance";
  if (preference == "balance_performance") return "balanced";
  if (preference == "balance_power" || preference == "power") return "efficiency";
  return preference.empty() && governor == "powersave" ? "efficiency" : "";
}

/// Only the opposite of what is requested contradicts: between the two the system has its own
/// default.
std::optional<Seen> power_profile(const Findings& facts, std::string_view expected) {
  const auto governor = word_of(facts, "cpu.governor"),
             preference = word_of(facts, "cpu.energy_preference");
  const auto profile = profile_of(governor, preference);
  const bool opposite = profile != expected && profile != "balanced" && expected != "balanced";
  if (profile.empty() || (profile != expected && !opposite)) return std::nullopt;
  auto by = "cpu.governor " + (governor.empty() ? std::string{"unknown"} : governor);
  if (!preference.empty()) by += ", cpu.energy_preference " + preference;
  return Seen{std::string{profile}, std::move(by)};
}

/// The firmware's own order, which can differ from the BMC's copy. Nothing where entries of an
/// unknown kind may explain it: the BMC may know their kind by their names.
std::optional<Seen> boot_order(const Findings& facts, const std::vector<std::string>& expected) {
  const auto order = word_of(facts, "boot.order");
  if (order.empty()) return std::nullopt;
  std::vector<std::string> kinds;
  for (const auto kind : split(order, ',')) kinds.emplace_back(trimmed(kind));
  const auto in_order = [&] {
    return std::ranges::is_sorted(kinds, {}, [&](const std::string& kind) {
      return std::ranges::find(expected, kind) - expected.begin();
    });
  };
  const bool has_all = std::ranges::all_of(expected, [&](const std::string& kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
  });
  const bool as_expected = has_all && in_order();
  const bool unknown_kind = std::erase(kinds, "other") > 0;
  if (!as_expected && unknown_kind && in_order()) return std::nullopt;
  return Seen{as_expected ? fmt::format("{}", fmt::join(expected, ", ")) : order,
              "BootOrder of the firmware"};
}

struct Row {
  std::string_view setting;
  std::optional<Seen> (*see)(const Findings&, std::string_view expected);
};
constexpr std::array<Row, 7> kRows{{{"iommu", iommu},
                                    {"acs", acs},
                                    {"numa_per_socket", numa_per_socket},
                                    {"smt", smt},
                                    {"secure_boot", secure_boot},
                                    {"sol", sol},
                                    {"power_profile", power_profile}}};

void compare(std::string_view name, std::string_view expected, const std::optional<Seen>& seen,
             OsView& view) {
  if (!seen) return;
  if (seen->value == expected)
    view.confirmed.emplace_back(name);
  else
    view.contradicted.push_back(fmt::format("{} is {} to the operating system ({}), expected {}",
                                            name, seen->value, seen->by, expected));
}

}  // namespace

OsView os_view(const inventory::MachineSettings& expected, const Findings& facts) {
  OsView view;
  for (const auto& one : expected.portable) {
    const auto row = std::ranges::find(kRows, one.name, &Row::setting);
    if (row != kRows.end()) compare(one.name, one.value, row->see(facts, one.value), view);
  }
  if (!expected.boot_order.empty())
    compare("boot_order", fmt::format("{}", fmt::join(expected.boot_order, ", ")),
            boot_order(facts, expected.boot_order), view);
  return view;
}

}  // namespace cupel::settings
