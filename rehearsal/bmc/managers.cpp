// The BMC itself: its clock, its ports, its console, its network services.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

json::object console_of(const BmcView& view) {
  json::array types{"IPMI"};
  if (view.behavior().vendor != "dgx" && view.behavior().vendor != "ami") types.emplace_back("SSH");
  return {{"ConnectTypesSupported", std::move(types)},
          {"MaxConcurrentSessions", 1},
          {"ServiceEnabled", view.state.services.at("IPMI").enabled}};
}

json::object reset_of(const BmcView& view, const std::string& path) {
  json::array types{json::value(view.behavior().power.bmc_reset)};
  return {{"#Manager.Reset",
           {{"ResetType@Redfish.AllowableValues", std::move(types)},
            {"target", path + "/Actions/Manager.Reset"}}}};
}

void add_ports(ResourceTree& tree, const BmcView& view) {
  const auto path = view.manager() + "/EthernetInterfaces/eth0";
  auto port = resource(path, "#EthernetInterface.v1_6_0.EthernetInterface", "eth0",
                       "Manager Ethernet Interface");
  port["MACAddress"] = view.hardware().bmc_mac;
  port["PermanentMACAddress"] = view.hardware().bmc_mac;
  port["InterfaceEnabled"] = true;
  port["LinkStatus"] = "LinkUp";
  port["SpeedMbps"] = 1000;
  port["Status"] = healthy();
  tree[path] = std::move(port);
  add_collection(tree, view.manager() + "/EthernetInterfaces",
                 "#EthernetInterfaceCollection.EthernetInterfaceCollection", "Ethernet Interfaces");
}

void add_protocols(ResourceTree& tree, const BmcView& view) {
  const auto path = view.manager() + "/NetworkProtocol";
  auto protocols = resource(path, "#ManagerNetworkProtocol.v1_6_0.ManagerNetworkProtocol",
                            "NetworkProtocol", "Manager Network Protocol");
  protocols["HostName"] = view.machine.name() + "-bmc";
  for (const auto& [name, service] : view.state.services)
    protocols[name] = {{"ProtocolEnabled", service.enabled}, {"Port", service.port}};
  json::array servers;
  for (const auto& server : view.state.ntp_servers) servers.push_back(json::value(server));
  protocols["NTP"].as_object()["NTPServers"] = std::move(servers);
  protocols["Status"] = healthy();
  tree[path] = std::move(protocols);
}

void add_main(ResourceTree& tree, const BmcView& view) {
  const auto& hardware = view.hardware();
  const auto& names = view.behavior().names;
  const auto path = view.manager();
  auto manager = resource(path, "#Manager.v1_14_0.Manager", view.layout().manager, "Manager");
  manager["ManagerType"] = "BMC";
  manager["Model"] =
      names.bmc_model.empty() ? json::value(hardware.model) : json::value(names.bmc_model);
  const std::string version{names.bmc_version.empty() ? "23.11.21" : names.bmc_version};
  manager["FirmwareVersion"] = hardware.version("HostBMC_0", version);
  manager["UUID"] = hardware.uuid;
  manager["DateTime"] = view.time(view.epoch());
  manager["DateTimeLocalOffset"] = view.offset();
  manager["Actions"] = reset_of(view, path);
  manager["PowerState"] = "On";
  manager["SerialConsole"] = console_of(view);
  manager["CommandShell"] = {{"ConnectTypesSupported", json::array{"SSH"}},
                             {"MaxConcurrentSessions", 4},
                             {"ServiceEnabled", view.state.services.at("SSH").enabled}};
  for (const auto* child : {"EthernetInterfaces", "NetworkProtocol"})
    manager[child] = link(path + "/" + child);
  if (view.layout().log_of_manager) manager["LogServices"] = link(path + "/LogServices");
  if (view.behavior().media.of_manager) manager["VirtualMedia"] = link(view.media());
  manager["Links"] = {{"ManagerForServers", json::array{link(view.system())}},
                      {"ManagerForChassis", json::array{link(view.chassis())}}};
  manager["Status"] = healthy();
  tree[path] = std::move(manager);
}

/// The baseboard's own, which is reached through the first.
void add_second(ResourceTree& tree, const BmcView& view) {
  const std::string path = "/redfish/v1/Managers/HGX_BMC_0";
  auto manager = resource(path, "#Manager.v1_14_0.Manager", "HGX_BMC_0", "Manager");
  manager["ManagerType"] = "BMC";
  manager["Model"] = "OpenBmc";
  manager["FirmwareVersion"] = "HGX-22.10-1-rc57";
  manager["Links"] = {{"ManagerForServers", json::array{link(view.system_of_gpus())}}};
  manager["PowerState"] = "On";
  if (!dumps_of(view).empty()) manager["LogServices"] = link(path + "/LogServices");
  manager["Status"] = healthy();
  tree[path] = std::move(manager);
}

}  // namespace

void add_managers(ResourceTree& tree, const BmcView& view) {
  add_main(tree, view);
  add_ports(tree, view);
  add_protocols(tree, view);
  if (!view.layout().system_of_gpus.empty() && !view.hardware().gpus.empty())
    add_second(tree, view);
  add_collection(tree, "/redfish/v1/Managers", "#ManagerCollection.ManagerCollection",
                 "Manager Collection");
}

}  // namespace cupel::rehearsal
