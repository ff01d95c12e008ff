// Systems: the host, and the baseboard with the GPUs where a BMC shows it as a system of its own.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

json::object boot(const BmcView& view, bool writable) {
  const auto& behavior = view.behavior().boot;
  const auto& now = view.machine.boot_override();
  json::object boot{{"BootSourceOverrideEnabled", now.enabled},
                    {"BootSourceOverrideTarget", now.target}};
  if (behavior.mode) boot["BootSourceOverrideMode"] = now.mode;
  if (behavior.http_uri)
    boot["HttpBootUri"] = now.uri.empty() ? json::value(nullptr) : json::value(now.uri);
  if (!writable) return boot;
  const auto allow = [&](std::string_view name, json::array values) {
    boot["BootSourceOverride" + std::string{name} + "@Redfish.AllowableValues"] = std::move(values);
  };
  allow("Enabled", json_words(behavior.enabled));
  allow("Target", json_words(behavior.targets));
  if (behavior.mode) allow("Mode", json::array{"UEFI"});
  return boot;
}

json::array texts(const std::vector<std::string>& all) {
  json::array array;
  for (const auto& one : all) array.emplace_back(one);
  return array;
}

void add_boot_options(ResourceTree& tree, const BmcView& view, json::object& system) {
  const auto path = view.system() + "/BootOptions";
  for (const auto& option : uefi_options()) {
    const std::string reference{option.reference};
    auto one = resource(path + "/" + reference, "#BootOption.v1_0_4.BootOption", option.reference,
                        option.name);
    one["BootOptionReference"] = json::value(option.reference);
    one["DisplayName"] = json::value(option.name);
    one["UefiDevicePath"] = json::value(option.path);
    if (!option.alias.empty()) one["Alias"] = json::value(option.alias);
    one["BootOptionEnabled"] = true;
    tree[path + "/" + reference] = std::move(one);
  }
  add_collection(tree, path, "#BootOptionCollection.BootOptionCollection", "Boot Options");
  auto& boot = system["Boot"].as_object();
  boot["BootOptions"] = link(path);
  // Where no other resource has what the next boot makes of it, this one does.
  const auto& firmware = view.state.firmware;
  boot["BootOrder"] =
      texts(view.layout().boot_settings.empty() ? firmware.next_order() : firmware.order());
}

void add_secure_boot(ResourceTree& tree, const BmcView& view, json::object& system) {
  const auto path = view.system() + "/SecureBoot";
  auto one = resource(path, "#SecureBoot.v1_1_0.SecureBoot", "SecureBoot", "UEFI Secure Boot");
  one["SecureBootEnable"] = view.state.firmware.next_secure_boot();
  one["SecureBootCurrentBoot"] = view.state.firmware.secure_boot() ? "Enabled" : "Disabled";
  one["SecureBootMode"] = "UserMode";
  tree[path] = std::move(one);
  system["SecureBoot"] = link(path);
}

void add_reset(ResourceTree& tree, const BmcView& view, json::object& system) {
  const auto& power = view.behavior().power;
  const auto path = view.system();
  json::object reset{{"target", path + "/Actions/ComputerSystem.Reset"}};
  if (power.inline_words) reset["ResetType@Redfish.AllowableValues"] = json_words(power.resets);
  if (power.action_info) {
    reset["@Redfish.ActionInfo"] = path + "/ResetActionInfo";
    auto info = resource(path + "/ResetActionInfo", "#ActionInfo.v1_1_2.ActionInfo", "ResetAction",
                         "ResetAction");
    info["Parameters"] = json::array{{{"AllowableValues", json_words(power.resets)},
                                      {"DataType", "String"},
                                      {"Name", "ResetType"},
                                      {"Required", true}}};
    tree[path + "/ResetActionInfo"] = std::move(info);
  }
  system["Actions"] = json::object{{"#ComputerSystem.Reset", std::move(reset)}};
  const auto& ac = power.ac;
  if (!ac.action.starts_with("Systems/")) return;
  json::object oem{{std::string{ac.key},
                    {{"target", "/redfish/v1/" + std::string{ac.action}},
                     {"ResetType@Redfish.AllowableValues", json::array{json::value(ac.word)}}}}};
  // An iLO has its own actions among its own things.
  if (view.behavior().names.oem == "Hpe")
    system["Oem"] =
        json::object{{"Hpe",
                      {{"@odata.type", "#HpeComputerSystemExt.v2_10_1.HpeComputerSystemExt"},
                       {"Actions", std::move(oem)}}}};
  else
    system["Actions"].as_object()["Oem"] = std::move(oem);
}

