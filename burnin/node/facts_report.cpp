#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/gpu/gpu_domain.h"
#include "burnin/node/dimms.h"
#include "burnin/node/node_report.h"
#include "burnin/node/rdma_counters.h"
#include "burnin/node/watch_report.h"
#include "burnin/script.h"
#include "inventory/identity.h"

namespace cupel::burnin {
namespace {

using inventory::Part;
using inventory::PartKind;
using inventory::Profile;

constexpr std::string_view kSource = "cupel-node facts";

constexpr auto kMeasures = std::to_array<std::string_view>({
    "memory.total",
    "numa.nodes",
    "cpu.count",
    "cpu.threads",
    "cpu.throttled",
    "dimm.speed",
    "dimm.speed.below_fastest",
    "edac.uncorrected",
    "edac.corrected",
    "iommu.on",
    "uefi.boot",
    "uefi.secure_boot",
    "uefi.setup_mode",
    "console.serial",
    "time.synchronised",
    "time.service",
    "fabricmanager.active",
    "gpu.count",
    "gpu.memory.total",
    "gpu.power.limit",
    "gpu.power.default",
    "gpu.ecc.mode",
    "gpu.mig",
    "gpu.persistence",
    "gpu.remap.pending",
    "gpu.remap.failed",
    "gpu.remap.uncorrected",
    "gpu.ecc.uncorrected",
    "gpu.ecc.uncorrected.lifetime",
    "gpu.pcie.gen_max",
    "gpu.pcie.width_max",
    "gpu.pcie.width",
    "gpu.fabric.ready",
    "gpu.fabric.joined",
    "gpu.fabric.domains",
    "nvlink.active",
    "pcie.bandwidth",
    "pcie.narrow",
    "pcie.slow",
    "pcie.acs",
    "pcie.aer.uncorrected",
    "pcie.aer.corrected",
    "pcie.numa",
    "ib.port.active",
    "ib.port.rate",
    "ib.port.downed",
    "ib.port.symbol_errors",
    "ib.port.receive_errors",
    "ib.port.recovered",
    "rdma.*",
    "hca.pcie.width",
    "nic.rate",
    "nic.slow",
    "nvme.health_read",
    "nvme.used",
    "nvme.spare",
    "nvme.warnings",
    "nvme.media_errors",
    "nvme.temperature",
    "nvme.pcie.width",
});

std::string word_at(const json::value& root, std::string_view path) {
  return script::clean(text_at(root, path).value_or(""));
}

std::optional<double> count_at(const json::value& root, std::string_view path) {
  const auto value = number_at(root, path);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

Part part_of(PartKind kind, std::string name) {
  Part part;
  part.kind = kind;
  part.name = std::move(name);
  part.source = kSource;
  return part;
}

void add_firmware(std::string name, std::string version, Findings& findings) {
  if (version.empty()) return;
  auto part = part_of(PartKind::firmware, std::move(name));
  part.firmware = std::move(version);
  findings.parts.push_back(std::move(part));
}

void add_host(const json::value& facts, Findings& findings) {
  auto system = part_of(PartKind::system, "system");
  system.manufacturer = word_at(facts, "system/vendor");
  system.model = word_at(facts, "system/product");
  system.serial = inventory::reported_serial(word_at(facts, "system/serial"));
  if (!system.model.empty()) findings.parts.push_back(std::move(system));
  add_firmware("bios", word_at(facts, "system/bios"), findings);
  add_firmware("kernel", word_at(facts, "kernel/release"), findings);
  add_firmware("driver", word_at(facts, "drivers/nvidia"), findings);
  const auto bytes = count_at(facts, "memory/bytes");
  if (bytes && *bytes > 0) add(findings, "memory.total", "", *bytes / kGiB, "GiB");
  const auto nodes = rows_at(facts, "memory/numa").size();
  if (nodes > 0) add(findings, "numa.nodes", "", static_cast<double>(nodes), "count");
  add(findings, "iommu.on", "", flag_at(facts, "iommu/on"), "");
  add(findings, "time.synchronised", "", flag_at(facts, "time/synchronised"), "");
  const auto keeper = word_at(facts, "time/keeper");
  if (!keeper.empty())
    add(findings, "time.service", "time service", keeper == "none" ? 0.0 : 1.0, "");
  const auto manager = word_at(facts, "fabric_manager/state");
  if (manager == "active" || manager == "inactive")
    add(findings, "fabricmanager.active", "fabricmanager", manager == "active" ? 1.0 : 0.0, "");
}

/// Consoles of the kernel behind which a UART is.
std::optional<double> serial_consoles(const json::value& facts) {
  const auto* list = find(facts, "consoles");
  if (list == nullptr || !list->is_array()) return std::nullopt;
  double serial = 0;
  for (const auto& console : rows_at(facts, "consoles")) {
    const bool works = flag_at(console, "enabled") == 1 && flag_at(console, "uart") != 0;
    serial += works && flag_at(console, "serial") == 1 ? 1 : 0;
  }
  return serial;
}

/// The kinds of the active entries as they follow each other, and all entries for people.
void add_boot_order(const json::value& facts, Findings& findings) {
  constexpr std::size_t kMostEntries = 64, kLongestText = 1024;
  std::string kinds, entries, last;
  std::size_t count = 0;
  for (const auto& entry : rows_at(facts, "firmware/boot_order")) {
    if (++count > kMostEntries) break;
    const auto name = word_at(entry, "name"), label = word_at(entry, "label");
    auto kind = word_at(entry, "kind");
    const auto active = flag_at(entry, "active");
    // Of an entry that could not be read it is unknown what it is and whether it is tried.
    if (kind.empty() || !active) kind = "other";
    entries += fmt::format("{}{} {} ({}{})", entries.empty() ? "" : "; ", name, label, kind,
                           active == 0 ? ", inactive" : "");
    if (active == 0 || kind == last) continue;
    kinds += (kinds.empty() ? "" : ", ") + kind;
    last = std::move(kind);
  }
  if (!kinds.empty()) findings.facts["boot.order"] = shortened(kinds, kLongestText);
  if (!entries.empty()) findings.facts["boot.entries"] = shortened(entries, kLongestText);
  if (auto current = word_at(facts, "firmware/boot_current"); !current.empty())
    findings.facts["boot.current"] = std::move(current);
}

/// What the system sees of the settings of its firmware.
void add_settings(const json::value& facts, Findings& findings) {
  const auto mode = word_at(facts, "firmware/boot_mode");
  if (mode == "uefi" || mode == "bios")
    add(findings, "uefi.boot", "", mode == "uefi" ? 1.0 : 0.0, "");
  add(findings, "uefi.secure_boot", "", flag_at(facts, "firmware/secure_boot"), "");
  add(findings, "uefi.setup_mode", "", flag_at(facts, "firmware/setup_mode"), "");
  add(findings, "console.serial", "", serial_consoles(facts), "count");
  add_boot_order(facts, findings);
  for (const auto& [fact, path] : {std::pair{"cpu.governor", "cpufreq/governor"},
                                   std::pair{"cpu.energy_preference", "cpufreq/energy_preference"}})
    if (auto value = word_at(facts, path); !value.empty()) findings.facts[fact] = std::move(value);
}

/// Of all CPUs: a kernel without sockets (Arm) lists none. Documents of earlier versions have those
/// of each socket alone.
std::optional<double> threads_of(const json::value& facts) {
  if (const auto all = count_at(facts, "cpu_threads")) return all;
  const auto rows = rows_at(facts, "cpus");
  std::optional<double> sum = rows.empty() ? std::nullopt : std::optional{0.0};
  for (const auto& row : rows) {
    const auto more = count_at(row, "threads");
    sum = sum && more ? std::optional{*sum + *more} : std::nullopt;
  }
  return sum;
}

void add_cpus(const json::value& facts, Findings& findings) {
  const auto rows = rows_at(facts, "cpus");
  add(findings, "cpu.threads", "", threads_of(facts), "count");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto part = part_of(PartKind::cpu, fmt::format("cpu{}", i));
    part.model = word_at(rows[i], "model");
    part.manufacturer = word_at(rows[i], "vendor");
    part.count = count_at(rows[i], "cores");
    if (const auto id = count_at(rows[i], "physical_id")) {
      part.slot = fmt::format("physical id {:.0f}", *id);
      add(findings, "cpu.throttled", fmt::format("cpu{:.0f}", *id), count_at(rows[i], "throttled"),
          "count");
    }
    findings.parts.push_back(std::move(part));
  }
  if (!rows.empty()) add(findings, "cpu.count", "", static_cast<double>(rows.size()), "count");
}

/// A slot that tells no size is no proof of a DIMM; an empty one has none.
void add_dimms(const json::value& facts, Findings& findings) {
  const auto rows = rows_at(facts, "dimms");
  std::vector<DimmPlace> places;
  for (const auto& row : rows) places.push_back({word_at(row, "slot"), word_at(row, "bank")});
  const auto slots = dimm_slots(places);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto& slot = slots[i];
    const auto bytes = count_at(row, "bytes");
    if (bytes == 0) continue;
    auto part = part_of(PartKind::dimm, dimm_name(slot));
    if (slot.empty() || !bytes) {
      inventory::add_partial(findings.partial, {PartKind::dimm, std::string{kSource},
                                                "a DIMM is listed without a size", false});
      findings.unknown.push_back(
          {slot.empty() ? "a DIMM" : "size of " + part.name, std::string{kSource}, "not reported"});
      continue;
    }
    part.slot = slot;
    part.model = word_at(row, "type");
    part.manufacturer = word_at(row, "manufacturer");
    part.serial = inventory::reported_serial(word_at(row, "serial"));
    part.part_number = word_at(row, "part_number");
    part.size_bytes = bytes;
    add(findings, "dimm.speed", part.name, count_at(row, "speed"), "MT/s");
    findings.parts.push_back(std::move(part));
  }
}

/// A controller that does not tell its count leaves the sum unknown.
void add_edac(const json::value& facts, Findings& findings) {
  const auto controllers = rows_at(facts, "edac");
  for (const auto* key : {"uncorrected", "corrected"}) {
    const auto measure = fmt::format("edac.{}", key);
    std::optional<double> sum = 0.0;
    for (const auto& each : controllers) {
      const auto count = count_at(each, key);
      sum = sum && count ? std::optional{*sum + *count} : std::nullopt;
      for (const auto& dimm : rows_at(each, "dimms"))
        if (const auto label = word_at(dimm, "label"); !label.empty())
          add(findings, measure, "dimm " + label, count_at(dimm, key), "errors");
    }
    if (!controllers.empty()) add(findings, measure, "", sum, "errors");
  }
}

void add_gpu_numbers(const json::value& gpu, const std::string& name, Findings& findings) {
  const auto bytes = count_at(gpu, "memory");
  if (bytes) add(findings, "gpu.memory.total", name, *bytes / kGiB, "GiB");
  add(findings, "gpu.power.limit", name, count_at(gpu, "power/limit"), "W");
  add(findings, "gpu.power.default", name, count_at(gpu, "power/default"), "W");
  add(findings, "gpu.ecc.mode", name, flag_at(gpu, "ecc/now"), "");
  add(findings, "gpu.mig", name, flag_at(gpu, "mig/now"), "");
  add(findings, "gpu.persistence", name, flag_at(gpu, "persistence"), "");
  add(findings, "gpu.remap.pending", name, count_at(gpu, "counters/remap_pending"), "");
  add(findings, "gpu.remap.failed", name, count_at(gpu, "counters/remap_failed"), "");
  add(findings, "gpu.remap.uncorrected", name, count_at(gpu, "counters/remapped_uncorrectable"),
      "count");
  add(findings, "gpu.ecc.uncorrected", name, count_at(gpu, "counters/ecc_uncorrected"), "errors");
  add(findings, "gpu.ecc.uncorrected.lifetime", name,
      count_at(gpu, "counters/ecc_uncorrected_lifetime"), "errors");
  add(findings, "gpu.pcie.gen_max", name, count_at(gpu, "pcie_gen_max"), "");
  add(findings, "gpu.pcie.width_max", name, count_at(gpu, "pcie_width_max"), "lanes");
  add(findings, "gpu.pcie.width", name, count_at(gpu, "pcie_width"), "lanes");
  const auto state = word_at(gpu, "fabric/state");
  if (!state.empty() && state != "not supported") {
    const auto* faults = find(gpu, "fabric/faults");
    const bool has_faults = faults != nullptr && faults->is_array() && !faults->as_array().empty();
    const bool joined = state == "completed" && word_at(gpu, "fabric/status") == "success";
    add(findings, "gpu.fabric.ready", name, joined && !has_faults ? 1.0 : 0.0, "");
  }
  const auto links = rows_at(gpu, "nvlinks");
  double active = 0;
  for (const auto& link : links) active += flag_at(link, "active").value_or(0);
  if (!links.empty()) add(findings, "nvlink.active", name, active, "links");
}

GpuFabric fabric_of(const json::value& gpu, const std::string& name) {
  const auto state = word_at(gpu, "fabric/state");
  const auto clique = count_at(gpu, "fabric/clique");
  return {.gpu = name,
          .model = word_at(gpu, "name"),
          .state = state == "not supported" ? std::string{} : state,
          .status = word_at(gpu, "fabric/status"),
          .cluster = word_at(gpu, "fabric/cluster"),
          .clique = clique ? fmt::format("{:.0f}", *clique) : std::string{}};
}

void add_gpus(const json::value& facts, const Names& names, Findings& findings) {
  if (find(facts, "gpus") == nullptr) return;
  double count = 0;
  std::vector<GpuFabric> fabrics;
  for (const auto& gpu : rows_at(facts, "gpus")) {
    const auto index = count_at(gpu, "index");
    if (!index) continue;
    auto part = part_of(PartKind::gpu, names.of(fmt::format("gpu{:.0f}", *index)));
    part.model = word_at(gpu, "name");
    part.manufacturer = "NVIDIA";
    part.serial = inventory::reported_serial(word_at(gpu, "serial"));
    part.part_number = word_at(gpu, "board_part");
    part.firmware = word_at(gpu, "vbios");
    part.slot = word_at(gpu, "pci");
    part.size_bytes = count_at(gpu, "memory");
    // One that is listed and does not say how much memory it has does not answer.
    if (!part.size_bytes) {
      findings.unknown.push_back(
          {part.name, std::string{kSource}, "it is listed, but does not answer"});
      continue;
    }
    ++count;
    add_gpu_numbers(gpu, part.name, findings);
    fabrics.push_back(fabric_of(gpu, part.name));
    findings.parts.push_back(std::move(part));
  }
  add_domain(fabrics, findings);
  add(findings, "gpu.count", "", count, "GPUs");
}

/// Names of parts by their PCI addresses, as the drivers tell them.
std::map<std::string, std::string> places_of(const json::value& facts) {
  std::map<std::string, std::string> places;
  for (const auto& gpu : rows_at(facts, "gpus"))
    if (const auto index = count_at(gpu, "index"))
      places[fmt::format("gpu{:.0f}", *index)] = word_at(gpu, "pci");
  for (const auto* list : {"infiniband", "nvme"})
    for (const auto& row : rows_at(facts, list))
      if (flag_at(row, "bond") != 1) places[word_at(row, "name")] = word_at(row, "pci");
  return places;
}

/// What its weakest link lacks. Of a GPU at rest only the width means something: the speed of its
/// link may sleep.
void add_way(const json::value& device, const std::string& name, Findings& findings) {
  add(findings, "pcie.bandwidth", name, count_at(device, "weakest/gbits"), "Gb/s");
  std::optional<double> narrow, slow;
  std::string worst;
  for (const auto& hop : rows_at(device, "hops")) {
    const auto less = [&](const char* key, std::optional<double>& flag) {
      const auto now = count_at(hop, key), most = count_at(hop, fmt::format("max_{}", key));
      if (!now || !most) return;
      flag = std::max(flag.value_or(0), *now < *most ? 1.0 : 0.0);
      if (*now < *most)
        worst = fmt::format("{} below {}: {} {:g} of {:g}", word_at(hop, "below"),
                            word_at(hop, "above"), key, *now, *most);
    };
    less("width", narrow);
    less("speed", slow);
  }
  add(findings, "pcie.narrow", name, narrow, "");
  add(findings, "pcie.slow", name, slow, "");
  constexpr std::size_t kMostFacts = 64;
  if (!worst.empty() && findings.facts.size() < kMostFacts)
    findings.facts["pcie.weakest." + name] = script::clean(worst);
}

void add_device(const json::value& device, const std::string& name, Findings& findings) {
  add_way(device, name, findings);
  add(findings, "pcie.numa", name, count_at(device, "numa"), "");
  add(findings, "pcie.aer.corrected", name, count_at(device, "aer/correctable"), "errors");
  const auto fatal = count_at(device, "aer/fatal"), other = count_at(device, "aer/nonfatal");
  if (fatal && other) add(findings, "pcie.aer.uncorrected", name, *fatal + *other, "errors");
  // Sourced only where every bridge could be asked: one that sends peers up to the root is enough.
  double on = 0, unreported = 0;
  for (const auto& bridge : rows_at(device, "bridges")) {
    const auto acs = word_at(bridge, "acs");
    on += acs == "on" ? 1 : 0;
    unreported += acs != "on" && acs != "off" && acs != "none" ? 1 : 0;
  }
  if (on > 0 || unreported == 0) add(findings, "pcie.acs", name, on, "count");
}

void add_pci(const json::value& facts, const Names& names, Findings& findings) {
  std::map<std::string, std::string> by_address;
  for (const auto& [name, address] : places_of(facts))
    if (!address.empty()) by_address.emplace(address, name);
  int switches = 0;
  for (const auto& device : rows_at(facts, "pci")) {
    const auto address = word_at(device, "address");
    if (word_at(device, "kind") == "nvswitch") {
      auto part = part_of(PartKind::switch_chip, fmt::format("nvswitch{}", switches++));
      part.slot = address;
      findings.parts.push_back(std::move(part));
    }
    const auto found = by_address.find(address);
    if (found != by_address.end()) add_device(device, names.of(found->second), findings);
  }
}

void add_port(const std::string& hca, const json::value& port, Findings& findings) {
  const auto number = count_at(port, "port");
  const auto rate = count_at(port, "gbits");
  const auto state = word_at(port, "state"), physical = word_at(port, "phys_state");
  if (!number || !rate || state.empty() || physical.empty()) return;
  const auto which = *number == 1 ? hca : fmt::format("{}/{:.0f}", hca, *number);
  // A port that is down still reports the rate that it would like to have.
  const bool active = state == "ACTIVE" && physical == "LinkUp";
  add(findings, "ib.port.active", which, active ? 1.0 : 0.0, "");
  add(findings, "ib.port.rate", which, active ? *rate : 0.0, "Gb/s");
  if (!active)
    findings.unknown.push_back({"rate of " + which, "/sys/class/infiniband",
                                fmt::format("the port is not active: {}, {}", state, physical)});
  add(findings, "ib.port.downed", which, count_at(port, "link_downed"), "count");
  add(findings, "ib.port.symbol_errors", which, count_at(port, "symbol_errors"), "errors");
  add(findings, "ib.port.receive_errors", which, count_at(port, "receive_errors"), "errors");
  add(findings, "ib.port.recovered", which, count_at(port, "recovered"), "count");
  for (const auto counter : kRdmaCounters)
    add(findings, fmt::format("rdma.{}", counter), which, count_at(port, counter), "count");
}

void add_hcas(const json::value& facts, Findings& findings) {
  for (const auto& hca : rows_at(facts, "infiniband")) {
    const auto name = word_at(hca, "name");
    if (name.empty()) continue;
    for (const auto& port : rows_at(hca, "ports")) add_port(name, port, findings);
    // A bond has a port, but is made of HCAs and is none.
    if (flag_at(hca, "bond") == 1) continue;
    auto part = part_of(PartKind::hca, name);
    part.model = word_at(hca, "type");
    part.part_number = word_at(hca, "board_id");
    part.serial = inventory::reported_serial(word_at(hca, "serial"));
    if (auto guid = word_at(hca, "node_guid"); !guid.empty()) part.macs = {std::move(guid)};
    part.firmware = word_at(hca, "firmware");
    part.slot = word_at(hca, "pci");
    add(findings, "hca.pcie.width", name, count_at(hca, "pcie_width"), "lanes");
    findings.parts.push_back(std::move(part));
  }
}

void add_nics(const json::value& facts, Findings& findings) {
  for (const auto& nic : rows_at(facts, "nics")) {
    auto part = part_of(PartKind::nic, word_at(nic, "name"));
    if (part.name.empty()) continue;
    part.model = word_at(nic, "driver");
    part.serial = word_at(nic, "address");
    part.slot = word_at(nic, "pci");
    const auto gigabits = count_at(nic, "gbits");
    add(findings, "nic.rate", part.name, gigabits, "Gb/s");
    // Not of the BMC's USB network, which has no slot and what speed it likes.
    if (gigabits && *gigabits > 0 && !part.slot.empty())
      add(findings, "nic.slow", part.name, *gigabits < 1 ? 1 : 0, "");
    findings.parts.push_back(std::move(part));
  }
}

void add_drives(const json::value& facts, Findings& findings) {
  for (const auto& drive : rows_at(facts, "nvme")) {
    const auto name = word_at(drive, "name");
    if (name.empty()) continue;
    auto part = part_of(PartKind::nvme, name);
    part.model = word_at(drive, "model");
    part.serial = inventory::reported_serial(word_at(drive, "serial"));
    part.firmware = word_at(drive, "firmware");
    part.slot = word_at(drive, "pci");
    part.size_bytes = count_at(drive, "bytes");
    const auto state = word_at(drive, "state");
    part.health = state == "live" ? "OK" : state;
    findings.parts.push_back(std::move(part));
    add(findings, "nvme.pcie.width", name, count_at(drive, "pcie_width"), "lanes");
    const auto used = count_at(drive, "smart/used");
    add(findings, "nvme.health_read", name, used ? 1 : 0, "");
    add(findings, "nvme.used", name, used, "%");
    add(findings, "nvme.spare", name, count_at(drive, "smart/spare"), "%");
    add(findings, "nvme.warnings", name, count_at(drive, "smart/warnings"), "");
    add(findings, "nvme.media_errors", name, count_at(drive, "smart/media_errors"), "errors");
    add(findings, "nvme.temperature", name, number_at(drive, "smart/celsius"), "C");
  }
}

}  // namespace

