#include "rehearsal/tools/gpu_report.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kOnOff = "Enabled or Disabled";

std::uint64_t count_of(const std::string& value) {
  return number<std::uint64_t>(value).value_or(0);
}

/// What is counted since the driver started is counted for life too.
constexpr auto kFields = std::to_array<GpuReportField>({
    {"ecc.errors.corrected.volatile.dram", kCount,
     [](GpuView& gpu, const std::string& value) {
       gpu.volatile_ecc.dram_corrected += count_of(value);
       gpu.lifetime_ecc.dram_corrected += count_of(value);
     }},
    {"ecc.errors.corrected.volatile.sram", kCount,
     [](GpuView& gpu, const std::string& value) {
       gpu.volatile_ecc.sram_corrected += count_of(value);
       gpu.lifetime_ecc.sram_corrected += count_of(value);
     }},
    {"ecc.errors.uncorrected.aggregate.dram", kCount,
     [](GpuView& gpu, const std::string& value) {
       gpu.lifetime_ecc.dram_uncorrected += count_of(value);
     }},
    {"ecc.errors.uncorrected.aggregate.sram", kCount,
     [](GpuView& gpu, const std::string& value) {
       gpu.lifetime_ecc.sram_uncorrected += count_of(value);
     }},
    {"remapped_rows.correctable", kCount,
     [](GpuView& gpu, const std::string& value) { gpu.remaps.correctable = count_of(value); }},
    {"remapped_rows.uncorrectable", kCount,
     [](GpuView& gpu, const std::string& value) { gpu.remaps.uncorrectable = count_of(value); }},
    {"remapped_rows.histogram.low", kCount,
     [](GpuView& gpu, const std::string& value) { gpu.remaps.low_banks = count_of(value); }},
    {"remapped_rows.histogram.none", kCount,
     [](GpuView& gpu, const std::string& value) { gpu.remaps.empty_banks = count_of(value); }},
    {"replay_rollover_counter", kCount,
     [](GpuView& gpu, const std::string& value) { gpu.pcie_rollovers = count_of(value); }},
    {"ecc.mode.pending", kOnOff,
     [](GpuView& gpu, const std::string& value) { gpu.ecc_pending = value == "Enabled"; }},
    {"mig.mode.pending", kOnOff,
     [](GpuView& gpu, const std::string& value) { gpu.mig_pending = value == "Enabled"; }},
    {"compute_mode", "Exclusive_Process or Default",
     [](GpuView& gpu, const std::string& value) { gpu.compute_mode = value; }},
    {"inforom.checksum_validation", "invalid or valid",
     [](GpuView& gpu, const std::string& value) { gpu.inforom_valid = value == "valid"; }},
    {"fabric.cliqueId", kCount,
     [](GpuView& gpu, const std::string& value) { gpu.fabric_clique = value; }},
    {"fabric.clusterUuid", "another or none",
     [](GpuView& gpu, const std::string& value) {
       gpu.fabric_cluster = value == "none" ? std::string{kNoCluster} : domain_uuid("another rack");
     }},
    {"serial", kNameOfGpu, [](GpuView& gpu, const std::string& value) { gpu.part.serial = value; }},
    {"uuid", kNameOfGpu, [](GpuView& gpu, const std::string& value) { gpu.part.uuid = value; }},
});

/// What that GPU has in the same field.
std::string field_of(const Hardware& hardware, const std::string& gpu, std::string_view field) {
  const auto found = std::ranges::find(hardware.gpus, gpu, &Gpu::name);
  if (found == hardware.gpus.end()) return "N/A";
  return field == "uuid" ? found->uuid : found->serial;
}

}  // namespace

const GpuReportField* gpu_report_field(std::string_view name) {
  const auto* found = std::ranges::find(kFields, name, &GpuReportField::name);
  return found == kFields.end() ? nullptr : found;
}

std::vector<std::string> gpu_report_fields() {
  std::vector<std::string> names;
  for (const auto& field : kFields) names.emplace_back(field.name);
  return names;
}

bool takes(const GpuReportField& field, std::string_view value) {
  if (field.takes == kNameOfGpu) return true;
  if (field.takes == kCount) return number<std::uint32_t>(value).has_value();
  const auto known = words(field.takes);
  return value != "or" && std::ranges::find(known, value) != known.end();
}

void apply_reports(GpuView& gpu, std::span<const Fault> faults, const Hardware& hardware) {
  for (const auto& fault : faults) {
    const bool mine = fault.kind == FaultKind::gpu_report && fault.part == gpu.part.name;
    const auto* field = mine ? gpu_report_field(fault.component) : nullptr;
    if (field == nullptr) continue;
    const bool named = field->takes == kNameOfGpu;
    field->set(gpu, named ? field_of(hardware, fault.version, field->name) : fault.version);
  }
}

}  // namespace cupel::rehearsal
