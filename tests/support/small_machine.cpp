#include "tests/support/small_machine.h"

#include <map>

namespace cupel::test {
namespace {

constexpr std::string_view kRoot = R"({
  "@odata.id": "/redfish/v1", "Vendor": "Contoso",
  "Systems": {"@odata.id": "/redfish/v1/Systems"},
  "Managers": {"@odata.id": "/redfish/v1/Managers"},
  "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}}})";
constexpr std::string_view kSystem = R"({
  "@odata.id": "/redfish/v1/Systems/1", "@odata.etag": "\"abc\"", "Manufacturer": "Contoso",
  "Model": "3500", "SerialNumber": "437XR1138R2", "PartNumber": "224071-J23", "UUID": "38947555",
  "BiosVersion": "P79", "PowerState": "On",
  "Boot": {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None",
    "BootSourceOverrideMode": "UEFI",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd", "UefiHttp"]},
  "Links": {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/1"}]},
  "Actions": {"#ComputerSystem.Reset": {
    "target": "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
    "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "GracefulShutdown", "ForceRestart"]}}})";
constexpr std::string_view kManager = R"({
  "@odata.id": "/redfish/v1/Managers/1", "ManagerType": "BMC", "FirmwareVersion": "1.2.3"})";

const std::map<std::string, std::string_view>& resources() {
  static const std::map<std::string, std::string_view> all{
      {"/redfish/v1", kRoot},
      {"/redfish/v1/Systems", R"({"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]})"},
      {"/redfish/v1/Systems/1", kSystem},
      {"/redfish/v1/Managers", R"({"Members": [{"@odata.id": "/redfish/v1/Managers/1"}]})"},
      {"/redfish/v1/Managers/1", kManager},
  };
  return all;
}

}  // namespace

json::value small_machine(const std::string& uri) {
  const auto found = resources().find(uri);
  if (found == resources().end()) return {};
  auto parsed = parse_json(found->second);
  return parsed ? *std::move(parsed) : json::value{};
}

}  // namespace cupel::test
