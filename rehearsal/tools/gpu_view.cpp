#include "rehearsal/tools/gpu_view.h"

#include <fmt/format.h>

#include <cmath>

#include "base/digest.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_report.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;

/// Into the partition of all GPUs of the rack. Trays that stand in no rack of a site are of one
/// where their names are the same up to the last '-'. Source: NMX-Controller manual: partition
/// 32766 is the default one, of all GPUs.
void join_domain(GpuView& gpu, const Machine& machine) {
  const auto& name = machine.name();
  gpu.fabric_clique = "32766";
  gpu.fabric_cluster =
      domain_uuid(machine.rack().empty() ? name.substr(0, name.rfind('-')) : machine.rack());
}

void add_links(GpuView& gpu, const Machine& machine, const CountersCleared& cleared) {
  const auto& physics = machine.physics();
  const auto up = physics.nvlinks(gpu.part.index);
  const auto less = [](std::uint64_t count, std::uint64_t by) {
    return count - std::min(count, by);
  };
  for (std::size_t i = 0; i < up.size(); ++i) {
    const int link = static_cast<int>(i);
    const auto crc = physics.nvlink_crc(gpu.part.index, link);
    const auto past = cleared.nvlink_crc.find(link);
    const auto reported = less(crc, past == cleared.nvlink_crc.end() ? 0 : past->second);
    // A flit that fails its check is sent again.
    gpu.links.push_back({.up = up[i], .replays = reported, .crc = reported});
  }
}

void add_memory_health(GpuView& gpu, const Machine& machine, const CountersCleared& cleared,
                       int restarts) {
  const auto errors = machine.physics().gpu_errors(gpu.part.index);
  gpu.lifetime_ecc = {errors.corrected, errors.uncorrected};
  gpu.volatile_ecc = {errors.corrected - std::min(errors.corrected, cleared.corrected),
                      errors.uncorrected - std::min(errors.uncorrected, cleared.uncorrected)};
  // A row is remapped when the board begins anew: until then it waits.
  const bool waiting = fault_begun(machine, gpu_remap_pending, gpu.part.name) != nullptr;
  gpu.remaps.pending = waiting && restarts == 0;
  gpu.remaps.failed = fault_begun(machine, gpu_remap_failed, gpu.part.name) != nullptr;
  gpu.remaps.empty_banks = gpu.remaps.failed ? 1 : 0;
  gpu.remaps.uncorrectable = (waiting ? 1u : 0u) + (gpu.remaps.failed ? 8u : 0u);
}

void add_readings(GpuView& gpu, const Machine& machine) {
  const auto now = machine.physics().gpu(gpu.part.index);
  gpu.watts = now.watts;
  gpu.limit_watts = now.limit_watts;
  gpu.celsius = static_cast<int>(std::lround(now.celsius));
  gpu.memory_celsius = static_cast<int>(std::lround(now.memory_celsius));
  gpu.sm_mhz = now.sm_mhz;
  gpu.memory_mhz = now.memory_mhz;
  gpu.throttle = now.throttle;
  gpu.busy = now.utilisation;
  gpu.memory_busy = now.memory_utilisation;
  gpu.pcie_replays = machine.physics().gpu_errors(gpu.part.index).pcie_replays;
}

void add_settings(GpuView& gpu, const Machine& machine, const GpuSettings& set) {
  const auto there = [&](FaultKind kind) {
    return fault_begun(machine, kind, gpu.part.name) != nullptr;
  };
  gpu.persistence = set.persistence.value_or(!there(persistence_off));
  gpu.mig = set.mig.value_or(there(mig_on));
  gpu.mig_pending = set.mig_pending.value_or(gpu.mig);
  gpu.ecc = set.ecc.value_or(!there(ecc_off));
  gpu.ecc_pending = set.ecc_pending.value_or(gpu.ecc);
  gpu.compute_mode = set.compute_mode.value_or("Default");
  gpu.requested_watts = set.power_limit.value_or(gpu.limit_watts);
}

void add_processes(GpuView& gpu, const Machine& machine, const GpuDriver& driver) {
  gpu.processes = driver.processes(gpu.part.name);
  // What a job left behind holds most of the memory.
  if (fault_now(machine, gpu_busy, gpu.part.name))
    gpu.processes.push_back(
        {4211 + gpu.part.index, "python3", static_cast<int>(gpu.mib() * 7 / 8)});
  for (const auto& process : gpu.processes) gpu.used_mib += process.mib;
  gpu.used_mib = std::min(gpu.used_mib, static_cast<int>(gpu.mib()) - gpu.model.reserved_mib);
}