Result<Findings> read_facts(const Profile& profile, std::string_view text) {
  const auto line = last_line(text, "facts");
  if (!line) return Error{Code::kNoMeasurement, "cupel-node reported no facts"};
  TRY(const auto facts, parse_line(*line));
  return findings_of_facts(profile, facts);
}

Findings findings_of_facts(const Profile& profile, const json::value& facts) {
  const Names names{profile, places_of(facts)};
  Findings findings;
  if (const auto host = word_at(facts, "kernel/hostname"); !host.empty())
    findings.facts["node.hostname"] = host;
  if (const auto words = word_at(facts, "kernel/command_line"); !words.empty())
    findings.facts["kernel.command_line"] = words;
  if (const auto epoch = count_at(facts, "time/epoch"))
    findings.facts["node.epoch"] = fmt::format("{:.0f}", *epoch);
  add_host(facts, findings);
  add_settings(facts, findings);
  add_cpus(facts, findings);
  add_dimms(facts, findings);
  compare_dimm_speeds(findings);
  add_edac(facts, findings);
  add_gpus(facts, names, findings);
  add_pci(facts, names, findings);
  add_hcas(facts, findings);
  add_nics(facts, findings);
  add_drives(facts, findings);
  add_unknown(findings, facts);
  return findings;
}

std::span<const std::string_view> facts_measures() { return kMeasures; }

}  // namespace cupel::burnin
