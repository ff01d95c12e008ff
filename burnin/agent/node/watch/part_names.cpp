#include "burnin/agent/node/watch/part_names.h"

#include <algorithm>

namespace cupel::agent {
namespace {

/// NVIDIA's display and 3D controllers in the order of their addresses.
std::vector<std::string> gpu_addresses(const Tree& tree) {
  constexpr std::string_view kFolder = "/sys/bus/pci/devices";
  constexpr unsigned kDisplay = 0x03;
  std::vector<std::string> found;
  for (const auto& address : tree.names(kFolder)) {
    const auto folder = std::string{kFolder} + "/" + address;
    const auto type = tree.number(folder + "/class");
    const bool gpu = type && static_cast<unsigned>(*type) >> 16 == kDisplay &&
                     tree.text(folder + "/vendor") == "0x10de";
    if (gpu) found.push_back(address);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

PartNames::PartNames(const Tree& tree, const nvml::Library& library) {
  constexpr unsigned kMostGpus = 64;
  const auto count = library.works() ? library.count().value.value_or(0) : 0;
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    const auto gpu = library.device(i);
    const auto reported = gpu.value ? library.pci(*gpu.value).value : std::nullopt;
    const auto address = reported ? pci_address(*reported) : std::nullopt;
    if (address) by_address_[*address] = "gpu" + std::to_string(i);
  }
  int next = 0;
  if (by_address_.empty())
    for (const auto& address : gpu_addresses(tree))
      by_address_[address] = "gpu" + std::to_string(next++);
  for (const std::string folder : {"/sys/class/infiniband", "/sys/class/nvme"})
    for (const auto& name : tree.names(folder)) {
      const auto place = tree.resolved(folder + "/" + name + "/device");
      const auto address = place ? pci_address(last_name(*place)) : std::nullopt;
      if (address) by_address_.emplace(*address, name);
      for (const auto& network : tree.names(folder + "/" + name + "/device/net"))
        by_network_.emplace(network, name);
    }
}

std::string PartNames::at(const std::string& address) const {
  if (address.empty()) return {};
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? "pci " + address : found->second;
}

std::string PartNames::of(const KernelMessage& message) const {
  const auto network = by_network_.find(message.part);
  if (network != by_network_.end()) return network->second;
  if (!message.part.empty()) return message.part;
  return at(message.pci);
}

}  // namespace cupel::agent