/// A reset, or a start of the driver, ends it; in one GPU until it works again.
bool wants_reset(const Machine& machine, const GpuDriver& driver, const std::string& gpu) {
  const bool fresh = driver.restarts(gpu) == 0;
  if (fault_begun(machine, gpu_wants_reset_again, gpu) != nullptr)
    return fresh || driver.worked(gpu);
  return fresh && fault_begun(machine, gpu_wants_reset, gpu) != nullptr;
}

/// The physics knows who has fallen off its bus; the driver, since when.
void see_who_fell(Host& host) {
  auto& machine = host.machine();
  for (const auto& gpu : machine.hardware().gpus) {
    const bool there = machine.physics().gpu(gpu.index).limit_watts > 0;
    const auto* fault = fault_begun(machine, gpu_off_bus, gpu.name);
    const auto now = machine.clock().elapsed();
    if (!there && machine.up())
      host.gpus().lose(gpu.name, (fault ? fault->timing.after : now).count());
  }
}

}  // namespace

std::string GpuView::product() const {
  return part.model.starts_with("NVIDIA") ? part.model : "NVIDIA " + part.model;
}

std::string GpuView::bus_id() const {
  auto id = "0000" + part.pci;
  for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return id;
}

bool is_of_nvl72(const GpuModel& model) {
  return model.model.starts_with("GB200") || model.model.starts_with("GB300");
}

std::string domain_uuid(std::string_view rack) {
  const auto digest = sha256_hex(fmt::format("domain of {}", rack));
  return fmt::format("{}-{}-4{}-8{}-{}", digest.substr(0, 8), digest.substr(8, 4),
                     digest.substr(12, 3), digest.substr(15, 3), digest.substr(18, 12));
}

int GpuView::links_up() const {
  return static_cast<int>(std::ranges::count(links, true, &NvLink::up));
}

bool DriverView::any_lost() const { return std::ranges::any_of(gpus, &GpuView::lost); }

std::string driver_version(const Hardware& hardware) {
  return hardware.version("driver", "590.48.01");
}

bool is_driver_loaded(const Machine& machine) {
  return fault_now(machine, driver_not_loaded) == nullptr;
}

FabricService fabric_manager(const Host& host) {
  const auto& machine = host.machine();
  const auto driver = driver_version(machine.hardware());
  FabricService manager{.version = driver};
  manager.running = fault_now(machine, fabric_manager_off) == nullptr && is_driver_loaded(machine);
  if (const auto* other = fault_now(machine, fabric_manager_version)) {
    manager.version = other->version.empty() ? "590.44.01" : other->version;
    manager.running = false;  // it refuses another driver's switches, and ends
  }
  manager.serves = manager.running;
  return manager;
}

DriverView look_at_gpus(Host& host) {
  auto& machine = host.machine();
  see_who_fell(host);
  DriverView view{.version = driver_version(machine.hardware())};
  view.library = view.version;
  if (const auto* other = fault_now(machine, driver_mismatch))
    view.library = other->version.empty() ? "595.58.03" : other->version;
  view.cuda = "13.1";
  view.now = machine.clock().epoch();
  view.loaded = is_driver_loaded(machine);
  if (!view.loaded) return view;
  const auto manager = fabric_manager(host);
  int index = 0;
  for (const auto& part : machine.hardware().gpus) {
    if (host.gpus().absent(part.name)) continue;
    auto& gpu = view.gpus.emplace_back();
    gpu.index = index++;
    gpu.part = part;
    gpu.model = gpu_model(part.model);
    gpu.lost = host.gpus().lost(part.name).has_value();
    const auto& cleared = host.gpus().cleared(part.name);
    add_readings(gpu, machine);
    add_settings(gpu, machine, host.gpus().settings(part.name));
    add_memory_health(gpu, machine, cleared, host.gpus().restarts(part.name));
    add_links(gpu, machine, cleared);
    add_processes(gpu, machine, host.gpus());
    gpu.pcie_replays -= std::min(gpu.pcie_replays, cleared.pcie_replays);
    gpu.fabric_state = manager.serves ? "Completed" : "In Progress";
    gpu.fabric_status = manager.serves ? "Success" : "N/A";
    if (gpu.model.links == 0) gpu.fabric_state = gpu.fabric_status = "N/A";
    if (is_of_nvl72(gpu.model) && manager.serves) join_domain(gpu, machine);
    if (gpu.remaps.pending || gpu.volatile_ecc.dram_uncorrected > 0 ||
        wants_reset(machine, host.gpus(), part.name))
      gpu.recovery = "Reset";
    apply_reports(gpu, machine.faults(), machine.hardware());
  }
  return view;
}

}  // namespace cupel::rehearsal
