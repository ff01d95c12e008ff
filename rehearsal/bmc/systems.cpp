// Systems: the host, and the baseboard with the GPUs that a DGX H100 shows as a system of its own.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr const char* kSystem = "/redfish/v1/Systems/DGX";
constexpr const char* kBaseboard = "/redfish/v1/Systems/HGX_Baseboard_0";

json::object boot(const BootOverride& boot) {
  const auto values = [](std::initializer_list<std::string_view> words) {
    json::array all;
    for (const auto word : words) all.push_back(json::value(word));
    return all;
  };
  return {{"BootSourceOverrideEnabled", boot.enabled},
          {"BootSourceOverrideEnabled@Redfish.AllowableValues",
           values({"Disabled", "Once", "Continuous"})},
          {"BootSourceOverrideMode", boot.mode},
          {"BootSourceOverrideMode@Redfish.AllowableValues", values({"UEFI"})},
          {"BootSourceOverrideTarget", boot.target},
          {"BootSourceOverrideTarget@Redfish.AllowableValues",
           values({"None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "UefiShell", "UefiHttp"})}};
}

void add_host(ResourceTree& tree, const Machine& machine) {
  const auto& hardware = machine.hardware();
  const std::string path = kSystem;
  auto system = resource(path, "#ComputerSystem.v1_17_0.ComputerSystem", "DGX", "System");
  json::array allowed;
  for (const auto reset : kResets) allowed.push_back(json::value(reset));
  system["Actions"] = {{"#ComputerSystem.Reset",
                        {{"@Redfish.ActionInfo", path + "/ResetActionInfo"},
                         {"ResetType@Redfish.AllowableValues", allowed},
                         {"target", path + "/Actions/ComputerSystem.Reset"}}}};
  system["BiosVersion"] = hardware.version("HostBIOS_0", "01.01.03");
  system["Boot"] = boot(machine.boot_override);
  system["HostName"] = machine.name();
  system["IndicatorLED"] = "Off";
  system["Manufacturer"] = hardware.manufacturer;
  system["Model"] = hardware.model;
  system["SerialNumber"] = hardware.serial;
  system["PartNumber"] = "965-24387-0003-000";
  system["UUID"] = hardware.uuid;
  system["SystemType"] = "Physical";
  system["PowerState"] = to_string(machine.reported_power());
  system["Status"] = healthy();
  system["MemorySummary"] = {{"Status", healthy()},
                             {"TotalSystemMemoryGiB", hardware.memory_bytes() / 1073741824}};
  system["ProcessorSummary"] = {
      {"Count", hardware.cpus.size()},
      {"Model",
       hardware.cpus.empty() ? json::value{nullptr} : json::value(hardware.cpus[0].model)}};
  for (const auto* child :
       {"Processors", "Memory", "Storage", "EthernetInterfaces", "NetworkInterfaces"})
    system[child] = link(path + "/" + child);
  system["Links"] = {{"Chassis", json::array{link("/redfish/v1/Chassis/DGX")}},
                     {"ManagedBy", json::array{link("/redfish/v1/Managers/BMC")}}};
  tree[path] = std::move(system);
  auto info = resource(path + "/ResetActionInfo", "#ActionInfo.v1_1_2.ActionInfo", "ResetAction",
                       "ResetAction");
  info["Parameters"] = json::array{{{"AllowableValues", allowed},
                                    {"DataType", "String"},
                                    {"Name", "ResetType"},
                                    {"Required", true}}};
  tree[path + "/ResetActionInfo"] = std::move(info);
}

void add_processors(ResourceTree& tree, const Hardware& hardware) {
  for (std::size_t i = 0; i < hardware.cpus.size(); ++i) {
    const auto& cpu = hardware.cpus[i];
    const auto id = fmt::format("DevType1_CPU{}", i);
    const auto path = std::string{kSystem} + "/Processors/" + id;
    auto one = resource(path, "#Processor.v1_10_0.Processor", id, id);
    one["ProcessorType"] = "CPU";
    one["Socket"] = fmt::format("CPU{}", i);
    one["Manufacturer"] = cpu.model.contains("EPYC") ? "AMD" : "Intel(R) Corporation";
    one["Model"] = cpu.model.contains(' ') ? cpu.model : "Intel(R) Xeon(R) Platinum " + cpu.model;
    one["TotalCores"] = cpu.cores;
    one["TotalThreads"] = cpu.cores * 2;
    one["Status"] = healthy();
    tree[path] = std::move(one);
  }
  add_collection(tree, std::string{kSystem} + "/Processors",
                 "#ProcessorCollection.ProcessorCollection", "Processors Collection");
}

void add_memory(ResourceTree& tree, const Hardware& hardware) {
  for (std::size_t i = 0; i < hardware.dimms.size(); ++i) {
    const auto& dimm = hardware.dimms[i];
    const auto id = fmt::format("DevType2_DIMM{}", i);
    const auto path = std::string{kSystem} + "/Memory/" + id;
    auto one = resource(path, "#Memory.v1_8_0.Memory", id, id);
    one["DeviceLocator"] = dimm.locator;
    const int socket = dimm.locator[5] - 'A';
    one["MemoryLocation"] = {
        {"Channel", i % 8}, {"MemoryController", 0}, {"Slot", i % 2}, {"Socket", socket}};
    if (!dimm.present) {
      one["CapacityMiB"] = nullptr;
      one["Status"] = {{"Health", nullptr}, {"State", "Absent"}};
      tree[path] = std::move(one);
      continue;
    }
    one["CapacityMiB"] = static_cast<std::int64_t>(dimm.bytes / 1048576);
    one["BaseModuleType"] = "RDIMM";
    one["MemoryType"] = "DRAM";
    one["MemoryDeviceType"] = "DDR5";
    one["OperatingSpeedMhz"] = 4400;
    one["Manufacturer"] = dimm.manufacturer;
    one["PartNumber"] = dimm.model + " ";  // padded, as the real one is
    one["SerialNumber"] = dimm.serial;
    one["Status"] = healthy();
    tree[path] = std::move(one);
  }
  add_collection(tree, std::string{kSystem} + "/Memory", "#MemoryCollection.MemoryCollection",
                 "Memory Collection");
}

void add_storage(ResourceTree& tree, const Hardware& hardware) {
  const auto unit = std::string{kSystem} + "/Storage/StorageUnit_0";
  auto storage = resource(unit, "#Storage.v1_12_0.Storage", "StorageUnit_0", "StorageUnit_0");
  json::array drives;
  for (const auto& drive : hardware.drives) {
    const auto id = fmt::format("NVMe_Device{}_NSID1", drive.name.substr(4));
    const auto path = unit + "/Drives/" + id;
    auto one = resource(path, "#Drive.v1_14_0.Drive", id, drive.name);
    one["MediaType"] = "SSD";
    one["Protocol"] = "NVMe";
    one["Manufacturer"] = "Samsung";
    one["Model"] = drive.model;
    one["SerialNumber"] = drive.serial;
    one["Revision"] = "GDC5602Q";
    one["CapacityBytes"] = static_cast<std::int64_t>(drive.bytes);
    one["Status"] = healthy();
    drives.push_back(link(path));
    tree[path] = std::move(one);
  }
  storage["Drives@odata.count"] = drives.size();
  storage["Drives"] = std::move(drives);
  storage["Status"] = healthy();
  tree[unit] = std::move(storage);
  add_collection(tree, std::string{kSystem} + "/Storage", "#StorageCollection.StorageCollection",
                 "Storage Collection");
}

void add_networks(ResourceTree& tree, const Hardware& hardware) {
  int index = 0;
  for (const auto& adapter : hardware.adapters) {
    const auto id = fmt::format("DevType7_NIC{}", index);
    const auto path = std::string{kSystem} + "/NetworkInterfaces/" + id;
    auto one = resource(path, "#NetworkInterface.v1_2_0.NetworkInterface", id, id);
    one["Links"] = {{"NetworkAdapter", link("/redfish/v1/Chassis/DGX/NetworkAdapters/" + id)}};
    one["Status"] = healthy();
    tree[path] = std::move(one);
    const auto ethernet =
        fmt::format("{}/EthernetInterfaces/EthernetInterface{}", kSystem, index++);
    auto port = resource(ethernet, "#EthernetInterface.v1_6_0.EthernetInterface",
                         ethernet.substr(ethernet.rfind('/') + 1), adapter.name);
    port["MACAddress"] = adapter.mac;
    port["Status"] = healthy();
    tree[ethernet] = std::move(port);
  }
  add_collection(tree, std::string{kSystem} + "/NetworkInterfaces",
                 "#NetworkInterfaceCollection.NetworkInterfaceCollection", "Network Interfaces");
  add_collection(tree, std::string{kSystem} + "/EthernetInterfaces",
                 "#EthernetInterfaceCollection.EthernetInterfaceCollection", "Ethernet Interfaces");
}

void add_gpu(ResourceTree& tree, const Gpu& gpu) {
  const auto id = fmt::format("GPU_SXM_{}", gpu.index + 1);
  const auto path = std::string{kBaseboard} + "/Processors/" + id;
  auto one = resource(path, "#Processor.v1_13_0.Processor", id, "Processor");
  one["ProcessorType"] = "GPU";
  one["Manufacturer"] = "NVIDIA";
  one["Model"] = gpu.model;
  one["PartNumber"] = "2330-885-A1";
  one["SerialNumber"] = gpu.serial;
  one["UUID"] = gpu.uuid.substr(4);
  one["FirmwareVersion"] = gpu.vbios;
  one["Location"] = {
      {"PartLocation",
       {{"LocationType", "Embedded"}, {"ServiceLabel", fmt::format("SXM{}", gpu.index + 1)}}}};
  one["SystemInterface"] = {{"InterfaceType", "PCIe"},
                            {"PCIe",
                             {{"LanesInUse", gpu.width},
                              {"MaxLanes", gpu.width_max},
                              {"MaxPCIeType", fmt::format("Gen{}", gpu.gen_max)},
                              {"PCIeType", fmt::format("Gen{}", gpu.gen)}}}};
  one["MemorySummary"] = {{"ECCModeEnabled", true},
                          {"TotalMemorySizeMiB", static_cast<std::int64_t>(gpu.bytes / 1048576)}};
  one["Oem"] = {
      {"Nvidia",
       {{"@odata.type", "#NvidiaProcessor.v1_0_0.NvidiaProcessor"}, {"MIGModeEnabled", false}}}};
  one["Links"] = {
      {"Chassis", link("/redfish/v1/Chassis/HGX_" + id)},
      {"Memory", json::array{link(std::string{kBaseboard} + "/Memory/" + id + "_DRAM_0")}}};
  one["Status"] = healthy();
  tree[path] = std::move(one);

  const auto memory_id = id + "_DRAM_0";
  const auto memory_path = std::string{kBaseboard} + "/Memory/" + memory_id;
  auto memory = resource(memory_path, "#Memory.v1_11_0.Memory", memory_id, "DIMM Slot");
  memory["CapacityMiB"] = static_cast<std::int64_t>(gpu.bytes / 1048576);
  memory["MemoryDeviceType"] = "HBM";
  memory["MemoryType"] = "DRAM";
  memory["ErrorCorrection"] = "SingleBitECC";
  memory["Oem"] = {
      {"Nvidia", {{"RowRemappingFailed", false}, {"RowRemappingPending", gpu.remap_pending}}}};
  memory["Status"] = healthy();
  tree[memory_path] = std::move(memory);
}

}  // namespace

void add_systems(ResourceTree& tree, const Machine& machine) {
  const auto& hardware = machine.hardware();
  add_host(tree, machine);
  add_processors(tree, hardware);
  add_memory(tree, hardware);
  add_storage(tree, hardware);
  add_networks(tree, hardware);
  if (!hardware.gpus.empty()) {
    const std::string path = kBaseboard;
    auto board = resource(path, "#ComputerSystem.v1_17_0.ComputerSystem", "HGX_Baseboard_0",
                          "HGX_Baseboard_0");
    board["Manufacturer"] = "NVIDIA";
    board["SystemType"] = "Physical";
    board["PowerState"] = to_string(machine.reported_power());
    board["Processors"] = link(path + "/Processors");
    board["Memory"] = link(path + "/Memory");
    board["Status"] = healthy();
    board["Links"] = {{"ManagedBy", json::array{link("/redfish/v1/Managers/HGX_BMC_0")}}};
    tree[path] = std::move(board);
    for (const auto& gpu : hardware.gpus) add_gpu(tree, gpu);
    auto fpga = resource(path + "/Processors/FPGA_0", "#Processor.v1_13_0.Processor", "FPGA_0",
                         "Processor");
    fpga["ProcessorType"] = "FPGA";
    fpga["Manufacturer"] = "NVIDIA";
    fpga["Status"] = healthy();
    tree[path + "/Processors/FPGA_0"] = std::move(fpga);
    add_collection(tree, path + "/Processors", "#ProcessorCollection.ProcessorCollection",
                   "Processor Collection");
    add_collection(tree, path + "/Memory", "#MemoryCollection.MemoryCollection",
                   "Memory Module Collection");
  }
  add_collection(tree, "/redfish/v1/Systems", "#ComputerSystemCollection.ComputerSystemCollection",
                 "Systems Collection");
}

}  // namespace cupel::rehearsal
