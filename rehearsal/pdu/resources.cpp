#include "rehearsal/pdu/resources.h"

#include <fmt/format.h>

#include "rehearsal/bmc/login.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kEquipment = "/redfish/v1/PowerEquipment";
constexpr std::string_view kPdu = "/redfish/v1/PowerEquipment/RackPDUs/1";

std::string collection_of(std::string_view outlet) {
  return fmt::format("{}/{}s", kPdu, schema_of(outlet));
}

std::string path_of(const PowerOutlet& outlet) {
  return collection_of(outlet.name) + "/" + outlet.name;
}

json::object outlet_text(const PduView& view, const PowerOutlet& outlet) {
  const bool group = is_group(outlet.name);
  const auto schema = schema_of(outlet.name);
  auto text =
      resource(path_of(outlet), group ? "#OutletGroup.v1_2_0.OutletGroup" : "#Outlet.v1_4_2.Outlet",
               outlet.name, fmt::format("{} {}", group ? "Group" : "Outlet", outlet.name));
  text["Status"] = healthy();
  text["PowerState"] = outlet.on ? "On" : "Off";
  text["PowerEnabled"] = true;
  text["PowerCycleDelaySeconds"] = kPowerCycle.count();
  text["PowerWatts"] = {{"Reading", view.site.outlet_watts(view.name, outlet)}};
  text["Actions"] = {{fmt::format("#{}.PowerControl", schema),
                      {{"target", control_path(outlet.name)},
                       {"PowerState@Redfish.AllowableValues", {"On", "Off", "PowerCycle"}}}}};
  return text;
}

json::object root_text() {
  const std::string path = "/redfish/v1";
  auto root = resource(path, "#ServiceRoot.v1_13_0.ServiceRoot", "RootService", "Root Service");
  root["RedfishVersion"] = "1.15.0";
  root["Product"] = "Switched Rack PDU";
  root["PowerEquipment"] = link(std::string{kEquipment});
  root["SessionService"] = link(path + "/SessionService");
  root["Links"] = {{"Sessions", link(std::string{kSessionPath})}};
  return root;
}

}  // namespace

bool is_group(std::string_view outlet) {
  constexpr std::string_view kDigits = "0123456789";
  const auto number = outlet.substr(std::min<std::size_t>(1, outlet.size()));
  const bool lettered = !outlet.empty() && outlet[0] >= 'A' && outlet[0] <= 'Z';
  return !lettered || number.empty() || number.find_first_not_of(kDigits) != number.npos;
}

std::string_view schema_of(std::string_view outlet) {
  return is_group(outlet) ? "OutletGroup" : "Outlet";
}

std::string control_path(std::string_view outlet) {
  return fmt::format("{}/{}/Actions/{}.PowerControl", collection_of(outlet), outlet,
                     schema_of(outlet));
}

ResourceTree pdu_resources(const PduView& view) {
  const std::string equipment{kEquipment}, pdus = equipment + "/RackPDUs", pdu{kPdu};
  ResourceTree tree;
  for (const auto& outlet : view.site.outlets(view.name))
    tree[path_of(outlet)] = outlet_text(view, outlet);
  add_collection(tree, pdu + "/Outlets", "#OutletCollection.OutletCollection", "Outlets");
  add_collection(tree, pdu + "/OutletGroups", "#OutletGroupCollection.OutletGroupCollection",
                 "Outlet Groups");
  auto self = resource(pdu, "#PowerDistribution.v1_3_0.PowerDistribution", "1", view.name);
  self["EquipmentType"] = "RackPDU";
  self["Status"] = healthy();
  self["Outlets"] = link(pdu + "/Outlets");
  self["OutletGroups"] = link(pdu + "/OutletGroups");
  tree[pdu] = std::move(self);
  add_collection(tree, pdus, "#PowerDistributionCollection.PowerDistributionCollection",
                 "Rack PDUs");
  auto all =
      resource(equipment, "#PowerEquipment.v1_2_0.PowerEquipment", "PowerEquipment", "Power");
  all["Status"] = healthy();
  all["RackPDUs"] = link(pdus);
  tree[equipment] = std::move(all);
  tree["/redfish/v1"] = root_text();
  return tree;
}

}  // namespace cupel::rehearsal
