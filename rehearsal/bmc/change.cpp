#include "rehearsal/bmc/change.h"

#include <fmt/format.h>

namespace cupel::rehearsal {

std::string Change::name(int up) const {
  auto rest = path;
  for (; up > 0; --up) rest = rest.substr(0, rest.rfind('/'));
  return rest.substr(rest.rfind('/') + 1);
}

namespace {

void add_update_routes(std::vector<Route>& all, const UpdateBehavior& behavior) {
  const std::string service = "/redfish/v1/UpdateService";
  if (!behavior.simple.empty())
    all.push_back({"POST", std::string{behavior.simple}, &simple_update});
  if (!behavior.multipart.empty())
    all.push_back({"POST", std::string{behavior.multipart}, &upload_form, true});
  if (!behavior.push.empty())
    all.push_back({"POST", std::string{behavior.push}, &push_image, true});
  if (behavior.starts_by_action)
    all.push_back({"POST", service + "/Actions/UpdateService.StartUpdate", &start_update});
  all.push_back({"PATCH", service, &patch_update_service});
}

}  // namespace

std::vector<Route> routes_of(const BmcView& view) {
  const auto system = view.system(), manager = view.manager(), media = view.media();
  const auto& layout = view.layout();
  const std::string users = "/redfish/v1/AccountService/Accounts";
  const std::string events = "/redfish/v1/EventService";
  std::vector<Route> all{
      {"POST", system + "/Actions/ComputerSystem.Reset", &reset_system},
      {"PATCH", system, &patch_system},
      {"PATCH", view.bios_settings(), &patch_bios},
      {"POST", view.bios() + "/Actions/Bios.ResetBios", &reset_bios},
      {"POST", manager + "/Actions/Manager.Reset", &restart_manager},
      {"PATCH", manager, &patch_manager},
      {"PATCH", manager + "/NetworkProtocol", &patch_protocols},
      {"POST", view.log() + "/Actions/LogService.ClearLog", &clear_log},
      {"POST", events + "/Actions/EventService.SubmitTestEvent", &send_test_event},
      {"POST", events + "/Subscriptions", &subscribe},
      {"DELETE", events + "/Subscriptions/*", &unsubscribe},
      {"PATCH", users + "/*", &patch_account}};
  all.push_back({"PATCH", system + "/SecureBoot", &patch_secure_boot});
  all.push_back({"PATCH", "/redfish/v1/SessionService", &patch_session_service});
  if (!layout.boot_settings.empty() && !layout.boot_is_in_settings)
    all.push_back({"PATCH", system + "/" + std::string{layout.boot_settings}, &patch_boot_order});
  if (layout.boot_is_in_settings) all.push_back({"PATCH", view.boot(), &patch_boot_settings});
  if (!view.behavior().power.ac.action.empty())
    all.push_back(
        {"POST", "/redfish/v1/" + std::string{view.behavior().power.ac.action}, &cycle_ac});
  if (view.behavior().bios.by_job) all.push_back({"POST", manager + "/Jobs", &create_job});
  if (view.behavior().media.by_patch) {
    all.push_back({"PATCH", media + "/*", &patch_media});
  } else {
    all.push_back({"POST", media + "/*/Actions/VirtualMedia.InsertMedia", &insert_media});
    all.push_back({"POST", media + "/*/Actions/VirtualMedia.EjectMedia", &eject_media});
  }
  for (const auto& row : dumps_of(view)) {
    const auto actions = log_services_of(row) + "/Dump/Actions/LogService.";
    all.push_back({"POST", actions + "CollectDiagnosticData", &collect_dump});
    all.push_back({"POST", actions + "ClearLog", &clear_dumps});
  }
  // Where users are slots, they are filled and emptied.
  if (view.behavior().accounts.slots == 0) {
    all.push_back({"POST", users, &add_account});
    all.push_back({"DELETE", users + "/*", &remove_account});
  }
  add_update_routes(all, view.state.update_behavior);
  return all;
}

HttpResponse unknown_property(std::string_view name) {
  return redfish_error(400, "PropertyUnknown",
                       fmt::format("The property {} is not in the list of valid properties for the "
                                   "resource.",
                                   name));
}

HttpResponse wrong_type(std::string_view name) {
  return redfish_error(400, "PropertyValueTypeError",
                       fmt::format("The value for the property {} is of a different type than "
                                   "the property can accept.",
                                   name));
}

HttpResponse not_in_list(std::string_view name, std::string_view value) {
  return redfish_error(400, "PropertyValueNotInList",
                       fmt::format("The value '{}' for the property {} is not in the list of "
                                   "acceptable values.",
                                   value, name));
}

HttpResponse not_licensed() {
  return registry_error(403, "SMC.1.0.OemLicenseNotPassed",
                        "Not licensed to perform this request. The following licenses are needed: "
                        "SFT-OOB-LIC.");
}

}  // namespace cupel::rehearsal
