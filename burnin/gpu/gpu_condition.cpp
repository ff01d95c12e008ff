#include "burnin/gpu/gpu_condition.h"

#include <cmath>

#include "base/text.h"
#include "burnin/gpu/smi_xml.h"
#include "burnin/script.h"
#include "inventory/pci_address.h"

namespace cupel::burnin {
namespace {

using pugi::xml_node;

/// The sum of those counters that are reported, where any is.
std::optional<double> sum_of(const xml_node& gpu, const char* period, std::string_view begins,
                             std::string_view holds) {
  std::optional<double> sum;
  for (const auto& counter : gpu.first_element_by_path(period).children()) {
    const std::string_view name{counter.name()};
    if (!name.starts_with(begins) || name.find(holds) == name.npos) continue;
    const auto value = amount_of(script::clean(counter.text().get()), "");
    if (value && *value >= 0 && std::isfinite(*value)) sum = sum.value_or(0) + *value;
  }
  return sum;
}

/// Old drivers: single_bit/total.
std::optional<double> corrected(const xml_node& gpu) {
  if (const auto sum = sum_of(gpu, "ecc_errors/volatile", "dram_", "_correctable")) return sum;
  const auto total = text_of(gpu, "ecc_errors/volatile/single_bit/total");
  return total ? amount_of(*total, "") : std::nullopt;
}

std::optional<double> amount_at(const xml_node& gpu, const char* path, std::string_view unit) {
  const auto text = text_of(gpu, path);
  return text ? amount_of(*text, unit) : std::nullopt;
}

/// Whether a mode is another after the next reset: what is measured now is not what jobs get then.
std::optional<double> pending(const xml_node& gpu) {
  std::optional<double> found;
  for (const auto& [now, then] : {std::pair{"ecc_mode/current_ecc", "ecc_mode/pending_ecc"},
                                  std::pair{"mig_mode/current_mig", "mig_mode/pending_mig"}}) {
    const auto is = text_of(gpu, now), will_be = text_of(gpu, then);
    const auto before = is ? flag_of(*is) : std::nullopt;
    const auto after = will_be ? flag_of(*will_be) : std::nullopt;
    if (before && after) found = std::max(found.value_or(0), *before == *after ? 0.0 : 1.0);
  }
  return found;
}

/// Hardware and heat: what a GPU at rest has no reason for. Before driver 535 "throttle reasons".
std::optional<double> slowed_at_rest(const xml_node& gpu) {
  std::optional<double> found;
  for (const std::string_view list : {"clocks_event_reasons", "clocks_throttle_reasons"})
    for (const auto& reason : gpu.child(std::string{list}.c_str()).children()) {
      const std::string_view name{reason.name()};
      const bool hard = name.ends_with("hw_slowdown") || name.ends_with("hw_thermal_slowdown") ||
                        name.ends_with("hw_power_brake_slowdown") ||
                        name.ends_with("sw_thermal_slowdown");
      const auto active = flag_of(script::clean(reason.text().get()));
      if (hard && active) found = std::max(found.value_or(0), *active);
    }
  return found;
}

/// Whether somebody set the clocks of programs below the GPU's own (nvidia-smi -ac). A clock that
/// was locked (-lgc) is shown by no field: it is seen under load alone.
std::optional<double> lowered(const xml_node& gpu) {
  const auto set = amount_at(gpu, "applications_clocks/graphics_clock", " MHz");
  const auto own = amount_at(gpu, "default_applications_clocks/graphics_clock", " MHz");
  if (!set || !own) return std::nullopt;
  return *set < *own ? 1 : 0;
}

/// "WARNING: infoROM is corrupted at gpu 0000:1F:00.0". Source: nvidia-smi prints it behind a
/// table.
bool has_corrupt_inforom(std::string_view log, const std::string& address) {
  constexpr std::string_view kMark = "infoROM is corrupted at gpu ";
  for (auto at = log.find(kMark); at != log.npos; at = log.find(kMark, at + 1)) {
    const auto rest = log.substr(at + kMark.size());
    const auto place = trimmed(rest.substr(0, rest.find_first_of("\r\n")));
    if (inventory::same_pci(std::string{place}, address)) return true;
  }
  return false;
}

}  // namespace

void add_condition(const xml_node& gpu, const std::string& name, const std::string& address,
                   std::string_view log, Findings& findings) {
  const auto add = [&](std::string_view measure, std::optional<double> value,
                       std::string_view unit = "") {
    if (value && std::isfinite(*value))
      findings.measurements.push_back({std::string{measure}, name, *value, std::string{unit}});
  };
  add("gpu.ecc.corrected", corrected(gpu), "errors");
  add("gpu.ecc.sram_corrected", sum_of(gpu, "ecc_errors/volatile", "sram_", "_correctable"),
      "errors");
  add("gpu.ecc.sram_uncorrected.lifetime",
      sum_of(gpu, "ecc_errors/aggregate", "sram_", "_uncorrectable"), "errors");
  add("gpu.remap.corrected", amount_at(gpu, "remapped_rows/remapped_row_corr", ""), "count");
  constexpr const char* kLow = "remapped_rows/row_remapper_histogram/row_remapper_histogram_low";
  constexpr const char* kNone = "remapped_rows/row_remapper_histogram/row_remapper_histogram_none";
  add("gpu.remap.banks.low", amount_at(gpu, kLow, " bank(s)"), "count");
  add("gpu.remap.banks.none", amount_at(gpu, kNone, " bank(s)"), "count");
  add("gpu.mode.pending", pending(gpu));
  if (const auto mode = text_of(gpu, "compute_mode"); mode && *mode != "N/A")
    add("gpu.compute_mode.shared", *mode == "Default" ? 1 : 0);
  add("gpu.pcie.replay_rollovers", amount_at(gpu, "pci/replay_rollover_counter", ""), "count");
  add("gpu.slowdown.at_rest", slowed_at_rest(gpu));
  add("gpu.clocks.lowered", lowered(gpu));
  add("gpu.inforom.valid", has_corrupt_inforom(log, address) ? 0 : 1);
}

}  // namespace cupel::burnin
