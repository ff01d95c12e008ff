// What is configured: BIOS attributes with their registry, and the BMC's users.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kRegistry = "BiosAttributeRegistry.v1_0_0";

std::string_view name_of(BiosAttribute::Type type) {
  switch (type) {
    case BiosAttribute::Type::choice:
      return "Enumeration";
    case BiosAttribute::Type::integer:
      return "Integer";
    case BiosAttribute::Type::text:
      return "String";
    case BiosAttribute::Type::flag:
      return "Boolean";
  }
  return "String";
}

json::object dependency_of(const BiosAttribute& attribute, json::object condition,
                           std::string_view property, json::value value) {
  condition["MapFromProperty"] = "CurrentValue";
  return {{"DependencyFor", attribute.name},
          {"Type", "Map"},
          {"Dependency",
           {{"MapFrom", json::array{std::move(condition)}},
            {"MapToAttribute", attribute.name},
            {"MapToProperty", property},
            {"MapToValue", std::move(value)}}}};
}

json::object condition_of(std::string_view attribute, std::string_view test,
                          std::string_view value) {
  return {{"MapFromAttribute", attribute}, {"MapFromCondition", test}, {"MapFromValue", value}};
}

/// In the form of an iDRAC's registry.
void add_dependencies(json::array& rows, const BiosAttribute& attribute) {
  if (!attribute.depends) return;
  const auto& depends = *attribute.depends;
  rows.push_back(dependency_of(attribute, condition_of(depends.attribute, "NEQ", depends.value),
                               "ReadOnly", true));
  for (const auto& setting : depends.settings)
    rows.push_back(dependency_of(attribute, condition_of(depends.attribute, "EQU", setting.with),
                                 "CurrentValue", json::value(setting.becomes)));
}

json::object row_of(const Bios& bios, const BiosAttribute& attribute, bool names_default) {
  json::object row{{"AttributeName", attribute.name},
                   {"DisplayName", attribute.name},
                   {"Type", name_of(attribute.type)},
                   {"ReadOnly", bios.is_read_only(attribute)},
                   {"ResetRequired", true}};
  if (names_default && attribute.usual != json::value("")) row["DefaultValue"] = attribute.usual;
  if (attribute.type == BiosAttribute::Type::choice) {
    json::array values;
    for (const auto choice : attribute.choices)
      values.push_back({{"ValueName", choice}, {"ValueDisplayName", choice}});
    row["Value"] = std::move(values);
  }
  if (attribute.type == BiosAttribute::Type::integer) {
    row["LowerBound"] = attribute.least;
    row["UpperBound"] = attribute.most;
  }
  if (attribute.type == BiosAttribute::Type::text) row["MaxLength"] = attribute.most;
  return row;
}

void add_registry(ResourceTree& tree, const BmcView& view) {
  const std::string registries = "/redfish/v1/Registries";
  const auto file = registries + "/" + std::string{kRegistry};
  auto entry = resource(file, "#MessageRegistryFile.v1_1_0.MessageRegistryFile", kRegistry,
                        "BIOS Attribute Registry File");
  entry["Registry"] = json::value(kRegistry);
  entry["Languages"] = json::array{"en"};
  entry["Location"] = json::array{{{"Language", "en"}, {"Uri", file + "/" + "Registry.json"}}};
  tree[file] = std::move(entry);
  auto registry = resource(file + "/Registry.json", "#AttributeRegistry.v1_3_0.AttributeRegistry",
                           kRegistry, "BIOS Attribute Registry");
  json::array rows, dependencies;
  for (const auto& attribute : view.state.bios.attributes()) {
    rows.push_back(row_of(view.state.bios, attribute, view.behavior().bios.names_defaults));
    add_dependencies(dependencies, attribute);
  }
  registry["Language"] = "en";
  registry["RegistryVersion"] = "1.0.0";
  registry["OwningEntity"] = "Cupel";
  registry["RegistryEntries"] = {{"Attributes", std::move(rows)}};
  if (!dependencies.empty())
    registry["RegistryEntries"].as_object()["Dependencies"] = std::move(dependencies);
  tree[file + "/Registry.json"] = std::move(registry);
}

json::object role(const std::string& path, std::string_view id) {
  auto one = resource(path, "#Role.v1_3_0.Role", id, "User Role");
  one["IsPredefined"] = true;
  one["RoleId"] = id;
  json::array privileges{"Login", "ConfigureSelf"};
  if (id != "ReadOnly") privileges.emplace_back("ConfigureComponents");
  if (id == "Administrator") {
    privileges.emplace_back("ConfigureUsers");
    privileges.emplace_back("ConfigureManager");
  }
  one["AssignedPrivileges"] = std::move(privileges);
  return one;
}

