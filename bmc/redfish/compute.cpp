// CPUs, GPUs and DIMMs, from the Processors and Memory of every System of the node.
#include <array>
#include <set>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;
constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::array kProcessors{PartKind::cpu, PartKind::gpu};
constexpr std::array kMemories{PartKind::dimm};

bool by_name(const Document& left, const Document& right) {
  return natural_less(last_name(left.uri), last_name(right.uri));
}

/// Memory soldered to a GPU shows up beside the DIMMs (HGX: "GPU_SXM_1_DRAM_0").
bool is_gpu_memory(const Document& memory) {
  const auto type = reported(memory.body, "MemoryDeviceType");
  return type.starts_with("HBM") || last_name(memory.uri).starts_with("GPU");
}

std::optional<double> size_of(const json::value& memory) {
  const auto mib = number_at(memory, "CapacityMiB");
  return mib && *mib > 0 ? std::optional{*mib * kMiB} : std::nullopt;
}

/// "dimm A7" of "DIMM A7"; what has no locator goes by its name in the BMC.
std::string dimm_name(const Document& dimm) {
  auto where = reported(dimm.body, "DeviceLocator");
  const auto name = reported(dimm.body, "Name");
  if (where.empty() && lower_case(name).starts_with("dimm ") && name != "DIMM Slot") where = name;
  if (where.empty()) where = std::string{last_name(dimm.uri)};
  if (lower_case(where).starts_with("dimm ")) where.erase(0, 5);
  return "dimm " + where;
}

void add_dimm(Survey& survey, const Document& memory) {
  if (memory.body.is_null() || is_absent(memory.body)) return;
  const auto mib = number_at(memory.body, "CapacityMiB");
  const auto* reported_size = find(memory.body, "CapacityMiB");
  const bool bare = reported(memory.body, "SerialNumber").empty();
  const bool no_size = reported_size != nullptr && (reported_size->is_null() || mib == 0.0);
  // An empty slot; one that is in use and says nothing of itself is none.
  if (no_size && bare && text_at(memory.body, "Status/State") == "Enabled") {
    survey.not_whole(kMemories, memory.uri, "it is in use, and reports neither size nor serial",
                     true);
    survey.unknown(dimm_name(memory), memory.uri, "neither size nor serial");
    return;
  }
  if (no_size && bare) return;
  Part dimm = part_of(PartKind::dimm, dimm_name(memory), memory);
  dimm.size_bytes = size_of(memory.body);
  if (dimm.slot.empty()) dimm.slot = reported(memory.body, "DeviceLocator");
  survey.add(std::move(dimm));
}

/// The sum of what is soldered to this GPU; where one of them has no size, what the GPU reports of
/// all together: a sum of the others would be too small.
std::optional<double> memory_of(Survey& survey, const Document& gpu,
                                const std::vector<Document>& memories) {
  const std::string prefix = std::string{last_name(gpu.uri)} + "_";
  double sum = 0;
  bool whole = true;
  for (const auto& memory : memories) {
    if (!last_name(memory.uri).starts_with(prefix)) continue;
    const auto size = size_of(memory.body);
    if (!size)
      survey.unknown("size of " + std::string{last_name(memory.uri)}, memory.uri, "absent");
    sum += size.value_or(0);
    whole = whole && size;
  }
  if (whole && sum > 0) return sum;
  const auto mib = number_at(gpu.body, "MemorySummary/TotalMemorySizeMiB");
  return mib && *mib > 0 ? std::optional{*mib * kMiB} : std::nullopt;
}

/// What people call it. HPE's Model is a part number; Lenovo's is in the PCIe device alone.
Task<std::string> gpu_model(Survey& survey, const Document& gpu) {
  auto model = reported(gpu.body, "Model");
  const auto name = reported(gpu.body, "Name");
  const bool number = !model.empty() && model == reported(gpu.body, "PartNumber");
  if (number && !name.empty()) co_return name;
  if (!model.empty()) co_return model;
  const auto device = survey.link(gpu, "Links/PCIeDevice");
  if (device.empty()) co_return model;
  const auto pcie = co_await survey.read(device, "model of " + std::string{last_name(gpu.uri)},
                                         Survey::Holds::details);
  if (!pcie) co_return model;
  model = reported(pcie->body, "Model");
  co_return model.empty() ? reported(pcie->body, "Name") : model;
}