void name_it(const BmcView& view, json::object& system) {
  const auto& names = view.behavior().names;
  const auto& hardware = view.hardware();
  if (names.system_is_nameless) return;
  const auto or_own = [](std::string_view reported, const std::string& own) {
    return reported.empty() ? json::value(own) : json::value(reported);
  };
  system["Manufacturer"] = or_own(names.manufacturer, hardware.manufacturer);
  system["Model"] = or_own(names.model, hardware.model);
  system["SerialNumber"] = (names.serial_is_sku ? "CNBOARD" : "") + hardware.serial;
  if (names.serial_is_sku) system["SKU"] = hardware.serial;
  if (!names.sku.empty()) system["SKU"] = json::value(names.sku);
  system["PartNumber"] = "965-24387-0003-000";
}

json::object console_of(const BmcView& view) {
  const auto& services = view.state.services;
  json::object console{{"MaxConcurrentSessions", 1},
                       {"IPMI", {{"ServiceEnabled", services.at("IPMI").enabled}}}};
  json::object ssh{{"ServiceEnabled", services.at("SSH").enabled}};
  if (view.behavior().vendor == "openbmc") {
    ssh["Port"] = 2200;
    ssh["HotKeySequenceDisplay"] = "Press ~. to exit console";
  } else {
    ssh["Port"] = services.at("SSH").port;
    ssh["SharedWithManagerCLI"] = true;
    ssh["ConsoleEntryCommand"] = "cd system1/sol1; start";
  }
  console["SSH"] = std::move(ssh);
  return console;
}

void add_locator(const BmcView& view, json::object& system) {
  const auto& light = view.behavior().locator;
  const bool on = view.machine.locator();
  if (light.active) system["LocationIndicatorActive"] = on;
  if (light.led) system["IndicatorLED"] = on ? light.on : light.off;
  if (light.tells_words)
    system["IndicatorLED@Redfish.AllowableValues"] = json::array{"Lit", "Blinking", "Off"};
}

/// What a DGX's System lists beside its parts.
void add_devices(const BmcView& view, json::object& system) {
  if (!view.layout().host_lists_devices) return;
  const auto path = view.system();
  const auto devices = pcie_paths(view);
  system["PCIeDevices@odata.count"] = devices.size();
  system["PCIeDevices"] = links(devices);
  system["SimpleStorage"] = link(path + "/SimpleStorage");
}

