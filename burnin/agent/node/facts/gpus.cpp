#include <cstdio>

#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kSource = "NVML";
constexpr unsigned kMostGpus = 64, kMostLinks = 36;

/// One GPU's answers into its object; what it did not answer stands in the list of unknowns.
class Row {
 public:
  Row(Report& report, std::string gpu) : report_{report}, gpu_{std::move(gpu)} {}

  template <class Value>
  void add(std::string_view key, const nvml::Answer<Value>& answer) {
    if (!answer.value) return refuse(key, answer.why);
    report_.add(key, answer.value);
  }
  void add(std::string_view key, const nvml::Answer<std::pair<bool, bool>>& answer) {
    if (!answer.value) return refuse(key, answer.why);
    report_.line.object(key).add("now", answer.value->first);
    report_.line.add("pending", answer.value->second).end();
  }
  void refuse(std::string_view key, std::string_view why) {
    report_.unknown(std::string{key} + " of " + gpu_, std::string{kSource}, std::string{why});
  }

 private:
  Report& report_;
  std::string gpu_;
};

void add_memory_of(const nvml::Library& library, nvml::Device gpu, Row& row, Report& report) {
  const auto memory = library.memory(gpu);
  if (!memory.value) return row.refuse("memory", memory.why);
  report.line.add("memory", std::uint64_t{memory.value->total});
  report.line.add("memory_used", std::uint64_t{memory.value->used});
}

void add_power(const nvml::Library& library, nvml::Device gpu, Row& row, Report& report) {
  report.line.object("power");
  row.add("limit", library.limit_watts(gpu));
  row.add("enforced", library.enforced_watts(gpu));
  row.add("default", library.default_watts(gpu));
  const auto bounds = library.limits_watts(gpu);
  if (bounds.value)
    report.line.add("least", bounds.value->first).add("most", bounds.value->second);
  else
    row.refuse("power limits", bounds.why);
  report.line.end();
}

void add_counters(const nvml::Library& library, nvml::Device gpu, Row& row, Report& report) {
  constexpr std::array<std::pair<unsigned, const char*>, 8> kAsked{{
      {nvml::kRemappedCorrectable, "remapped_correctable"},
      {nvml::kRemappedUncorrectable, "remapped_uncorrectable"},
      {nvml::kRemapPending, "remap_pending"},
      {nvml::kRemapFailed, "remap_failed"},
      {nvml::kEccCorrectedVolatile, "ecc_corrected"},
      {nvml::kEccUncorrectedVolatile, "ecc_uncorrected"},
      {nvml::kEccCorrectedLifetime, "ecc_corrected_lifetime"},
      {nvml::kEccUncorrectedLifetime, "ecc_uncorrected_lifetime"},
  }};
  std::vector<unsigned> ids;
  for (const auto& [id, name] : kAsked) ids.push_back(id);
  const auto reported = library.fields(gpu, ids);
  report.line.object("counters");
  for (std::size_t i = 0; i < kAsked.size(); ++i) row.add(kAsked[i].second, reported[i]);
  report.line.end();
}

/// A link that the chip does not have is "invalid argument" or "not supported": the rest are its.
void add_links(const nvml::Library& library, nvml::Device gpu, Report& report) {
  report.line.array("nvlinks");
  for (unsigned link = 0; link < kMostLinks; ++link) {
    const auto active = library.nvlink_active(gpu, link);
    if (!active.value) break;
    report.line.object().add("link", static_cast<std::int64_t>(link));
    report.line.add("active", *active.value).end();
  }
  report.line.end();
}

void add_fabric_health(const nvml::Fabric& fabric, Report& report) {
  if (!fabric.health) return;
  const auto health = nvml::fabric_health(*fabric.health);
  report.line.object("health");
  report.add("degraded_bandwidth", health.degraded_bandwidth);
  report.add("route_recovery", health.route_recovery);
  report.add("route_unhealthy", health.route_unhealthy);
  report.add("access_timeout_recovery", health.access_timeout_recovery);
  if (!health.wrong_configuration.empty())
    report.line.add("wrong_configuration", health.wrong_configuration);
  report.line.end();
}

