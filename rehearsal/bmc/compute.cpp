// Processors, memory, drives and network interfaces of the Systems.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

void add_cpus(ResourceTree& tree, const BmcView& view) {
  const auto& cpus = view.hardware().cpus;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const auto& cpu = cpus[i];
    const auto id = view.id(view.layout().cpu, static_cast<int>(i));
    const auto path = view.system() + "/Processors/" + id;
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
}

void add_dimms(ResourceTree& tree, const BmcView& view) {
  const auto& dimms = view.hardware().dimms;
  for (std::size_t i = 0; i < dimms.size(); ++i) {
    const auto& dimm = dimms[i];
    const auto number = static_cast<int>(i);
    const auto id = view.id(view.layout().dimm, number);
    const auto path = view.system() + "/Memory/" + id;
    auto one = resource(path, "#Memory.v1_11_0.Memory", id, id);
    one["DeviceLocator"] = dimm.locator;
    const int socket = dimm.locator[5] - 'A';
    one["MemoryLocation"] = {
        {"Channel", number % 8}, {"MemoryController", 0}, {"Slot", number % 2}, {"Socket", socket}};
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
    one["OperatingSpeedMhz"] = dimm.mts;
    one["Manufacturer"] = dimm.manufacturer;
    one["PartNumber"] = dimm.model + " ";  // padded, as the real one is
    one["SerialNumber"] = dimm.serial;
    one["Status"] = healthy();
    tree[path] = std::move(one);
  }
}

void add_storage(ResourceTree& tree, const BmcView& view) {
  const auto unit = view.system() + "/Storage/StorageUnit_0";
  auto storage = resource(unit, "#Storage.v1_12_0.Storage", "StorageUnit_0", "StorageUnit_0");
  json::array drives;
  for (const auto& drive : view.hardware().drives) {
    const auto id = fmt::format("NVMe_Device{}_NSID1", drive.name.substr(4));
    const auto path = unit + "/Drives/" + id;
    auto one = resource(path, "#Drive.v1_14_0.Drive", id, drive.name);
    one["MediaType"] = "SSD";
    one["Protocol"] = "NVMe";
    one["Manufacturer"] = "Samsung";
    one["Model"] = drive.model;
    one["SerialNumber"] = drive.serial;
    one["Revision"] = drive.firmware;
    one["CapacityBytes"] = static_cast<std::int64_t>(drive.bytes);
    one["Status"] = healthy();
    drives.push_back(link(path));
    tree[path] = std::move(one);
  }
  storage["Drives@odata.count"] = drives.size();
  storage["Drives"] = std::move(drives);
  storage["Status"] = healthy();
  tree[unit] = std::move(storage);
  add_collection(tree, view.system() + "/Storage", "#StorageCollection.StorageCollection",
                 "Storage Collection");
}

/// The same drives in fewer words: a DGX has both.
void add_simple_storage(ResourceTree& tree, const BmcView& view) {
  const auto base = view.system() + "/SimpleStorage";
  for (const auto& drive : view.hardware().drives) {
    const auto id = drive.name.substr(4);
    auto one = resource(base + "/" + id, "#SimpleStorage.v1_3_0.SimpleStorage", id,
                        "NVMe_Controller_" + id);
    one["Devices"] = json::array{{{"CapacityBytes", static_cast<std::int64_t>(drive.bytes)},
                                  {"Manufacturer", "N/A"},
                                  {"Model", drive.model},
                                  {"Name", "NVMe_Device" + id + "_NSID1"},
                                  {"Status", healthy()}}};
    one["Links"] = {{"Chassis", link(view.chassis())},
                    {"Storage", link(view.system() + "/Storage/StorageUnit_0")}};
    one["Status"] = healthy();
    tree[base + "/" + id] = std::move(one);
  }
  add_collection(tree, base, "#SimpleStorageCollection.SimpleStorageCollection",
                 "Simple Storage Collection");
}

void add_networks(ResourceTree& tree, const BmcView& view) {
  int index = 0;
  for (const auto& adapter : view.hardware().adapters) {
    const auto id = view.id(view.layout().nic, index);
    const auto path = view.system() + "/NetworkInterfaces/" + id;
    auto one = resource(path, "#NetworkInterface.v1_2_0.NetworkInterface", id, id);
    one["Links"] = {{"NetworkAdapter", link(view.chassis() + "/NetworkAdapters/" + id)}};
    one["Status"] = healthy();
    tree[path] = std::move(one);
    const auto ethernet =
        fmt::format("{}/EthernetInterfaces/EthernetInterface{}", view.system(), index++);
    auto port = resource(ethernet, "#EthernetInterface.v1_6_0.EthernetInterface",
                         ethernet.substr(ethernet.rfind('/') + 1), adapter.name);
    port["MACAddress"] = adapter.mac;
    port["PermanentMACAddress"] = adapter.mac;
    port["LinkStatus"] = view.machine.power() == Power::on ? "LinkUp" : "NoLink";
    port["Status"] = healthy();
    tree[ethernet] = std::move(port);
  }
  add_collection(tree, view.system() + "/NetworkInterfaces",
                 "#NetworkInterfaceCollection.NetworkInterfaceCollection", "Network Interfaces");
  add_collection(tree, view.system() + "/EthernetInterfaces",
                 "#EthernetInterfaceCollection.EthernetInterfaceCollection", "Ethernet Interfaces");
}

