#include "bmc/redfish/layout.h"

namespace cupel::bmc::redfish {
namespace {

std::string link_or(const json::value& body, std::string_view name, std::string_view otherwise) {
  auto link = link_at(body, name);
  return link.empty() ? std::string{otherwise} : link;
}

}  // namespace

Layout layout_of(const Machine& machine) {
  Layout layout{.system = machine.has_system ? machine.system.uri : "", .rules = machine.rules};
  for (const auto& one : machine.baseboards) layout.baseboards.push_back(one.uri);
  layout.accounts = link_or(machine.root, "AccountService", "/redfish/v1/AccountService");
  layout.registries = link_or(machine.root, "Registries", "/redfish/v1/Registries");
  layout.updates = link_or(machine.root, "UpdateService", "/redfish/v1/UpdateService");
  layout.events = link_or(machine.root, "EventService", "/redfish/v1/EventService");
  layout.sessions = link_or(machine.root, "SessionService", "/redfish/v1/SessionService");
  std::string firmware;
  if (machine.manager) {
    layout.manager = machine.manager->uri;
    firmware = reported(machine.manager->body, "FirmwareVersion");
  }
  const auto model = reported(machine.system.body, "Model");
  layout.handling = handling_for(machine.rules->vendor, model, firmware);
  return layout;
}

}  // namespace cupel::bmc::redfish