Task<void> add_gpu(Survey& survey, const Document& gpu, std::size_t number,
                   const std::vector<Document>& memories, PcieClaims& claims) {
  Part part = part_of(PartKind::gpu, "gpu" + std::to_string(number), gpu);
  part.model = co_await gpu_model(survey, gpu);
  part.size_bytes = memory_of(survey, gpu, memories);
  if (part.slot.empty()) part.slot = last_name(gpu.uri);
  claims.claim(survey.link(gpu, "Links/PCIeDevice"), part.source);
  survey.add(std::move(part));
}

void add_cpu(Survey& survey, const Document& cpu, std::size_t number) {
  Part part = part_of(PartKind::cpu, "cpu" + std::to_string(number), cpu);
  part.count = number_at(cpu.body, "TotalCores");
  if (const auto socket = reported(cpu.body, "Socket"); !socket.empty()) part.slot = socket;
  survey.add(std::move(part));
}

enum class Kind { cpu, gpu, other, unknown };

/// Of a processor without a ProcessorType (Google's): only a CPU has a CPUID, or an instruction set
/// that runs an operating system. Source: DSP0268, Processor: ProcessorId, InstructionSet.
bool has_cpu_signs(const json::value& processor) {
  const auto set = lower_case(reported(processor, "InstructionSet"));
  const bool runs_systems = set.starts_with("x86") || set.starts_with("arm-a") ||
                            set.starts_with("powerpc") || set.starts_with("risc-v");
  return runs_systems || !reported(processor, "ProcessorId/VendorId").empty();
}

Kind reported_kind(const Document& processor) {
  const auto type = reported(processor.body, "ProcessorType");
  if (type == "CPU") return Kind::cpu;
  if (type == "GPU" || type == "Accelerator") return Kind::gpu;
  if (!type.empty()) return Kind::other;
  return has_cpu_signs(processor.body) ? Kind::cpu : Kind::unknown;
}

/// "GPU_SXM_" of "GPU_SXM_3".
std::string_view stem(const Document& processor) {
  auto name = last_name(processor.uri);
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/// What each is, for the numbers in the names of the others: where one does not tell, what its
/// namesakes are; where names are numbers, the first ones are the CPUs, as many as the system
/// counts.
std::vector<Kind> kinds_of(const std::vector<Document>& processors, std::optional<double> cpus) {
  std::vector<Kind> kinds;
  std::ranges::transform(processors, std::back_inserter(kinds), reported_kind);
  const auto known_cpus = std::ranges::count(kinds, Kind::cpu);
  const auto reported = kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != Kind::unknown) continue;
    std::set<Kind> alike;
    for (std::size_t j = 0; j < reported.size(); ++j)
      if (reported[j] != Kind::unknown && stem(processors[j]) == stem(processors[i]))
        alike.insert(reported[j]);
    if (alike.size() == 1) kinds[i] = *alike.begin();
    const bool missing_cpu = cpus && static_cast<double>(known_cpus) < *cpus;
    if (alike.size() > 1) kinds[i] = missing_cpu ? Kind::cpu : Kind::gpu;
  }
  return kinds;
}

Task<void> add_processors(Survey& survey, std::vector<Document> processors,
                          std::optional<double> counted_cpus, const std::vector<Document>& memories,
                          PcieClaims& claims) {
  std::ranges::stable_sort(processors, by_name);
  const auto kinds = kinds_of(processors, counted_cpus);
  std::vector<std::string_view> gpu_names;
  for (std::size_t i = 0; i < processors.size(); ++i)
    if (kinds[i] == Kind::gpu) gpu_names.push_back(last_name(processors[i].uri));
  const auto numbers = gpu_numbers(gpu_names);
  std::size_t cpus = 0, gpus = 0;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const auto& one = processors[i];
    std::size_t number = 0;
    if (kinds[i] == Kind::cpu) number = cpus++;
    if (kinds[i] == Kind::gpu) number = numbers[gpus++];
    if (one.body.is_null() || is_absent(one.body)) continue;
    // Its kind may be guessed for the others' sake; what it is must be reported.
    const auto kind = reported_kind(one);
    if (kind == Kind::unknown) {
      survey.not_whole(kProcessors, one.uri, "the kind of processor is not reported", true);
      survey.unknown("kind of processor", one.uri, "absent");
    }
    if (kind == Kind::cpu) add_cpu(survey, one, number);
    if (kind == Kind::gpu) co_await add_gpu(survey, one, number, memories, claims);
  }
}

