// The service root, managers, and what firmware there is.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr const char* kRoot = "/redfish/v1";

void add_firmware(ResourceTree& tree, const Hardware& hardware) {
  std::map<std::string, std::string> versions{
      {"HostBMC_0", "23.11.21"}, {"HostBIOS_0", "01.01.03"}, {"CPLDMB_0", "0.2.1.9"}};
  for (const auto& gpu : hardware.gpus)
    versions[fmt::format("HGX_FW_GPU_SXM_{}", gpu.index + 1)] = gpu.vbios;
  for (const auto& psu : hardware.psus) versions["PSU_" + psu.name.substr(3)] = psu.firmware;
  for (const auto& [component, version] : hardware.firmware) {
    constexpr std::array<std::string_view, 6> kOfTheHost{"driver", "gpu", "vbios",
                                                         "hca",    "psu", "os"};
    if (std::ranges::find(kOfTheHost, std::string_view{component}) == kOfTheHost.end())
      versions[component] = version;
  }
  const std::string path = "/redfish/v1/UpdateService/FirmwareInventory";
  for (const auto& [component, version] : versions) {
    auto one = resource(path + "/" + component, "#SoftwareInventory.v1_2_3.SoftwareInventory",
                        component, component);
    one["Version"] = version;
    one["Updateable"] = true;
    tree[path + "/" + component] = std::move(one);
  }
  add_collection(tree, path, "#SoftwareInventoryCollection.SoftwareInventoryCollection",
                 "Firmware Inventory Collection");
  auto service = resource("/redfish/v1/UpdateService", "#UpdateService.v1_11_0.UpdateService",
                          "UpdateService", "Update Service");
  service["FirmwareInventory"] = link(path);
  service["ServiceEnabled"] = true;
  tree["/redfish/v1/UpdateService"] = std::move(service);
}

void add_managers(ResourceTree& tree, const Hardware& hardware) {
  for (const auto* id : {"BMC", "HGX_BMC_0"}) {
    if (std::string_view{id} != "BMC" && hardware.gpus.empty()) continue;
    const auto path = std::string{"/redfish/v1/Managers/"} + id;
    auto manager = resource(path, "#Manager.v1_14_0.Manager", id, "Manager");
    manager["ManagerType"] = "BMC";
    manager["Manufacturer"] = "NVIDIA";
    manager["Model"] = hardware.model;
    manager["FirmwareVersion"] = hardware.version("HostBMC_0", "23.11.21");
    manager["Actions"] = {{"#Manager.Reset",
                           {{"ResetType@Redfish.AllowableValues", json::array{"ForceRestart"}},
                            {"target", path + "/Actions/Manager.Reset"}}}};
    manager["PowerState"] = "On";
    manager["Status"] = healthy();
    tree[path] = std::move(manager);
  }
  add_collection(tree, "/redfish/v1/Managers", "#ManagerCollection.ManagerCollection",
                 "Manager Collection");
}

}  // namespace

void add_services(ResourceTree& tree, const Machine& machine) {
  const auto& hardware = machine.hardware();
  add_firmware(tree, hardware);
  add_managers(tree, hardware);
  auto root = resource(kRoot, "#ServiceRoot.v1_13_0.ServiceRoot", "RootService", "Root Service");
  root["RedfishVersion"] = "1.11.0";
  root["Product"] = "AMI Redfish Server";
  root["Vendor"] = "AMI";  // as a DGX H100 says; who made the machine stands in the system
  root["UUID"] = hardware.uuid;
  for (const auto* child : {"Systems", "Chassis", "Managers", "SessionService", "UpdateService"})
    root[child] = link(std::string{kRoot} + "/" + child);
  root["Links"] = {{"Sessions", link("/redfish/v1/SessionService/Sessions")}};
  tree[kRoot] = std::move(root);
}

}  // namespace cupel::rehearsal
