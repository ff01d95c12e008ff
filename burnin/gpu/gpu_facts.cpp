#include "burnin/gpu/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/gpu/gpu_condition.h"
#include "burnin/gpu/gpu_domain.h"
#include "burnin/gpu/gpu_places.h"
#include "burnin/gpu/nvlink.h"
#include "burnin/gpu/smi_xml.h"
#include "burnin/script.h"
#include "inventory/identity.h"
#include "inventory/nvlink_domain.h"

namespace cupel::burnin {
namespace {

using inventory::Part;
using inventory::PartKind;
using inventory::Profile;
using pugi::xml_node;

constexpr std::string_view kSource = "nvidia-smi -q -x", kStage = "gpu-facts";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostGpus = 256;

/// One number, and where drivers have put it over the years.
struct Field {
  std::string_view measure;
  std::array<const char*, 4> paths;  // the first that is there
  std::string_view written;          // unit in the XML; "flag": Yes, Enabled
  double factor = 1;
  std::string_view unit = "";
};

constexpr std::array kFields{
    Field{"gpu.memory.total", {"fb_memory_usage/total"}, " MiB", 1.0 / 1024, "GiB"},
    Field{"gpu.ecc.mode", {"ecc_mode/current_ecc"}, "flag"},
    Field{"gpu.remap.pending",
          {"remapped_rows/remapped_row_pending", "remapped_rows/pending"},
          "flag"},
    Field{"gpu.remap.failed",
          {"remapped_rows/remapped_row_failure", "remapped_rows/failure"},
          "flag"},
    Field{"gpu.remap.uncorrected", {"remapped_rows/remapped_row_unc"}, "", 1, "count"},
    Field{"gpu.mig", {"mig_mode/current_mig"}, "flag"},
    Field{"gpu.ecc.sram_threshold", {"ecc_errors/aggregate/sram_threshold_exceeded"}, "flag"},
    Field{"gpu.persistence", {"persistence_mode"}, "flag"},
    Field{"gpu.pcie.width_max",
          {"pci/pci_gpu_link_info/link_widths/max_link_width"},
          "x",
          1,
          "lanes"},
    Field{"gpu.pcie.width",
          {"pci/pci_gpu_link_info/link_widths/current_link_width"},
          "x",
          1,
          "lanes"},
    Field{"gpu.pcie.gen_max", {"pci/pci_gpu_link_info/pcie_gen/max_link_gen"}, ""},
    Field{"gpu.pcie.gen", {"pci/pci_gpu_link_info/pcie_gen/current_link_gen"}, ""},
    Field{"gpu.pcie.replays", {"pci/replay_counter"}, "", 1, "count"},
    Field{"gpu.temperature", {"temperature/gpu_temp"}, " C", 1, "C"},
    Field{"gpu.temperature.memory", {"temperature/memory_temp"}, " C", 1, "C"},
    Field{"gpu.power",
          {"gpu_power_readings/power_draw", "gpu_power_readings/average_power_draw",
           "power_readings/power_draw", "gpu_power_readings/instant_power_draw"},
          " W",
          1,
          "W"},
    Field{"gpu.power.limit",
          {"gpu_power_readings/current_power_limit", "power_readings/enforced_power_limit",
           "power_readings/power_limit"},
          " W",
          1,
          "W"},
};

/// What says the same as a field of another name: either counts. Repairs of memory channels and of
/// TPCs wait for a reset as row remaps do. Source: nvidia-smi(1), "ECC Errors", since driver 575.
constexpr std::array<std::pair<std::string_view, const char*>, 3> kSameAs{{
    {"gpu.remap.pending", "ecc_errors/channel_repair_pending"},
    {"gpu.remap.pending", "ecc_errors/tpc_repair_pending"},
    {"gpu.remap.failed", "ecc_errors/unrepairable_memory"},
}};

constexpr std::array<std::string_view, 19> kCounted{
    "gpu.count", "gpu.reset_required", "gpu.ecc.uncorrected", "gpu.ecc.uncorrected.lifetime",
    "gpu.fabric.ready", "gpu.fabric.joined", "gpu.fabric.domains", "gpu.xid", "nvswitch.sxid",
    "nvlink.active", "nvlink.counted", "nvlink.crc_errors", "nvlink.replays", "nvlink.recoveries",
    "fabricmanager.active", "fabricmanager.matches", "driver.mismatch",
    // of a later reading: burnin/gains.h
    "gpu.remap.new", "nvlink.replays.new"};

constexpr auto kMeasures = [] {
  std::array<std::string_view, kCounted.size() + kFields.size() + kConditionMeasures.size()>
      names{};
  std::ranges::copy(kCounted, names.begin());
  std::ranges::transform(kFields, names.begin() + kCounted.size(), &Field::measure);
  std::ranges::copy(kConditionMeasures, names.end() - kConditionMeasures.size());
  return names;
}();

Result<Job> prepare(const Profile&, const Parameters&) {
  // Without persistence each question makes the driver start every GPU again.
  return agent_job({.stage = kStage, .tools = {"nvidia-smi"}}, std::chrono::seconds{5},
                   std::chrono::seconds{300});
}

struct Gpu {
  xml_node xml;
  std::string address;
  bool again =
      false;  // it was reported before: what it says now counts as well, but it is no other
  std::string name{};
};

std::string address_of(const xml_node& gpu) {
  auto address = script::clean(gpu.attribute("id").as_string());
  return address.empty() ? text_of(gpu, "pci/pci_bus_id").value_or("") : address;
}

/// In the order of their addresses.
std::vector<Gpu> gpus_of(const SmiLog& log, Findings& findings) {
  std::vector<Gpu> gpus;
  std::set<std::string> seen;
  for (const auto& document : log.documents)
    for (const auto& xml : document.child("nvidia_smi_log").children("gpu")) {
      Gpu gpu{xml, address_of(xml)};
      if (gpu.address.empty())
        findings.unknown.push_back({"a GPU", std::string{kSource}, "it has no PCI address"});
      else if (gpus.size() < kMostGpus) {
        gpu.again = !seen.insert(lower_case(gpu.address)).second;
        gpus.push_back(std::move(gpu));
      }
    }
  std::ranges::stable_sort(gpus, {}, [](const Gpu& gpu) { return lower_case(gpu.address); });
  return gpus;
}

void name_gpus(std::vector<Gpu>& gpus, std::span<const std::string> places, Findings& findings) {
  const bool placed = std::ranges::any_of(
      gpus, [&](const Gpu& gpu) { return gpu_at(gpu.address, places).has_value(); });
  if (!placed && !places.empty() && !gpus.empty())
    findings.unknown.push_back({"places of the GPUs", std::string{kSource},
                                "none of the profile's PCI addresses is there: numbered in the "
                                "order of their own"});
  std::size_t number = 0;
  for (auto& gpu : gpus) {
    number += gpu.again || &gpu == gpus.data() ? 0 : 1;
    gpu.name = placed ? gpu_at(gpu.address, places).value_or("gpu at " + gpu.address)
                      : fmt::format("gpu{}", number);
  }
}

std::optional<double> value_of(const Field& field, std::string_view text) {
  if (field.written == "flag") return flag_of(text);
  const auto value = amount_of(text, field.written);
  return value ? std::optional{*value * field.factor} : std::nullopt;
}

void add_unknown(const Gpu& gpu, std::string_view measure, std::string why, Findings& findings) {
  findings.unknown.push_back(
      {fmt::format("{} of {}", measure, gpu.name), std::string{kSource}, std::move(why)});
}

/// A GPU at rest may let its link sleep: what it then says is no fault (NVML,
/// nvmlDeviceGetCurrPcieLinkGeneration).
bool is_asleep(const Gpu& gpu, const Field& field) {
  const auto state = text_of(gpu.xml, "performance_state");
  return field.measure == "gpu.pcie.gen" && state && *state != "P0";
}

bool is_set(const Gpu& gpu, const char* path) {
  return flag_of(text_of(gpu.xml, path).value_or("")) == 1;
}

/// The first path that tells a number; else why not.
void add_field(const Gpu& gpu, const Field& field, Findings& findings) {
  if (is_asleep(gpu, field)) return add_unknown(gpu, field.measure, "it is idle", findings);
  for (const auto& [measure, path] : kSameAs)
    if (measure == field.measure && is_set(gpu, path)) {
      findings.measurements.push_back(
          {std::string{field.measure}, gpu.name, 1, std::string{field.unit}});
      return;
    }
  std::string why = "absent";
  for (const auto* path : field.paths) {
    const auto text = path == nullptr ? std::nullopt : text_of(gpu.xml, path);
    if (!text) continue;
    const auto value = value_of(field, *text);
    if (value && std::isfinite(*value)) {
      findings.measurements.push_back(
          {std::string{field.measure}, gpu.name, *value, std::string{field.unit}});
      return;
    }
    why = *text;
  }
  add_unknown(gpu, field.measure, why, findings);
}

/// The counters of one period, over all places where memory is. Old drivers: double_bit/total.
/// Nothing where one of them is not reported, unless the others suffice to say that it is not zero.
std::optional<double> uncorrected(const xml_node& period) {
  double sum = 0;
  std::size_t reported = 0, unreported = 0;
  const auto add = [&](const xml_node& counter) {
    const auto value = amount_of(script::clean(counter.text().get()), "");
    const bool good = value && *value >= 0;
    reported += good ? 1 : 0;
    unreported += good ? 0 : 1;
    if (good) sum += *value;
  };
  for (const auto& counter : period.children()) {
    if (std::string_view{counter.name()}.find("_uncorrectable") != std::string_view::npos)
      add(counter);
  }
  if (const auto total = period.first_element_by_path("double_bit/total")) add(total);
  const bool known = reported > 0 && (unreported == 0 || sum > 0);
  return known && std::isfinite(sum) ? std::optional{sum} : std::nullopt;
}

void add_ecc(const Gpu& gpu, Findings& findings) {
  constexpr std::array<std::pair<const char*, std::string_view>, 2> kPeriods{{
      {"ecc_errors/volatile", "gpu.ecc.uncorrected"},
      {"ecc_errors/aggregate", "gpu.ecc.uncorrected.lifetime"},
  }};
  for (const auto& [path, measure] : kPeriods) {
    const auto count = uncorrected(gpu.xml.first_element_by_path(path));
    if (count)
      findings.measurements.push_back({std::string{measure}, gpu.name, *count, "errors"});
    else
      add_unknown(gpu, measure, "not all counters reported", findings);
  }
}

/// Drivers before 550 say whether a reset is required or recommended, later ones what is to be
/// done: "None", "GPU Reset", "Node Reboot", "Drain P2P", "Drain and Reset" (NVML,
/// nvmlDeviceGpuRecoveryAction).
void add_reset(const Gpu& gpu, Findings& findings) {
  const auto old = text_of(gpu.xml, "gpu_reset_status/reset_required").value_or("N/A");
  const auto action = text_of(gpu.xml, "gpu_recovery_action").value_or("absent");
  auto required = flag_of(old);
  const bool named =
      action.contains("Reset") || action.contains("Reboot") || action.contains("Drain");
  if (action == "None" && !required) required = 0;
  if (named || is_set(gpu, "gpu_reset_status/drain_and_reset_recommended")) required = 1;
  if (required)
    findings.measurements.push_back({"gpu.reset_required", gpu.name, *required, ""});
  else
    add_unknown(gpu, "gpu.reset_required", action, findings);
}

GpuFabric fabric_of(const Gpu& gpu) {
  const auto reported = [&](const char* path) {
    const auto text = text_of(gpu.xml, path).value_or("N/A");
    return text == "N/A" ? std::string{} : text;
  };
  const auto chassis = reported("platformInfo/chassis_serial_number");
  return {.gpu = gpu.name,
          .model = reported("product_name"),
          .state = reported("fabric/state"),
          .status = reported("fabric/status"),
          .cluster = reported("fabric/clusterUuid"),
          .clique = reported("fabric/cliqueId"),
          .reports_chassis = chassis.find_first_not_of("0-") != chassis.npos};
}

/// Whether a GPU whose state is completed can reach the others. One of a rack's NVLink domain
/// reports its chassis' serial number; it has a cluster and a clique, which is 0 where no partition
/// has it. A machine that is a fabric by itself need have none of these (HGX H100: clique 0, a
/// cluster of zeros).
bool is_joined(const Gpu& gpu) {
  const auto fabric = fabric_of(gpu);
  const auto health = text_of(gpu.xml, "fabric/health/summary").value_or("N/A");
  const bool has_domain = inventory::nvlink_domain(fabric.cluster, fabric.clique).has_value();
  return (has_domain || !is_of_rack(fabric)) && health != "Unhealthy" &&
         health != "Limited Capacity";
}

/// Whether the fabric manager has joined it to the others. Not reported where there is no NVSwitch.
void add_fabric(const Gpu& gpu, Findings& findings) {
  const auto state = text_of(gpu.xml, "fabric/state").value_or("N/A");
  const auto status = text_of(gpu.xml, "fabric/status").value_or("N/A");
  if (state == "N/A") return;
  const bool completed = state == "Completed" && (status == "Success" || status == "N/A");
  const bool ready = completed && is_joined(gpu);
  findings.measurements.push_back({"gpu.fabric.ready", gpu.name, ready ? 1.0 : 0.0, ""});
}

/// "N/A", "[Not Supported]" and their like say nothing.
std::string reported(const xml_node& gpu, const char* path) {
  const auto text = text_of(gpu, path).value_or("");
  const bool nothing = text == "N/A" || text.starts_with('[') || text == "ERR!" ||
                       text.starts_with("Unknown") || text.starts_with("GPU ") ||
                       text.starts_with("Requested functionality");
  return nothing ? std::string{} : text;
}

Part part_of(const Gpu& gpu) {
  Part part;
  part.kind = PartKind::gpu;
  part.name = gpu.name;
  part.model = reported(gpu.xml, "product_name");
  part.manufacturer = "NVIDIA";
  part.serial = inventory::reported_serial(reported(gpu.xml, "serial"));
  part.part_number = reported(gpu.xml, "board_part_number");
  part.firmware = reported(gpu.xml, "vbios_version");
  part.slot = gpu.address;
  part.source = kSource;
  const auto mib = amount_of(text_of(gpu.xml, "fb_memory_usage/total").value_or(""), " MiB");
  if (mib) part.size_bytes = *mib * kMiB;
  return part;
}

/// One that the driver lists but cannot ask has no model and no memory.
bool answers(const Part& part) { return !part.model.empty() && part.size_bytes.has_value(); }

/// How many GPUs report the same text at `path`.
std::map<std::string, int> reported(const std::vector<Gpu>& gpus, const char* path) {
  std::map<std::string, int> count;
  for (const auto& gpu : gpus)
    if (const auto text = lower_case(reported(gpu.xml, path)); !text.empty() && !gpu.again)
      ++count[text];
  return count;
}

/// Whether each GPU has an identity of its own. The serial number is its board's: where boards
/// carry several GPUs each number comes equally often.
void add_unique(const std::vector<Gpu>& gpus, Findings& findings) {
  const auto uuids = reported(gpus, "uuid"), serials = reported(gpus, "serial");
  const bool one_a_board =
      std::ranges::any_of(serials, [](const auto& each) { return each.second == 1; });
  for (const auto& gpu : gpus) {
    const auto uuid = uuids.find(lower_case(reported(gpu.xml, "uuid")));
    const auto serial = serials.find(lower_case(reported(gpu.xml, "serial")));
    const bool known = uuid != uuids.end() || serial != serials.end();
    if (!known || gpu.again || !answers(part_of(gpu))) continue;
    const bool twice = (uuid != uuids.end() && uuid->second > 1) ||
                       (one_a_board && serial != serials.end() && serial->second > 1);
    findings.measurements.push_back({"gpu.unique", gpu.name, twice ? 0.0 : 1.0, ""});
  }
}

void add_gpus(const std::vector<Gpu>& gpus, std::string_view log, Findings& findings) {
  double count = 0;
  std::vector<GpuFabric> fabrics;
  for (const auto& gpu : gpus) {
    auto part = part_of(gpu);
    if (!answers(part)) {
      findings.unknown.push_back({gpu.name, std::string{kSource},
                                  "it is listed, but does not answer: " +
                                      text_of(gpu.xml, "product_name").value_or("no name")});
      continue;
    }
    if (!gpu.again) {
      ++count;
      fabrics.push_back(fabric_of(gpu));
      findings.parts.push_back(std::move(part));
    }
    for (const auto& field : kFields) add_field(gpu, field, findings);
    add_ecc(gpu, findings);
    add_reset(gpu, findings);
    add_fabric(gpu, findings);
    add_condition(gpu.xml, gpu.name, gpu.address, log, findings);
  }
  add_unique(gpus, findings);
  add_domain(fabrics, findings);
  findings.measurements.insert(findings.measurements.begin(), {"gpu.count", "", count, "GPUs"});
}

std::string add_driver(const SmiLog& log, Findings& findings) {
  const auto root = log.documents.front().child("nvidia_smi_log");
  Part driver;
  driver.kind = PartKind::firmware;
  driver.name = "driver";
  driver.firmware = reported(root, "driver_version");
  driver.source = kSource;
  const auto version = driver.firmware;
  if (!version.empty()) findings.parts.push_back(std::move(driver));
  findings.measurements.push_back({"driver.mismatch", "driver", 0, ""});
  return version;
}

std::vector<KnownGpu> known(const std::vector<Gpu>& gpus) {
  std::vector<KnownGpu> all;
  for (const auto& gpu : gpus)
    all.push_back({gpu.name, text_of(gpu.xml, "uuid").value_or(""), gpu.address});
  return all;
}

/// What the node's tools printed.
struct Printed {
  Output output{};                // nvidia-smi, and lines of the kernel's log
  std::string manager{};          // "active"
  std::string manager_version{};  // "Fabric Manager version is : 535.54.03"
};

void add_fabric_manager(const Printed& printed, const std::string& driver, Findings& findings) {
  constexpr std::string_view kPart = "fabricmanager";
  const auto state = trimmed(printed.manager);
  if (!state.empty())
    findings.measurements.push_back(
        {"fabricmanager.active", std::string{kPart}, state == "active" ? 1.0 : 0.0, ""});
  const std::string_view version{printed.manager_version};
  const auto colon = version.rfind(':');
  if (colon == version.npos || driver.empty()) return;
  const bool matches = trimmed(version.substr(colon + 1)) == driver;
  findings.measurements.push_back(
      {"fabricmanager.matches", std::string{kPart}, matches ? 1.0 : 0.0, ""});
}

/// The module that runs and the library that asks it are of two versions: one is fresh, and the
/// node was not restarted since.
bool is_mismatch(std::string_view text) {
  return text.find("Driver/library version mismatch") != text.npos;
}

/// "GPU0000:5D:00.0: Unknown Error", and of newer drivers "GPU3: 0000:61:00.0: Unknown Error".
struct Lost {
  std::string name{}, why{};
};

Lost lost_of(std::string_view words, std::span<const std::string> places) {
  if (words.starts_with("GPU")) words = trimmed(words.substr(3));
  constexpr std::string_view kParted = ": ";
  const auto cut = [&] {
    const auto end = std::min(words.find(kParted), words.size());
    auto piece = script::clean(words.substr(0, end));
    words.remove_prefix(std::min(end + kParted.size(), words.size()));
    return piece;
  };
  auto place = cut();
  const bool numbered = number<int>(place).has_value();
  std::string name = numbered ? "gpu" + place : std::string{};
  if (!numbered || words.find(kParted) != words.npos) {
    if (numbered) place = cut();
    name = gpu_at(place, places).value_or("gpu at " + place);
  }
  return {name, words.empty() ? "no handle" : script::clean(words)};
}

/// GPUs that fell off their bus: "Unable to determine the device handle for ...".
void add_lost(std::string_view text, std::span<const std::string> places, Findings& findings) {
  constexpr std::string_view kLost = "Unable to determine the device handle for ";
  constexpr std::size_t kMostLines = 64;
  std::set<std::string> seen;
  for (const auto line : lines(text)) {
    const auto at = line.find(kLost);
    if (at == line.npos || seen.size() == kMostLines) continue;
    auto lost = lost_of(trimmed(line.substr(at + kLost.size())), places);
    if (seen.insert(lost.name).second)
      findings.unknown.push_back({lost.name, std::string{kSource}, lost.why});
  }
}

std::string first_line(std::string_view text) {
  return std::string{text.substr(0, text.find('\n'))};
}

/// As a tool's lines come on a terminal, but for their order between the two streams.
void append_streams(const ToolOutput& tool, std::string& text) {
  for (const auto* stream : {&tool.out, &tool.errors}) {
    text += *stream;
    if (!stream->empty() && !stream->ends_with('\n')) text += '\n';
  }
}

Printed printed_on(const AgentOutput& read) {
  Printed printed;
  for (const auto& tool : read.tools) {
    if (tool.name == "nvidia-smi") append_streams(tool, printed.output.text);
    if (tool.name == "systemctl") printed.manager = first_line(tool.out);
    if (tool.name == "nv-fabricmanager") printed.manager_version = first_line(tool.out);
  }
  const auto* kernel = read.tool("dmesg");
  const bool readable = kernel != nullptr && kernel->status == 0 && !kernel->cut;
  if (readable) printed.output.text += std::string{kKernelLogMark} + "\n" + kernel->out;
  return printed;
}

/// Of cupel-node, or of a job that an earlier version started: a shell script.
Result<Printed> read_printed(const Output& output) {
  TRY(const auto read, read_agent_output(kStage, output, kMeasures));
  if (read) return printed_on(*read);
  const auto after = [&](std::string_view mark) {
    return std::string{script::after_mark(output, mark).value_or("")};
  };
  return Printed{output, after("cupel-fabricmanager: "), after("cupel-fabricmanager-version: ")};
}

Result<Findings> parse(const Profile& profile, const Output& from_node) {
  TRY(const auto printed, read_printed(from_node));
  const auto& output = printed.output;
  auto log = parse_smi(output.text);
  if (!log && output.text.find("No devices were found") != std::string::npos)
    return Findings{{{"gpu.count", "", 0, "GPUs"}}, {}, {}};
  if (!log && is_mismatch(output.text))
    return Findings{{{"driver.mismatch", "driver", 1, ""}}, {}, {}};
  if (!log) return Error{log.error().code, log.error().what + ": " + script::complaint(output)};
  Findings findings;
  auto gpus = gpus_of(*log, findings);
  const auto places = gpu_places(profile);
  name_gpus(gpus, places, findings);
  add_gpus(gpus, output.text, findings);
  const auto driver = add_driver(*log, findings);
  const auto named = known(gpus);
  add_nvlinks(output.text, named, findings);
  add_xids(output.text, named, places, findings);
  add_fabric_manager(printed, driver, findings);
  add_lost(output.text, places, findings);
  if (log->cut)
    inventory::add_partial(findings.partial,
                           {PartKind::gpu, std::string{kSource}, "its output is cut short", true});
  if (log->cut)
    findings.unknown.push_back({"GPUs", std::string{kSource}, "its output is cut short"});
  return findings;
}

}  // namespace

Stage gpu_facts() {
  Stage row{"gpu-facts",
            "read every GPU's state from the driver (nvidia-smi)",
            {},
            prepare,
            parse,
            kMeasures,
            {0.05, 0, "opening the driver takes each GPU out of its deepest idle state"},
            kPrograms};
  row.lists = Lists::gpus;
  return row;
}

}  // namespace cupel::burnin