void append(std::vector<Document>& all, std::vector<Document> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// "CPU_0" of "HGX_CPU_0", as the baseboard calls the CPU_0 of the host (GH200).
std::string_view name_on_the_host(const Document& one) {
  constexpr std::string_view kBaseboard = "HGX_";
  auto name = last_name(one.uri);
  if (name.starts_with(kBaseboard)) name.remove_prefix(kBaseboard.size());
  return name;
}

bool in_one_socket(const Document& one, const Document& other) {
  const auto socket = reported(one.body, "Socket");
  return !socket.empty() && socket == reported(other.body, "Socket") &&
         reported(one.body, "ProcessorType") == "CPU" &&
         reported(other.body, "ProcessorType") == "CPU";
}

/// The same CPU or DIMM seen through a baseboard as well (GB200, GH200): once is enough, reported
/// in full. Two serial numbers decide; else they have one name, or sit in one socket.
bool is_same(const Document& one, const Document& other) {
  const auto serial = reported(one.body, "SerialNumber"),
             others = reported(other.body, "SerialNumber");
  if (!serial.empty() && !others.empty()) return serial == others;
  return name_on_the_host(one) == name_on_the_host(other) || in_one_socket(one, other);
}

void append_new(std::vector<Document>& all, std::vector<Document> more) {
  std::erase_if(more, [&](Document& one) {
    const auto same =
        std::ranges::find_if(all, [&](const Document& other) { return is_same(one, other); });
    if (same == all.end()) return false;
    if (reported(same->body, "Model").empty() && !one.body.is_null()) *same = std::move(one);
    return true;
  });
  append(all, std::move(more));
}

Task<void> read_collection(Survey& survey, const Machine& machine, std::size_t at,
                           std::vector<Document>& found) {
  const bool memory = at % 2 != 0;
  const auto* name = memory ? "Memory" : "Processors";
  if (memory)
    survey.lists(kMemories);
  else
    survey.lists(kProcessors);
  auto uri = at < 2 ? link_at(machine.system.body, name)
                    : survey.link(machine.baseboards[at / 2 - 1], name);
  found = co_await survey.members(std::move(uri), memory ? "memory" : "processor");
}

}  // namespace

Task<void> read_compute(Survey& survey, const Machine& machine, PcieClaims& claims) {
  const auto& system = machine.system.body;
  const auto& boards = machine.baseboards;
  // Of the system, then of each board: its processors, its memories.
  std::vector<std::vector<Document>> found(2 * (boards.size() + 1));
  const auto read = [&](Survey& piece, std::size_t at) {
    return read_collection(piece, machine, at, found[at]);
  };
  std::vector<Document> processors, memories;
  const auto take = [&](std::size_t at) {
    auto& all = at % 2 == 0 ? processors : memories;
    at < 2 ? append(all, std::move(found[at])) : append_new(all, std::move(found[at]));
    if (at < 2 || at % 2 == 0) return;
    const auto& board = boards[at / 2 - 1];
    for (const auto* collection : {"Processors", "Memory"})
      if (survey.link(board, collection).empty())
        survey.unknown(collection, board.uri, "lists none");
  };
  co_await read_beside(survey, found.size(), read, take);
  if (link_at(system, "Processors").empty()) {
    survey.not_whole(kProcessors, machine.system.uri, "it links to no Processors", true);
    survey.unknown("processors", machine.system.uri, "absent");
  }
  if (link_at(system, "Memory").empty()) {
    survey.not_whole(kMemories, machine.system.uri, "it links to no Memory", true);
    survey.unknown("DIMMs", machine.system.uri, "absent");
  }
  const auto counted = number_at(system, "ProcessorSummary/Count");
  co_await add_processors(survey, std::move(processors), counted, memories, claims);
  for (const auto& memory : memories)
    if (!is_gpu_memory(memory)) add_dimm(survey, memory);
}

}  // namespace cupel::bmc::redfish