void add_gpu_memory(ResourceTree& tree, const BmcView& view, const Gpu& gpu) {
  const auto id = view.gpu_id(gpu) + "_DRAM_0";
  const auto path = view.system_of_gpus() + "/Memory/" + id;
  auto memory = resource(path, "#Memory.v1_11_0.Memory", id, "DIMM Slot");
  memory["CapacityMiB"] = static_cast<std::int64_t>(gpu.bytes / 1048576);
  memory["MemoryDeviceType"] = "HBM";
  memory["MemoryType"] = "DRAM";
  memory["ErrorCorrection"] = "SingleBitECC";
  memory["Oem"] = {{"Nvidia",
                    {{"@odata.type", "#NvidiaMemory.v1_0_0.NvidiaMemory"},
                     {"RowRemappingFailed", false},
                     {"RowRemappingPending", gpu.remap_pending}}}};
  memory["Status"] = healthy();
  tree[path] = std::move(memory);
}

void add_gpu(ResourceTree& tree, const BmcView& view, const Gpu& gpu) {
  const bool baseboard = !view.layout().system_of_gpus.empty();
  const auto id = view.gpu_id(gpu);
  const auto path = view.system_of_gpus() + "/Processors/" + id;
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
  one["Status"] = healthy();
  if (baseboard) {
    one["Oem"] = {
        {"Nvidia",
         {{"@odata.type", "#NvidiaProcessor.v1_0_0.NvidiaProcessor"}, {"MIGModeEnabled", false}}}};
    one["Links"] = {
        {"Chassis", link("/redfish/v1/Chassis/HGX_" + id)},
        {"Memory", json::array{link(view.system_of_gpus() + "/Memory/" + id + "_DRAM_0")}}};
    add_gpu_memory(tree, view, gpu);
  }
  tree[path] = std::move(one);
}

void add_fpga(ResourceTree& tree, const BmcView& view) {
  const auto path = view.system_of_gpus() + "/Processors/FPGA_0";
  auto fpga = resource(path, "#Processor.v1_13_0.Processor", "FPGA_0", "Processor");
  fpga["ProcessorType"] = "FPGA";
  fpga["Manufacturer"] = "NVIDIA";
  fpga["Status"] = healthy();
  tree[path] = std::move(fpga);
}

void add_processor_collections(ResourceTree& tree, const std::string& system) {
  add_collection(tree, system + "/Processors", "#ProcessorCollection.ProcessorCollection",
                 "Processor Collection");
  add_collection(tree, system + "/Memory", "#MemoryCollection.MemoryCollection",
                 "Memory Module Collection");
}

/// NVSwitches, as a fabric has them: four on a baseboard of eight.
void add_switches(ResourceTree& tree, const BmcView& view) {
  const std::string fabric = "/redfish/v1/Fabrics/HGX_NVLinkFabric_0";
  for (int i = 0; i < 4; ++i) {
    const auto id = fmt::format("NVSwitch_{}", i);
    const auto path = fabric + "/Switches/" + id;
    auto one = resource(path, "#Switch.v1_9_0.Switch", id, id + " Resource");
    one["SwitchType"] = "NVLink";
    one["Manufacturer"] = "NVIDIA";
    one["Model"] = "NVSwitch";
    one["SerialNumber"] = fmt::format("{}{}", view.hardware().serial, i);
    one["FirmwareVersion"] = view.hardware().version("HGX_FW_" + id, "96.10.4A.00.01");
    one["Status"] = healthy();
    tree[path] = std::move(one);
  }
  add_collection(tree, fabric + "/Switches", "#SwitchCollection.SwitchCollection", "Switches");
  auto one = resource(fabric, "#Fabric.v1_2_0.Fabric", "HGX_NVLinkFabric_0", "NVLink Fabric");
  one["FabricType"] = "NVLink";
  one["Switches"] = link(fabric + "/Switches");
  one["Status"] = healthy();
  tree[fabric] = std::move(one);
}

}  // namespace

void add_compute(ResourceTree& tree, const BmcView& view) {
  const auto& gpus = view.hardware().gpus;
  const auto wants = [&](const std::string& system, const char* part) {
    return view.wants(system + part);
  };
  const auto host = view.system(), baseboard = view.system_of_gpus();
  if (wants(host, "/Processors")) add_cpus(tree, view);
  if (wants(host, "/Memory")) add_dimms(tree, view);
  if (wants(host, "/Storage")) add_storage(tree, view);
  if (wants(host, "/SimpleStorage") && view.layout().host_lists_devices)
    add_simple_storage(tree, view);
  if (wants(host, "/NetworkInterfaces") || wants(host, "/EthernetInterfaces"))
    add_networks(tree, view);
  if (wants(baseboard, "/Processors") || wants(baseboard, "/Memory"))
    for (const auto& gpu : gpus) add_gpu(tree, view, gpu);
  const bool two = !view.layout().system_of_gpus.empty() && !gpus.empty();
  if (two) {
    add_fpga(tree, view);
    if (view.wants("/redfish/v1/Fabrics")) add_switches(tree, view);
    add_processor_collections(tree, baseboard);
  }
  add_processor_collections(tree, view.system());
  add_collection(tree, "/redfish/v1/Fabrics", "#FabricCollection.FabricCollection", "Fabrics");
}

}  // namespace cupel::rehearsal
