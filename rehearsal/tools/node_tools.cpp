// Tools that ask the hardware.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
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
        "Memory Speed: 4400 MT/s\n\n",
        dimm.bytes / 1073741824, dimm.locator, dimm.locator[5] - 'A', dimm.manufacturer,
        dimm.serial, dimm.model);
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
      co_return co_await complain(process, "dmidecode", "Invalid string keyword: " + what, 2);
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

Task<int> pci_list(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "Dnnvkd:s:m");
  const auto& machine = hardware(process);
  std::map<std::string, std::pair<std::string, std::string>> devices;  // address: numbers, name
  for (const auto& gpu : machine.gpus)
    devices[gpu.pci] = {"10de:2330",
                        "3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB]"};
  for (const auto& drive : machine.drives)
    devices[drive.pci] = {
        "144d:a80a",
        "Non-Volatile memory controller [0108]: Samsung Electronics Co Ltd NVMe SSD "
        "Controller PM9A1/PM9A3/980PRO"};
  for (const auto& adapter : machine.adapters)
    devices[adapter.pci] =
        adapter.infiniband
            ? std::pair<std::string, std::string>{"15b3:1021",
                                                  "Infiniband controller [0207]: Mellanox "
                                                  "Technologies MT2910 Family [ConnectX-7]"}
            : std::pair<std::string, std::string>{
                  "8086:1592",
                  "Ethernet controller [0200]: Intel Corporation Ethernet Controller "
                  "E810-C for QSFP"};
  std::string text;
  for (const auto& [address, device] : devices) {
    const auto wanted = options.value('d');
    const bool skipped = !wanted.empty() && !(device.first + ":").starts_with(wanted);
    if (skipped) continue;
    auto name = device.second;
    if (!options.has('n'))
      for (auto open = name.find(" [0"); open != name.npos; open = name.find(" [0"))
        name.erase(open, name.find(']', open) + 1 - open);
    text += (options.has('D') ? address : address.substr(5)) + " " + name +
            (options.has('n') ? " [" + device.first + "]" : "") + " (rev a1)\n";
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> block_devices(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "Jbo:dnpPrO",
                                     {{"json", 'J'},
                                      {"bytes", 'b'},
                                      {"output", 'o'},
                                      {"nodeps", 'd'},
                                      {"noheadings", 'n'},
                                      {"paths", 'p'}});
  const auto columns_text = options.value('o', "NAME,MAJ:MIN,RM,SIZE,RO,TYPE,MOUNTPOINTS");
  const auto columns = split(columns_text, ',');
  json::array devices;
  std::string text;
  if (!options.has('n')) {
    for (const auto column : columns) text += fmt::format("{:<20} ", column);
    text += "\n";
  }
  for (const auto& drive : hardware(process).drives) {
    json::object device;
    for (const auto column : columns) {
      const auto key = lower_case(trimmed(column));
      json::value value;
      const auto name = drive.name + "n1";
      if (key == "name" || key == "kname")
        value = (options.has('p') ? "/dev/" : "") + name;
      else if (key == "path")
        value = "/dev/" + name;
      else if (key == "size" && options.has('b'))
        value = static_cast<std::int64_t>(drive.bytes);
      else if (key == "size")
        value = fmt::format("{:.1f}T", drive.bytes / 1099511627776);
      else if (key == "model")
        value = drive.model;
      else if (key == "serial")
        value = drive.serial;
      else if (key == "type")
        value = "disk";
      else if (key == "tran")
        value = "nvme";
      else if (key == "rota" || key == "rm" || key == "ro" || key == "hotplug")
        value = false;
      else if (key == "vendor" || key == "fstype" || key == "mountpoint")
        value = nullptr;
      else if (key == "mountpoints")
        value = json::array{nullptr};
      else if (key == "rev")
        value = "GDC5602Q";
      else if (key == "log-sec" || key == "phy-sec")
        value = 512;
      else
        value = nullptr;
      text += fmt::format("{:<20} ", value.is_string() ? std::string{value.as_string()}
                                     : value.is_null() ? std::string{}
                                                       : json::serialize(value));
      device[key] = std::move(value);
    }
    text += "\n";
    devices.push_back(std::move(device));
  }
  if (options.has('J')) {
    const json::object all{{"blockdevices", std::move(devices)}};
    text = json::serialize(all) + "\n";
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> infiniband(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "lsp");
  std::string text;
  for (const auto& adapter : hardware(process).adapters) {
    if (!adapter.infiniband) continue;
    if (options.has('l')) {
      text += adapter.name + "\n";
      continue;
    }
    auto guid = adapter.guid;
    std::erase(guid, ':');
    text += fmt::format(
        "CA '{}'\n\tCA type: {}\n\tNumber of ports: 1\n\tFirmware version: {}\n\tHardware version: "
        "0\n\tNode GUID: 0x{}\n\tSystem image GUID: 0x{}\n\tPort 1:\n\t\tState: Active\n\t\t"
        "Physical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: {}\n\t\tLMC: 0\n\t\tSM lid: "
        "1\n\t\tCapability mask: 0xa751e848\n\t\tPort GUID: 0x{}\n\t\tLink layer: InfiniBand\n",
        adapter.name, adapter.model, adapter.firmware, guid, guid,
        10 + (adapter.serial.back() - '0'), guid);
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> ethernet(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "iSmk");
  const auto name = options.operands.empty() ? "" : options.operands[0];
  for (const auto& adapter : hardware(process).adapters) {
    if (adapter.name != name) continue;
    const auto text =
        options.has('i')
            ? fmt::format("driver: ice\nversion: 6.1.0\nfirmware-version: {}\nbus-info: {}\n",
                          adapter.firmware, adapter.pci)
            : fmt::format(
                  "Settings for {}:\n\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tLink "
                  "detected: yes\n",
                  name);
    co_await process->say(text);
    co_return 0;
  }
  co_return co_await complain(process, "netlink error", "no device matches name", 75);
}

constexpr std::array<Tool, 6> kTools{{{"nvidia-smi", nvidia_smi},
                                      {"dmidecode", desktop_management},
                                      {"lspci", pci_list},
                                      {"lsblk", block_devices},
                                      {"ibstat", infiniband},
                                      {"ethtool", ethernet}}};

}  // namespace

std::span<const Tool> node_tools() { return kTools; }

}  // namespace cupel::rehearsal
