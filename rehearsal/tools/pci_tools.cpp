// lspci of pciutils 3.9.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/gpu_model.h"
#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

struct Device {
  std::string address, type_name, type, vendor, device, vendor_name, name, driver;
  int gen = 5, gen_max = 5, width = 16, width_max = 16, numa = 0;
  std::string revision = "a1";
  bool dead = false;
};

std::vector<Device> devices_of(Host& host) {
  const auto& machine = host.machine().hardware();
  const std::string driver = is_driver_loaded(host.machine()) ? "nvidia" : "";
  std::vector<Device> all;
  for (const auto& gpu : machine.gpus) {
    const auto& model = gpu_model(gpu.model);
    all.push_back({gpu.pci, "3D controller", "0302", "10de", lower_case(model.device),
                   "NVIDIA Corporation", std::string{model.pci_name}, driver, gpu.gen, gpu.gen_max,
                   gpu.width, gpu.width_max, gpu.numa});
    // Its configuration space reads as all ones once it has fallen off.
    all.back().dead = host.machine().physics().gpu(gpu.index).limit_watts <= 0;
    if (all.back().dead) all.back().revision = "ff";
  }
  for (const auto& nvswitch : machine.nvswitches)
    all.push_back({nvswitch.pci, "Bridge", "0680", "10de", "22a3", "NVIDIA Corporation",
                   "GH100 [H100 NVSwitch]", "nvidia-nvswitch", 4, 4, 2, 2, 0});
  for (const auto& drive : machine.drives)
    all.push_back({drive.pci, "Non-Volatile memory controller", "0108", "144d", "a80a",
                   "Samsung Electronics Co Ltd", "NVMe SSD Controller PM9A1/PM9A3/980PRO", "nvme",
                   drive.link.gen, drive.link.gen_max, drive.link.width, drive.link.width_max, 0,
                   "00"});
  for (const auto& adapter : machine.adapters)
    all.push_back(adapter.infiniband
                      ? Device{adapter.pci, "Infiniband controller", "0207", "15b3", "1021",
                               "Mellanox Technologies", "MT2910 Family [ConnectX-7]", "mlx5_core",
                               adapter.link.gen, adapter.link.gen_max, adapter.link.width,
                               adapter.link.width_max, adapter.numa, "00"}
                      : Device{adapter.pci, "Ethernet controller", "0200", "8086", "1592",
                               "Intel Corporation", "Ethernet Controller E810-C for QSFP", "ice",
                               adapter.link.gen, adapter.link.gen_max, adapter.link.width,
                               adapter.link.width_max, adapter.numa, "02"});
  std::ranges::sort(all, {}, &Device::address);
  return all;
}

std::string_view transfers(int gen) {
  constexpr std::array<std::string_view, 7> kNames{"unknown", "2.5GT/s", "5GT/s", "8GT/s",
                                                   "16GT/s",  "32GT/s",  "64GT/s"};
  return kNames[static_cast<std::size_t>(std::clamp(gen, 0, 6))];
}

std::string title(const Device& device, const Options& options, int numeric) {
  const auto place = options.has('D') ? device.address : device.address.substr(5);
  const auto numbers = device.vendor + ":" + device.device;
  if (numeric == 1)
    return fmt::format("{} {}: {} (rev {})", place, device.type, numbers, device.revision);
  if (numeric > 1)
    return fmt::format("{} {} [{}]: {} {} [{}] (rev {})", place, device.type_name, device.type,
                       device.vendor_name, device.name, numbers, device.revision);
  return fmt::format("{} {}: {} {} (rev {})", place, device.type_name, device.vendor_name,
                     device.name, device.revision);
}

std::string driver_line(const Device& device) {
  return device.driver.empty() ? "" : "\tKernel driver in use: " + device.driver + "\n";
}

std::string details(const Device& device, int verbose) {
  if (device.dead) return "\t!!! Unknown header type 7f\n" + driver_line(device);
  auto text = fmt::format(
      "\tControl: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- "
      "FastB2B- DisINTx+\n\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- "
      "<TAbort- "
      "<MAbort- >SERR- <PERR- INTx-\n\tLatency: 0\n\tNUMA node: {}\n",
      device.numa);
  if (verbose > 1) {
    const auto sunk = [](bool less) { return less ? " (downgraded)" : ""; };
    text += fmt::format(
        "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
        "\t\tLnkCap:\tPort #0, Speed {}, Width x{}, ASPM not supported\n"
        "\t\t\tClockPM- Surprise- LLActRep- BwNot- ASPMOptComp+\n"
        "\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes, Disabled- CommClk+\n"
        "\t\t\tExtSynch- ClockPM- AutWidDis- BWInt- AutBWInt-\n"
        "\t\tLnkSta:\tSpeed {}{}, Width x{}{}\n"
        "\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-\n",
        transfers(device.gen_max), device.width_max, transfers(device.gen),
        sunk(device.gen < device.gen_max), device.width, sunk(device.width < device.width_max));
  }
  return text + driver_line(device);
}

/// `-s [[domain]:]bus:[slot][.func]`, from the right: "1b:00.0", "0000:1b:00.0", "1b:".
bool in_slot(const Device& device, std::string_view slot) {
  if (slot.empty()) return true;
  const auto requested = lower_case(slot);
  return device.address == requested || device.address.substr(5) == requested ||
         (requested.ends_with(':') && device.address.substr(5).starts_with(requested));
}

bool of_kind(const Device& device, std::string_view kind) {
  if (kind.empty()) return true;
  const auto requested = lower_case(kind);
  const auto colon = requested.find(':');
  const auto vendor = requested.substr(0, colon);
  const auto model = colon == requested.npos ? std::string{} : requested.substr(colon + 1);
  return (vendor.empty() || vendor == device.vendor) && (model.empty() || model == device.device);
}

int count_of(const Arguments& arguments, char letter) {
  int count = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i].size() > 1 && arguments[i][0] == '-' && arguments[i][1] != '-')
      count += static_cast<int>(std::ranges::count(arguments[i], letter));
  return count;
}

Task<int> lspci(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "Dnvkd:s:");
  if (!options.unknown.empty()) {
    const auto text = fmt::format("lspci: invalid option -- '{}'\nUsage: lspci [<switches>]\n",
                                  options.unknown.substr(1));
    co_await process->print_error(text);
    co_return 1;
  }
  const int verbose = count_of(arguments, 'v'), numeric = count_of(arguments, 'n');
  std::string text;
  for (const auto& device : devices_of(process->host)) {
    if (!in_slot(device, options.value('s')) || !of_kind(device, options.value('d'))) continue;
    text += title(device, options, numeric) + "\n";
    if (verbose > 0)
      text += details(device, verbose) + "\n";
    else if (options.has('k'))
      text += driver_line(device);
  }
  co_await process->say(text);
  co_return 0;
}

constexpr auto kTools = std::to_array<Tool>({{"lspci", lspci}});

}  // namespace

std::span<const Tool> pci_tools() { return kTools; }

}  // namespace cupel::rehearsal
