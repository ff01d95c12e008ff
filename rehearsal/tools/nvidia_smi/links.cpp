#include "rehearsal/tools/nvidia_smi/links.h"

#include <fmt/format.h>

namespace cupel::rehearsal {
namespace {

std::string title(const GpuView& gpu) {
  return fmt::format("GPU {}: {} (UUID: {})\n", gpu.index, gpu.product(), gpu.part.uuid);
}

/// Nothing where the links can be asked.
std::string refusal(const GpuView& gpu) {
  if (gpu.links.empty()) return "Device does not have or support Nvlink\n";
  if (gpu.mig) return "Nvlink queries are not supported for Devices in MIG mode\n";
  if (gpu.links_up() == 0)
    return "NVML: Unable to retrieve NVLink information as all links are inactive\n";
  return {};
}

std::vector<const Adapter*> infiniband_of(const Hardware& hardware) {
  std::vector<const Adapter*> all;
  for (const auto& adapter : hardware.adapters)
    if (adapter.infiniband) all.push_back(&adapter);
  return all;
}

std::string cores_of(const Hardware& hardware, int numa) {
  const int sockets = static_cast<int>(std::max<std::size_t>(hardware.cpus.size(), 1));
  const int each = hardware.cores() / sockets, first = numa * each;
  return fmt::format("{}-{},{}-{}", first, first + each - 1, first + hardware.cores(),
                     first + hardware.cores() + each - 1);
}

constexpr std::string_view kLegend = R"(
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
)";

std::string_view between(int one, int other) { return one == other ? "NODE" : "SYS"; }

std::string between_gpus(const GpuView& one, const GpuView& other) {
  const int links = std::min(one.links_up(), other.links_up());
  return links > 0 ? fmt::format("NV{}", links)
                   : std::string{between(one.part.numa, other.part.numa)};
}

}  // namespace

std::string link_status(const GpuView& gpu) {
  auto text = title(gpu);
  if (const auto refused = refusal(gpu); !refused.empty()) return text + refused;
  for (std::size_t i = 0; i < gpu.links.size(); ++i)
    text += gpu.links[i].up ? fmt::format("\t Link {}: {} GB/s\n", i, gpu.model.link_rate)
                            : fmt::format("\t Link {}: <inactive>\n", i);
  return text;
}

std::string link_errors(const GpuView& gpu) {
  auto text = title(gpu);
  if (const auto refused = refusal(gpu); !refused.empty()) return text + refused;
  for (std::size_t i = 0; i < gpu.links.size(); ++i)
    text += fmt::format(
        "\t Link {0}: Replay Errors: {1}\n\t Link {0}: Recovery Errors: {2}\n\t Link {0}: CRC "
        "Errors: {3}\n",
        i, gpu.links[i].replays, gpu.links[i].recoveries, gpu.links[i].crc);
  return text;
}

std::string link_capabilities(const GpuView& gpu) {
  auto text = title(gpu);
  if (const auto refused = refusal(gpu); !refused.empty()) return text + refused;
  for (std::size_t i = 0; i < gpu.links.size(); ++i)
    for (const auto* able : {"P2P is supported: true", "Access to system memory supported: true",
                             "P2P atomics supported: true", "System memory atomics supported: true",
                             "SLI is supported: true", "Link is supported: true"})
      text += fmt::format("\t Link {}, {}\n", i, able);
  return text;
}

const Adapter* adapter_beside(const Hardware& hardware, const Gpu& gpu) {
  // On each socket the n-th GPU shares a switch with the n-th HCA.
  int place = 0;
  for (const auto& other : hardware.gpus)
    if (other.numa == gpu.numa && other.index < gpu.index) ++place;
  for (const auto* adapter : infiniband_of(hardware))
    if (adapter->numa == gpu.numa && place-- == 0) return adapter;
  return nullptr;
}

std::string topology(const DriverView& driver, const Hardware& hardware) {
  const auto adapters = infiniband_of(hardware);
  std::string text = "\t\x1b[4m";
  for (const auto& gpu : driver.gpus) text += fmt::format("GPU{}\t", gpu.index);
  for (std::size_t i = 0; i < adapters.size(); ++i) text += fmt::format("NIC{}\t", i);
  text += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
  for (const auto& gpu : driver.gpus) {
    text += fmt::format("GPU{}\t", gpu.index);
    for (const auto& other : driver.gpus)
      text += (gpu.index == other.index ? " X " : between_gpus(gpu, other)) + "\t";
    const auto* beside = adapter_beside(hardware, gpu.part);
    for (const auto* adapter : adapters)
      text += std::string{adapter == beside ? "PXB" : between(gpu.part.numa, adapter->numa)} + "\t";
    text += cores_of(hardware, gpu.part.numa) + fmt::format("\t{}\t\tN/A\n", gpu.part.numa);
  }
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    text += fmt::format("NIC{}\t", i);
    for (const auto& gpu : driver.gpus) {
      const bool beside = adapter_beside(hardware, gpu.part) == adapters[i];
      text += std::string{beside ? "PXB" : between(gpu.part.numa, adapters[i]->numa)} + "\t";
    }
    for (std::size_t k = 0; k < adapters.size(); ++k)
      text += std::string{k == i ? " X " : between(adapters[k]->numa, adapters[i]->numa)} + "\t";
    text += "\n";
  }
  text += kLegend;
  if (adapters.empty()) return text;
  text += "\nNIC Legend:\n\n";
  for (std::size_t i = 0; i < adapters.size(); ++i)
    text += fmt::format("  NIC{}: {}\n", i, adapters[i]->name);
  return text;
}

}  // namespace cupel::rehearsal
