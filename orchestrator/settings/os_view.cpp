#include "orchestrator/settings/os_view.h"

#include <fmt/format.h>

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
std::optional<Seen> acs(const Findings& facts, std::string_view wanted) {
  double devices = 0, redirect = 0;
  for (const auto& one : facts.measurements) {
    if (one.name != "pcie.acs" || one.part.empty()) continue;
    devices += 1;
    redirect += one.value > 0 ? 1 : 0;
  }
  if (devices < 1) return std::nullopt;
  const bool on = redirect > 0;
  if (!on && wanted == "on" && measured(facts, "iommu.on").value_or(0) <= 0) return std::nullopt;
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

struct Row {
  std::string_view setting;
  std::optional<Seen> (*see)(const Findings&, std::string_view wanted);
};
constexpr std::array<Row, 4> kRows{
    {{"iommu", iommu}, {"acs", acs}, {"numa_per_socket", numa_per_socket}, {"smt", smt}}};

}  // namespace

OsView os_view(const std::vector<inventory::ExpectedPortable>& wanted, const Findings& facts) {
  OsView view;
  for (const auto& one : wanted) {
    const auto row = std::ranges::find(kRows, one.name, &Row::setting);
    const auto seen = row == kRows.end() ? std::nullopt : row->see(facts, one.value);
    if (!seen) continue;
    if (seen->value == one.value)
      view.confirmed.push_back(one.name);
    else
      view.contradicted.push_back(fmt::format("{} is {} to the operating system ({}), wanted {}",
                                              one.name, seen->value, seen->by, one.value));
  }
  return view;
}

}  // namespace cupel::settings