void add_fabric(const nvml::Library& library, nvml::Device gpu, Row& row, Report& report) {
  constexpr std::array<const char*, 4> kStates{"not supported", "not started", "in progress",
                                               "completed"};
  const auto fabric = library.fabric(gpu);
  if (!fabric.value) return;  // there is none
  if (fabric.value->state >= kStates.size())
    return row.refuse("fabric", "a state that is not known");
  report.line.object("fabric").add("state", kStates[fabric.value->state]);
  if (fabric.value->state == 3)
    report.line.add("status", fabric.value->status == 0 ? std::string_view{"success"}
                                                        : nvml::error_text(fabric.value->status));
  report.line.add("clique", static_cast<std::int64_t>(fabric.value->clique));
  if (fabric.value->has_cluster())
    report.line.add("cluster", nvml::uuid_text(fabric.value->cluster));
  add_fabric_health(*fabric.value, report);
  report.line.array("faults");
  const bool of_rack = nvml::is_of_rack(library.name(gpu).value.value_or(""));
  if (fabric.value->state == 3 && fabric.value->status == 0)
    for (const auto& fault : nvml::fabric_faults(*fabric.value, of_rack)) report.line.item(fault);
  report.line.end().end();
}

void add_gpu(const nvml::Library& library, nvml::Device gpu, unsigned index, Report& report) {
  Row row{report, "gpu" + std::to_string(index)};
  report.line.object().add("index", static_cast<std::int64_t>(index));
  row.add("name", library.name(gpu));
  row.add("uuid", library.uuid(gpu));
  const auto pci = library.pci(gpu);
  const auto address = pci.value ? pci_address(*pci.value) : std::nullopt;
  report.add("pci", address);
  if (!address) row.refuse("pci", pci.value ? "no PCI address" : pci.why);
  row.add("serial", library.serial(gpu));
  row.add("board_id", library.board_id(gpu));
  row.add("board_part", library.board_part(gpu));
  row.add("vbios", library.vbios(gpu));
  add_memory_of(library, gpu, row, report);
  row.add("ecc", library.ecc(gpu));
  row.add("mig", library.mig(gpu));
  row.add("persistence", library.persistence(gpu));
  add_power(library, gpu, row, report);
  row.add("max_sm_mhz", library.max_sm_mhz(gpu));
  row.add("pcie_gen", library.pcie_gen(gpu));
  row.add("pcie_gen_max", library.pcie_gen_max(gpu));
  row.add("pcie_width", library.pcie_width(gpu));
  row.add("pcie_width_max", library.pcie_width_max(gpu));
  add_counters(library, gpu, row, report);
  add_links(library, gpu, report);
  add_fabric(library, gpu, row, report);
  report.line.end();
}

}  // namespace

void add_gpus(const nvml::Library& library, Report& report) {
  report.line.object("nvml").add("works", library.works());
  if (library.works()) {
    report.add("driver", library.driver_version().value);
    report.add("library", library.library_version().value);
  }
  report.line.end();
  if (!library.works()) {
    report.unknown("GPUs", std::string{kSource}, library.why());
    return;
  }
  const auto count = library.count();
  if (!count.value) report.unknown("GPUs", std::string{kSource}, std::string{count.why});
  report.line.array("gpus");
  for (unsigned i = 0; i < std::min(count.value.value_or(0), kMostGpus); ++i) {
    const auto gpu = library.device(i);
    if (gpu.value)
      add_gpu(library, *gpu.value, i, report);
    else
      report.unknown("gpu" + std::to_string(i), std::string{kSource}, std::string{gpu.why});
  }
  report.line.end();
}

}  // namespace cupel::agent
