// Chassis: network adapters, PCIe devices, and the modules that carry GPUs.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

void add_adapters(ResourceTree& tree, const BmcView& view) {
  int index = 0;
  for (const auto& adapter : view.hardware().adapters) {
    const auto id = view.id(view.layout().nic, index++);
    const auto path = view.chassis() + "/NetworkAdapters/" + id;
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
    if (adapter.infiniband)
      port["InfiniBand"] = {{"AssociatedNodeGUIDs", json::array{json::value(adapter.guid)}}};
    else
      port["Ethernet"] = {{"AssociatedMACAddresses", json::array{json::value(adapter.mac)}}};
    tree[port_path] = std::move(port);
    add_collection(tree, path + "/Ports", "#PortCollection.PortCollection", "Ports");
    tree[path] = std::move(one);
  }
  add_collection(tree, view.chassis() + "/NetworkAdapters",
                 "#NetworkAdapterCollection.NetworkAdapterCollection", "Network Adapters");
}

std::string pci_id(const std::string& address) {
  // 0000:1b:00.0 is 00_1B_00 on a DGX.
  auto id = "00_" + address.substr(5, 2) + "_" + address.substr(8, 2);
  for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return id;
}

std::string device_path(const BmcView& view, const std::string& address) {
  return view.chassis() + "/PCIeDevices/" + pci_id(address);
}

struct PcieLink {
  int gen, gen_max, lanes, lanes_max;
};

void add_device(ResourceTree& tree, const BmcView& view, const std::string& address,
                std::string_view maker, const std::string& model, const std::string& serial,
                const PcieLink& pcie) {
  const auto id = pci_id(address);
  const auto path = device_path(view, address);
  auto one = resource(path, "#PCIeDevice.v1_4_0.PCIeDevice", id, id);
  one["DeviceType"] = "SingleFunction";
  one["Manufacturer"] = maker;
  one["Model"] = model;
  one["SerialNumber"] = serial;
  one["PCIeInterface"] = {{"PCIeType", fmt::format("Gen{}", pcie.gen)},
                          {"MaxPCIeType", fmt::format("Gen{}", pcie.gen_max)},
                          {"LanesInUse", pcie.lanes},
                          {"MaxLanes", pcie.lanes_max}};
  one["Status"] = healthy();
  tree[path] = std::move(one);
}

void add_devices(ResourceTree& tree, const BmcView& view) {
  const auto& hardware = view.hardware();
  for (const auto& gpu : hardware.gpus)
    add_device(tree, view, gpu.pci, "NVIDIA", gpu.model, gpu.serial,
               {gpu.gen, gpu.gen_max, gpu.width, gpu.width_max});
  for (const auto& drive : hardware.drives)
    add_device(tree, view, drive.pci, "Samsung", drive.model, drive.serial, {4, 4, 4, 4});
  for (const auto& adapter : hardware.adapters)
    add_device(tree, view, adapter.pci, adapter.infiniband ? "Mellanox" : "Intel", adapter.model,
               adapter.serial, {5, 5, 16, 16});
  add_collection(tree, view.chassis() + "/PCIeDevices",
                 "#PCIeDeviceCollection.PCIeDeviceCollection", "PCIe Devices");
}

void add_gpu_modules(ResourceTree& tree, const BmcView& view) {
  if (view.layout().system_of_gpus.empty()) return;
  for (const auto& gpu : view.hardware().gpus) {
    const auto id = "HGX_" + view.gpu_id(gpu);
    const auto path = "/redfish/v1/Chassis/" + id;
    auto module = resource(path, "#Chassis.v1_17_0.Chassis", id, id.substr(4));
    module["ChassisType"] = "Module";
    module["Manufacturer"] = "NVIDIA";
    module["Model"] = gpu.model;
    module["SerialNumber"] = gpu.serial;
    module["Status"] = healthy();
    tree[path] = std::move(module);
  }
}

/// Where the whole machine's cord can be pulled.
void add_aux_cycle(const BmcView& view, json::object& chassis) {
  const auto& ac = view.behavior().power.ac;
  if (!ac.action.starts_with("Chassis/")) return;
  json::object reset{{"target", "/redfish/v1/" + std::string{ac.action}},
                     {"ResetType@Redfish.AllowableValues", json::array{json::value(ac.word)}}};
  json::object oem{{std::string{ac.key}, std::move(reset)}};
  chassis["Actions"] = json::object{{"Oem", std::move(oem)}};
}

}  // namespace

std::vector<std::string> pcie_paths(const BmcView& view) {
  const auto& hardware = view.hardware();
  std::vector<std::string> all;
  for (const auto& gpu : hardware.gpus) all.push_back(device_path(view, gpu.pci));
  for (const auto& drive : hardware.drives) all.push_back(device_path(view, drive.pci));
  for (const auto& adapter : hardware.adapters) all.push_back(device_path(view, adapter.pci));
  return all;
}

void add_chassis(ResourceTree& tree, const BmcView& view) {
  const auto& names = view.behavior().names;
  const auto& hardware = view.hardware();
  const auto path = view.chassis();
  if (view.wants(path + "/NetworkAdapters")) add_adapters(tree, view);
  if (view.wants(path + "/PCIeDevices")) add_devices(tree, view);
  auto chassis =
      resource(path, "#Chassis.v1_15_0.Chassis", view.layout().chassis, "High Level Chassis");
  chassis["ChassisType"] = view.behavior().vendor == "dgx" ? "Other" : "RackMount";
  chassis["Manufacturer"] = names.manufacturer.empty() ? json::value(hardware.manufacturer)
                                                       : json::value(names.manufacturer);
  chassis["Model"] = names.model.empty() ? json::value(hardware.model) : json::value(names.model);
  chassis["SerialNumber"] = hardware.serial;
  chassis["PowerState"] = to_string(view.power());
  for (const auto* child : {"NetworkAdapters", "PCIeDevices"})
    chassis[child] = link(path + "/" + child);
  const auto style = view.layout().sensors;
  if (style != SensorStyle::modern)
    for (const auto* child : {"Thermal", "Power"}) chassis[child] = link(path + "/" + child);
  if (style != SensorStyle::legacy)
    for (const auto* child :
         {"Sensors", "ThermalSubsystem", "PowerSubsystem", "EnvironmentMetrics"})
      chassis[child] = link(path + "/" + child);
  add_aux_cycle(view, chassis);
  chassis["Links"] = {{"ComputerSystems", json::array{link(view.system())}},
                      {"ManagedBy", json::array{link(view.manager())}}};
  chassis["Status"] = healthy();
  tree[path] = std::move(chassis);
  add_gpu_modules(tree, view);
  add_collection(tree, "/redfish/v1/Chassis", "#ChassisCollection.ChassisCollection",
                 "Chassis Collection");
}

}  // namespace cupel::rehearsal
