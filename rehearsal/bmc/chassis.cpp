// Chassis: power supplies, network adapters, PCIe devices, temperatures.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr const char* kChassis = "/redfish/v1/Chassis/DGX";

void add_power(ResourceTree& tree, const Machine& machine) {
  const auto subsystem = std::string{kChassis} + "/PowerSubsystem";
  for (const auto& psu : machine.hardware().psus) {
    const auto id = "PSU" + psu.name.substr(3);
    const auto path = subsystem + "/PowerSupplies/" + id;
    auto one = resource(path, "#PowerSupply.v1_3_0.PowerSupply", id, id);
    one["Manufacturer"] = "Delta";
    one["Model"] = psu.model;
    one["PartNumber"] = "ECD16020137";
    one["SerialNumber"] = psu.serial;
    one["FirmwareVersion"] = psu.firmware;
    one["PowerCapacityWatts"] = 3300;
    one["Status"] = healthy();
    tree[path] = std::move(one);
  }
  add_collection(tree, subsystem + "/PowerSupplies", "#PowerSupplyCollection.PowerSupplyCollection",
                 "PowerSupplies");
  auto power = resource(subsystem, "#PowerSubsystem.v1_1_0.PowerSubsystem", "PowerSubsystem",
                        "PowerSubsystem");
  power["PowerSupplies"] = link(subsystem + "/PowerSupplies");
  power["Status"] = healthy();
  tree[subsystem] = std::move(power);
  const bool on = machine.power() == Power::on;
  auto metrics = resource(std::string{kChassis} + "/EnvironmentMetrics",
                          "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics", "EnvironmentMetrics",
                          "Environment Metrics");
  metrics["PowerWatts"] = {{"Reading", on ? machine.hardware().idle_watts : 120.0}};
  tree[std::string{kChassis} + "/EnvironmentMetrics"] = std::move(metrics);
}

void add_adapters(ResourceTree& tree, const Hardware& hardware) {
  int index = 0;
  for (const auto& adapter : hardware.adapters) {
    const auto id = fmt::format("DevType7_NIC{}", index++);
    const auto path = std::string{kChassis} + "/NetworkAdapters/" + id;
    auto one = resource(path, "#NetworkAdapter.v1_5_0.NetworkAdapter", id, adapter.name);
    one["Manufacturer"] = adapter.infiniband ? "Mellanox" : "Intel";
    one["Model"] = adapter.model;
    one["SerialNumber"] = adapter.serial;
    one["Controllers"] = json::array{{{"FirmwarePackageVersion", adapter.firmware},
                                      {"ControllerCapabilities", {{"NetworkPortCount", 1}}}}};
    one["Ports"] = link(path + "/Ports");
    one["Status"] = healthy();
    const auto port_path = path + "/Ports/PORT0";
    auto port = resource(port_path, "#Port.v1_6_0.Port", "PORT0", "PORT0");
    port["PortProtocol"] = adapter.infiniband ? "InfiniBand" : "Ethernet";
    port["LinkStatus"] = "LinkUp";
    port["CurrentSpeedGbps"] = adapter.infiniband ? 400 : 100;
    tree[port_path] = std::move(port);
    add_collection(tree, path + "/Ports", "#PortCollection.PortCollection", "Ports");
    tree[path] = std::move(one);
  }
  add_collection(tree, std::string{kChassis} + "/NetworkAdapters",
                 "#NetworkAdapterCollection.NetworkAdapterCollection", "Network Adapters");
}

std::string pci_id(const std::string& address) {
  // 0000:1b:00.0 is 00_1B_00 on a DGX.
  auto id = "00_" + address.substr(5, 2) + "_" + address.substr(8, 2);
  for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return id;
}

