#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {

json::object resource(const std::string& path, std::string_view type, std::string_view id,
                      std::string_view name) {
  // "#Memory.v1_8_0.Memory"; the context names the type without its version.
  const auto bare = type.substr(1, type.find('.') - 1);
  return {
      {"@odata.context", "/redfish/v1/$metadata#" + std::string{bare} + "." + std::string{bare}},
      {"@odata.id", path},
      {"@odata.type", type},
      {"Id", id},
      {"Name", name}};
}

json::object link(const std::string& path) { return {{"@odata.id", path}}; }

json::object healthy(bool enabled) {
  return {{"Health", "OK"}, {"State", enabled ? "Enabled" : "StandbyOffline"}};
}

void add_collection(ResourceTree& tree, const std::string& path, std::string_view type,
                    std::string_view name) {
  json::array members;
  const auto prefix = path + "/";
  for (auto child = tree.lower_bound(prefix); child != tree.end(); ++child) {
    if (!child->first.starts_with(prefix)) break;
    if (child->first.find('/', prefix.size()) == std::string::npos)
      members.push_back(link(child->first));
  }
  auto collection = resource(path, type, "", name);
  collection.erase("Id");
  collection["Members@odata.count"] = members.size();
  collection["Members"] = std::move(members);
  tree[path] = std::move(collection);
}

ResourceTree resources(const Machine& machine) {
  ResourceTree tree;
  add_systems(tree, machine);
  add_chassis(tree, machine);
  add_services(tree, machine);
  return tree;
}

}  // namespace cupel::rehearsal
