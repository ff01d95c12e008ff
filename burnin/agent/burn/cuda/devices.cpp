#include "burnin/agent/burn/cuda/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "burnin/agent/burn/cuda/cuda_check.h"
#include "burnin/agent/burn/cuda/driver.h"
#include "burnin/agent/burn/driver_version.h"
#include "burnin/agent/burn/gpu_processes.h"

namespace cupel::burn {
namespace {

constexpr unsigned kHighestIndex = 1024;
constexpr unsigned kHottest = 200;  // degrees Celsius; more is no temperature

std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "GPU-";
  for (int at = 0; at < 16; ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[at]);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

int numa_of(const std::string& pci) {
  std::ifstream file{"/sys/bus/pci/devices/" + pci + "/numa_node"};
  int node = -1;
  if (!(file >> node)) return -1;
  return node;
}

Outcome<Device> read_device(int ordinal) {
  cudaDeviceProp properties{};
  TRY(cuda(cudaGetDeviceProperties(&properties, ordinal), "asking for the properties of a GPU"));
  std::string pci(32, '\0');
  const int length = std::snprintf(
      pci.data(), pci.size(), "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
      static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  pci.resize(static_cast<std::size_t>(std::clamp(length, 0, 31)));
  Device device{.ordinal = ordinal, .major = properties.major, .minor = properties.minor};
  device.numa = numa_of(pci);
  device.gpu = {.uuid = uuid_text(properties.uuid),
                .pci = std::move(pci),
                .name = properties.name,
                .sms = properties.multiProcessorCount,
                .memory = properties.totalGlobalMem};
  return device;
}

using agent::nvml::Answer;

/// What NVML answers about a GPU; nothing where it has no answer.
template <class T>
std::optional<T> asked(const Node& node, const Device& device,
                       Answer<T> (agent::nvml::Library::*question)(agent::nvml::Device) const) {
  if (!node.nvml) return std::nullopt;
  const auto gpu = node.nvml->device_at(device.gpu.pci).value;
  return gpu ? ((*node.nvml).*question)(*gpu).value : std::nullopt;
}

/// As nvidia-smi does: by NVML, since CUDA may be kept from seeing some (MIG,
/// CUDA_VISIBLE_DEVICES); a GPU by another's number would be the wrong one to replace.
void number_devices(Node& node) {
  std::vector<int> numbers;
  for (const auto& device : node.devices)
    if (const auto index = asked(node, device, &agent::nvml::Library::index);
        index && *index <= kHighestIndex)
      numbers.push_back(static_cast<int>(*index));
  const bool all_known = numbers.size() == node.devices.size();
  for (std::size_t at = 0; at < node.devices.size(); ++at)
    node.devices[at].gpu.index = all_known ? numbers[at] : static_cast<int>(at);
}

/// Leaves those that were asked for; all where none was. Errors: usage.
Outcome<> choose_devices(Node& node, const std::vector<int>& asked) {
  if (asked.empty()) return done();
  std::string there;
  for (const auto& device : node.devices) there += " " + std::to_string(device.gpu.index);
  for (const int number : asked)
    if (std::ranges::none_of(node.devices,
                             [&](const Device& device) { return device.gpu.index == number; }))
      return Failure{.code = "usage",
                     .message = "--gpus names gpu" + std::to_string(number) +
                                ", which CUDA does not see; there are:" + there};
  std::erase_if(node.devices, [&](const Device& device) {
    return !std::ranges::binary_search(asked, device.gpu.index);
  });
  return done();
}

Outcome<> refuse_mig(const Node& node) {
  for (const auto& device : node.devices)
    if (device.gpu.name.find(" MIG ") != std::string::npos ||  // so the driver calls a slice
        asked(node, device, &agent::nvml::Library::mig).value_or(std::pair{false, false}).first)
      return Failure{.code = "refused",
                     .message = "the GPU at " + device.gpu.pci +
                                " is in MIG mode, and a slice proves nothing of the whole: "
                                "nvidia-smi -mig 0, then again",
                     .part = device.part()};
  return done();
}

}  // namespace

Outcome<Node> list_devices(const Options& options) {
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  if (const auto& driver = Driver::get(); !driver)
    return Failure{
        .code = "no-cuda-device",
        .message = "no CUDA device: " + driver.error().what + ": install or update the driver"};
  int count = 0;
  TRY(cuda(cudaGetDeviceCount(&count), "counting the GPUs"));
  if (count == 0)
    return Failure{.code = "no-cuda-device", .message = "no CUDA device: the driver lists none"};
  Node node;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TRY(auto device, read_device(ordinal));
    node.devices.push_back(std::move(device));
  }
  std::ranges::sort(node.devices, {}, [](const Device& device) { return device.gpu.pci; });
  if (auto nvml = std::make_shared<agent::nvml::Library>(); nvml->works())
    node.nvml = std::move(nvml);
  number_devices(node);
  TRY(choose_devices(node, options.gpus()));
  TRY(refuse_mig(node));
  int version = 0;
  TRY(cuda(cudaDriverGetVersion(&version), "asking for the driver's version"));
  node.driver = "CUDA " + cuda_version_text(version);
  if (node.nvml) node.driver = node.nvml->driver_version().value.value_or(node.driver);
  TRY(cuda(cudaRuntimeGetVersion(&version), "asking for CUDA's version"));
  node.cuda = cuda_version_text(version);
  return node;
}

Outcome<Node> list_devices(const Options& options, Watchdog& watchdog) {
  WatchdogScope scope{watchdog, ""};
  scope.doing("listing the GPUs");
  return list_devices(options);
}

Outcome<Node> list_own_device(const Options& options, Watchdog& watchdog) {
  TRY(auto node, list_devices(options, watchdog));
  if (node.devices.size() != 1)
    return Failure{.code = "refused",
                   .message = "--alone is for a process that sees one GPU; this one sees " +
                              std::to_string(node.devices.size())};
  node.devices.front().gpu.index = static_cast<int>(options.number(kAloneChoice.name));
  return node;
}

Start start_of(const Options& options, const Node& node, std::string nccl) {
  Start start{.command = options.command(),
              .cuda = node.cuda,
              .driver = node.driver,
              .nccl = std::move(nccl),
              .parameters = options.parameters()};
  for (const auto& device : node.devices) start.gpus.push_back(device.gpu);
  return start;
}

std::optional<int> celsius(const Node& node, const Device& device) {
  const auto celsius = asked(node, device, &agent::nvml::Library::celsius);
  if (!celsius || *celsius > kHottest) return std::nullopt;
  return static_cast<int>(*celsius);
}

std::optional<double> watts(const Node& node, const Device& device) {
  return asked(node, device, &agent::nvml::Library::watts);
}

std::optional<double> watts_limit(const Node& node, const Device& device) {
  return asked(node, device, &agent::nvml::Library::enforced_watts);
}

}  // namespace cupel::burn