void add_host(ResourceTree& tree, const BmcView& view) {
  const auto& hardware = view.hardware();
  const auto& layout = view.layout();
  const auto path = view.system();
  auto system = resource(path, "#ComputerSystem.v1_17_0.ComputerSystem", layout.system, "System");
  add_reset(tree, view, system);
  name_it(view, system);
  system["BiosVersion"] = hardware.version("HostBIOS_0", "01.01.03");
  system["Boot"] = boot(view, !layout.boot_is_in_settings);
  add_boot_options(tree, view, system);
  add_secure_boot(tree, view, system);
  system["HostName"] = view.machine.name();
  add_locator(view, system);
  system["UUID"] = hardware.uuid;
  system["SystemType"] = "Physical";
  system["PowerState"] = to_string(view.power());
  system["BootProgress"] = {{"LastState", view.machine.up() ? "OSRunning" : "None"}};
  system["Status"] = healthy();
  system["MemorySummary"] = {{"Status", healthy()},
                             {"TotalSystemMemoryGiB", hardware.memory_bytes() / 1073741824}};
  system["ProcessorSummary"] = {
      {"Count", hardware.cpus.size()},
      {"Model",
       hardware.cpus.empty() ? json::value(nullptr) : json::value(hardware.cpus[0].model)}};
  for (const auto* child :
       {"Processors", "Memory", "Storage", "EthernetInterfaces", "NetworkInterfaces"})
    system[child] = link(path + "/" + child);
  system["Bios"] = link(view.bios() + (layout.trailing_slash ? "/" : ""));
  if (!layout.log_of_manager || !layout.host_log.empty())
    system["LogServices"] = link(path + "/LogServices");
  add_devices(view, system);
  if (!view.behavior().media.of_manager) system["VirtualMedia"] = link(view.media());
  const bool tells_console =
      view.behavior().vendor == "openbmc" || view.behavior().vendor == "supermicro";
  if (tells_console) system["SerialConsole"] = console_of(view);
  if (!layout.boot_settings.empty())
    system["@Redfish.Settings"] = {
        {"@odata.type", "#Settings.v1_3_0.Settings"},
        {"SettingsObject", link(path + "/" + std::string{layout.boot_settings})}};
  system["Links"] = {{"Chassis", json::array{link(view.chassis())}},
                     {"ManagedBy", json::array{link(view.manager())}}};
  tree[path] = std::move(system);
}

/// AMI's and OpenBMC's hold the override, Lenovo's only the order.
void add_settings(ResourceTree& tree, const BmcView& view) {
  const auto& layout = view.layout();
  if (layout.boot_settings.empty()) return;
  const auto path = view.system() + "/" + std::string{layout.boot_settings};
  auto settings = resource(path, "#ComputerSystem.v1_17_0.ComputerSystem", layout.boot_settings,
                           "Pending Settings");
  settings["Boot"] = layout.boot_is_in_settings ? boot(view, true) : json::object{};
  settings["Boot"].as_object()["BootOrder"] = texts(view.state.firmware.next_order());
  tree[path] = std::move(settings);
}

void add_baseboard(ResourceTree& tree, const BmcView& view) {
  const auto path = view.system_of_gpus();
  auto board = resource(path, "#ComputerSystem.v1_17_0.ComputerSystem",
                        view.layout().system_of_gpus, view.layout().system_of_gpus);
  board["Manufacturer"] = "NVIDIA";
  const auto& names = view.behavior().names;
  if (names.system_is_nameless) {
    board["Model"] = json::value(names.model);
    board["SerialNumber"] = "164" + view.hardware().serial;
  }
  board["SystemType"] = "Physical";
  board["PowerState"] = to_string(view.power());
  board["Processors"] = link(path + "/Processors");
  board["Memory"] = link(path + "/Memory");
  if (!dumps_of(view).empty()) board["LogServices"] = link(path + "/LogServices");
  board["Status"] = healthy();
  board["Links"] = {{"ManagedBy", json::array{link("/redfish/v1/Managers/HGX_BMC_0")}}};
  tree[path] = std::move(board);
}

}  // namespace

void add_systems(ResourceTree& tree, const BmcView& view) {
  add_host(tree, view);
  add_settings(tree, view);
  const bool two = !view.layout().system_of_gpus.empty() && !view.hardware().gpus.empty();
  if (two) add_baseboard(tree, view);
  if (view.layout().form_beside_system) {
    const std::string path = "/redfish/v1/Systems/Capabilities";
    tree[path] = resource(path, "#ComputerSystem.v1_7_0.ComputerSystem", "Capabilities",
                          "Capabilities for the ComputerSystem collection");
  }
  add_collection(tree, "/redfish/v1/Systems", "#ComputerSystemCollection.ComputerSystemCollection",
                 "Systems Collection");
}

}  // namespace cupel::rehearsal
