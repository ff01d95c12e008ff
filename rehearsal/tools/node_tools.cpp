// Tools that ask the hardware.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cupel_burn.h"
#include "rehearsal/tools/dcgmi.h"
#include "rehearsal/tools/gpu_burn.h"
#include "rehearsal/tools/nccl.h"
#include "rehearsal/tools/nvbandwidth.h"
#include "rehearsal/tools/nvidia_smi.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

const Hardware& hardware(const ProcessPtr& process) { return process->host.machine().hardware(); }

std::string system_table(const Hardware& machine) {
  return fmt::format(
      "Handle 0x0001, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: {}\n\tProduct "
      "Name: "
      "{}\n\tVersion: 1.0\n\tSerial Number: {}\n\tUUID: {}\n\tWake-up Type: Power Switch\n\n",
      machine.manufacturer, machine.model, machine.serial, machine.uuid);
}

std::string bios_table(const Hardware& machine) {
  return fmt::format(
      "Handle 0x0000, DMI type 0, 26 bytes\nBIOS Information\n\tVendor: American Megatrends "
      "International, LLC.\n\tVersion: {}\n\tRelease Date: 05/12/2024\n\n",
      machine.version("HostBIOS_0", "01.01.03"));
}

std::string memory_table(const Hardware& machine) {
  std::string text;
  int handle = 0x20;
  for (const auto& dimm : machine.dimms) {
    text += fmt::format("Handle 0x{:04X}, DMI type 17, 92 bytes\nMemory Device\n", handle++);
    if (!dimm.present) {
      text += fmt::format(
          "\tTotal Width: Unknown\n\tData Width: Unknown\n\tSize: No Module Installed\n\tForm "
          "Factor: Unknown\n\tSet: None\n\tLocator: {}\n\tBank Locator: NODE {}\n\tType: "
          "Unknown\n\n",
          dimm.locator, dimm.locator[5] - 'A');
      continue;
    }
    text += fmt::format(
        "\tTotal Width: 80 bits\n\tData Width: 64 bits\n\tSize: {:.0f} GB\n\tForm Factor: "
        "DIMM\n\tSet: None\n\tLocator: {}\n\tBank Locator: NODE {}\n\tType: DDR5\n\tType Detail: "
        "Synchronous Registered (Buffered)\n\tSpeed: 4800 MT/s\n\tManufacturer: {}\n\tSerial "
        "Number: {}\n\tAsset Tag: Not Specified\n\tPart Number: {}\n\tRank: 2\n\tConfigured "
        "Memory Speed: {} MT/s\n\n",
        dimm.bytes / 1073741824, dimm.locator, dimm.locator[5] - 'A', dimm.manufacturer,
        dimm.serial, dimm.model, dimm.mts);
  }
  return text;
}

Task<int> desktop_management(ProcessPtr process, Arguments arguments) {
  const auto& machine = hardware(process);
  const auto options = parse_options(arguments, "t:s:q", {{"type", 't'}, {"string", 's'}});
  if (options.has('s')) {
    const auto what = options.value('s');
    const std::map<std::string, std::string> known{
        {"system-serial-number", machine.serial},
        {"system-product-name", machine.model},
        {"system-manufacturer", machine.manufacturer},
        {"system-uuid", machine.uuid},
        {"chassis-serial-number", machine.serial},
        {"baseboard-serial-number", machine.serial},
        {"bios-version", machine.version("HostBIOS_0", "01.01.03")},
        {"bios-vendor", "American Megatrends International, LLC."}};
    const auto found = known.find(what);
    if (found == known.end())
      co_return co_await print_error(process, "dmidecode", "Invalid string keyword: " + what, 2);
    const auto line = found->second + "\n";
    co_await process->say(line);
    co_return 0;
  }
  const auto type = options.value('t', "all");
  std::string text = options.has('q') ? ""
                                      : "# dmidecode 3.4\nGetting SMBIOS data from sysfs.\n"
                                        "SMBIOS 3.5.0 present.\n\n";
  for (const auto one : split(type, ',')) {
    const bool all = one == "all";
    if (all || one == "bios" || one == "0") text += bios_table(machine);
    if (all || one == "system" || one == "1") text += system_table(machine);
    if (all || one == "memory" || one == "17") text += memory_table(machine);
  }
  co_await process->say(text);
  co_return 0;
}

/// ipmitool in-band, as far as stages of the node ask it: the BMC's temperatures, as CSV.
Task<int> in_band(ProcessPtr process, Arguments arguments) {
  const Arguments known{"ipmitool", "-c", "sdr", "type", "temperature"};
  if (arguments.size() != known.size() ||
      !std::equal(arguments.begin() + 1, arguments.end(), known.begin() + 1))
    co_return co_await print_error(process, "ipmitool", "only -c sdr type temperature is here");
  const auto& physics = process->host.machine().physics();
  auto text = fmt::format("TEMP_AMBIENT,{:.0f},degrees C,ok\n", physics.inlet_celsius());
  for (std::size_t i = 0; i < hardware(process).cpus.size(); ++i)
    text += fmt::format("TEMP_CPU{},{:.0f},degrees C,ok\n", i,
                        physics.cpu_celsius(static_cast<int>(i)));
  co_await process->say(text);
  co_return 0;
}

constexpr auto kTools = std::to_array<Tool>({
    {"ipmitool", in_band},
    {"nvidia-smi", nvidia_smi},
    {"dmidecode", desktop_management},
    {"dcgmi", dcgmi},
    {"nvbandwidth", nvbandwidth},
    {"gpu_burn", gpu_burn},
    {"cupel-burn", cupel_burn},
    {"all_reduce_perf", nccl_test},
    {"all_gather_perf", nccl_test},
    {"reduce_scatter_perf", nccl_test},
    {"alltoall_perf", nccl_test},
    {"sendrecv_perf", nccl_test},
    {"broadcast_perf", nccl_test},
    {"reduce_perf", nccl_test},
});

}  // namespace

std::span<const Tool> node_tools() { return kTools; }

}  // namespace cupel::rehearsal