void add_pci(ResourceTree& tree, const Hardware& hardware) {
  const auto add = [&](const std::string& address, std::string_view maker, const std::string& model,
                       int gen, int gen_max, int lanes, int lanes_max) {
    const auto id = pci_id(address);
    const auto path = std::string{kChassis} + "/PCIeDevices/" + id;
    auto one = resource(path, "#PCIeDevice.v1_4_0.PCIeDevice", id, id);
    one["DeviceType"] = "SingleFunction";
    one["Manufacturer"] = maker;
    one["Model"] = model;
    one["PCIeInterface"] = {{"PCIeType", fmt::format("Gen{}", gen)},
                            {"MaxPCIeType", fmt::format("Gen{}", gen_max)},
                            {"LanesInUse", lanes},
                            {"MaxLanes", lanes_max}};
    one["Status"] = healthy();
    tree[path] = std::move(one);
  };
  for (const auto& gpu : hardware.gpus)
    add(gpu.pci, "NVIDIA", gpu.model, gpu.gen, gpu.gen_max, gpu.width, gpu.width_max);
  for (const auto& drive : hardware.drives) add(drive.pci, "Samsung", drive.model, 4, 4, 4, 4);
  for (const auto& adapter : hardware.adapters)
    add(adapter.pci, adapter.infiniband ? "Mellanox" : "Intel", adapter.model, 5, 5, 16, 16);
  add_collection(tree, std::string{kChassis} + "/PCIeDevices",
                 "#PCIeDeviceCollection.PCIeDeviceCollection", "PCIe Devices");
}

void add_thermal(ResourceTree& tree, const Machine& machine) {
  const auto path = std::string{kChassis} + "/Thermal";
  auto thermal = resource(path, "#Thermal.v1_5_3.Thermal", "Thermal", "Thermal");
  const bool on = machine.power() == Power::on;
  json::array temperatures{
      {{"MemberId", "0"}, {"Name", "TEMP_AMBIENT"}, {"ReadingCelsius", 24}, {"Status", healthy()}}};
  int index = 1;
  for (const auto& gpu : machine.hardware().gpus)
    temperatures.push_back(
        {{"MemberId", std::to_string(index++)},
         {"Name", fmt::format("TEMP_GPU_SXM_{}", gpu.index + 1)},
         {"ReadingCelsius", on ? json::value(30 + gpu.index) : json::value{nullptr}},
         {"Status", healthy(on)}});
  thermal["Temperatures"] = std::move(temperatures);
  thermal["Fans"] = json::array{{{"MemberId", "0"},
                                 {"Name", "SPD_FAN_SYS0_F"},
                                 {"Reading", on ? 4400 : 0},
                                 {"ReadingUnits", "RPM"},
                                 {"Status", healthy()}}};
  tree[path] = std::move(thermal);
}

}  // namespace

void add_chassis(ResourceTree& tree, const Machine& machine) {
  const auto& hardware = machine.hardware();
  add_power(tree, machine);
  add_adapters(tree, hardware);
  add_pci(tree, hardware);
  add_thermal(tree, machine);
  const std::string path = kChassis;
  auto chassis = resource(path, "#Chassis.v1_15_0.Chassis", "DGX", "High Level Chassis");
  chassis["ChassisType"] = "Other";
  chassis["Manufacturer"] = hardware.manufacturer;
  chassis["Model"] = hardware.model;
  chassis["SerialNumber"] = hardware.serial;
  for (const auto* child :
       {"PowerSubsystem", "NetworkAdapters", "PCIeDevices", "Thermal", "EnvironmentMetrics"})
    chassis[child] = link(path + "/" + child);
  chassis["Links"] = {{"ComputerSystems", json::array{link("/redfish/v1/Systems/DGX")}},
                      {"ManagedBy", json::array{link("/redfish/v1/Managers/BMC")}}};
  chassis["Status"] = healthy();
  tree[path] = std::move(chassis);
  for (const auto& gpu : hardware.gpus) {
    const auto id = fmt::format("HGX_GPU_SXM_{}", gpu.index + 1);
    const auto gpu_path = "/redfish/v1/Chassis/" + id;
    auto module = resource(gpu_path, "#Chassis.v1_17_0.Chassis", id, id.substr(4));
    module["ChassisType"] = "Module";
    module["Manufacturer"] = "NVIDIA";
    module["Model"] = gpu.model;
    module["SerialNumber"] = gpu.serial;
    module["Status"] = healthy();
    tree[gpu_path] = std::move(module);
  }
  add_collection(tree, "/redfish/v1/Chassis", "#ChassisCollection.ChassisCollection",
                 "Chassis Collection");
}

}  // namespace cupel::rehearsal