json::object account(const BmcView& view, const std::string& path, const std::string& id,
                     const BmcUser& user) {
  auto one = resource(path, "#ManagerAccount.v1_8_0.ManagerAccount", id, "User Account");
  one["UserName"] = user.name;
  one["Password"] = nullptr;
  one["RoleId"] = user.role;
  one["Enabled"] = user.enabled;
  one["Locked"] = view.state.accounts.locked(user, view.now()) ||
                  find_fault(view.machine.faults(), FaultKind::bmc_locked) != nullptr;
  one["PasswordChangeRequired"] = user.must_change;
  one["AccountTypes"] = json::array{"Redfish", "IPMI"};
  if (user.role != "None")
    one["Links"] = {{"Role", link("/redfish/v1/AccountService/Roles/" + user.role)}};
  return one;
}

void add_bios_reset(ResourceTree& tree, const BmcView& view, json::object& bios) {
  json::object reset{{"target", view.bios() + "/Actions/Bios.ResetBios"}};
  const auto& behavior = view.behavior().bios;
  if (behavior.tells_reset_word) {
    const auto path = view.bios() + "/ResetBiosActionInfo";
    reset["@Redfish.ActionInfo"] = path;
    auto info =
        resource(path, "#ActionInfo.v1_1_2.ActionInfo", "ResetBiosAction", "ResetBiosAction");
    info["Parameters"] =
        json::array{{{"AllowableValues", json::array{json::value(behavior.reset_word)}},
                     {"DataType", "String"},
                     {"Name", "ResetType"},
                     {"Required", true}}};
    tree[path] = std::move(info);
  }
  bios["Actions"] = json::object{{"#Bios.ResetBios", std::move(reset)}};
}

}  // namespace

void add_bios(ResourceTree& tree, const BmcView& view) {
  const auto& behavior = view.behavior();
  const std::string slash = behavior.layout.trailing_slash ? "/" : "";
  const auto settings_path = view.bios_settings();
  auto bios = resource(view.bios(), "#Bios.v1_1_0.Bios", behavior.layout.bios,
                       "BIOS Configuration Current Settings");
  auto attributes = view.state.bios.current();
  if (behavior.bios.shows_pending)
    for (const auto& requested : view.state.bios.pending())
      attributes[requested.key()] = requested.value();
  bios["@odata.id"] = view.bios() + slash;
  bios["Attributes"] = std::move(attributes);
  bios["@Redfish.Settings"] = {{"@odata.type", "#Settings.v1_3_0.Settings"},
                               {"SettingsObject", link(settings_path + slash)},
                               {"SupportedApplyTimes", json::array{"OnReset"}}};
  add_bios_reset(tree, view, bios);
  auto settings = resource(settings_path, "#Bios.v1_1_0.Bios", behavior.layout.bios_settings,
                           "BIOS Configuration Pending Settings");
  settings["@odata.id"] = settings_path + slash;
  // Dell's and OpenBMC's hold what differs, the others' everything as it will be.
  auto pending = view.state.bios.pending();
  const bool differences = behavior.vendor == "dell" || behavior.vendor == "openbmc";
  if (!differences) {
    pending = view.state.bios.current();
    for (const auto& requested : view.state.bios.pending())
      pending[requested.key()] = requested.value();
  }
  settings["Attributes"] = std::move(pending);
  if (behavior.bios.by_job)
    settings["Oem"] = {{"Dell",
                        {{"@odata.type", "#DellOem.v1_3_0.DellOemResources"},
                         {"Jobs", link(view.manager() + "/Jobs")}}}};
  if (behavior.layout.bios_registry) {
    bios["AttributeRegistry"] = json::value(kRegistry);
    settings["AttributeRegistry"] = json::value(kRegistry);
    add_registry(tree, view);
  }
  tree[view.bios()] = std::move(bios);
  tree[settings_path] = std::move(settings);
  add_collection(tree, "/redfish/v1/Registries",
                 "#MessageRegistryFileCollection.MessageRegistryFileCollection", "Registries");
}

void add_accounts(ResourceTree& tree, const BmcView& view) {
  const std::string path = "/redfish/v1/AccountService";
  const auto& behavior = view.behavior().accounts;
  for (const auto& [id, user] : view.state.accounts.all())
    tree[path + "/Accounts/" + id] = account(view, path + "/Accounts/" + id, id, user);
  add_collection(tree, path + "/Accounts", "#ManagerAccountCollection.ManagerAccountCollection",
                 "Accounts Collection");
  for (const auto* id : {"Administrator", "Operator", "ReadOnly"})
    tree[path + "/Roles/" + id] = role(path + "/Roles/" + id, id);
  add_collection(tree, path + "/Roles", "#RoleCollection.RoleCollection", "Roles Collection");
  auto service =
      resource(path, "#AccountService.v1_8_0.AccountService", "AccountService", "Account Service");
  service["ServiceEnabled"] = true;
  service["MinPasswordLength"] = behavior.shortest;
  service["MaxPasswordLength"] = behavior.longest;
  service["AccountLockoutThreshold"] = behavior.lockout;
  service["Accounts"] = link(path + "/Accounts");
  service["Roles"] = link(path + "/Roles");
  service["Status"] = healthy();
  tree[path] = std::move(service);
}

}  // namespace cupel::rehearsal
