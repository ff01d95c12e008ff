#include "rehearsal/bmc/resources.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace cupel::rehearsal {

std::string BmcView::system_of_gpus() const {
  if (layout().system_of_gpus.empty()) return system();
  return "/redfish/v1/Systems/" + std::string{layout().system_of_gpus};
}

std::string BmcView::gpu_id(const Gpu& gpu) const {
  return fmt::format(fmt::runtime(layout().system_of_gpus.empty() ? "GPU{}" : "GPU_SXM_{}"),
                     gpu.index + 1);
}

std::string BmcView::boot() const {
  if (!layout().boot_is_in_settings) return system();
  return system() + "/" + std::string{layout().boot_settings};
}

std::string BmcView::bios() const {
  // An iLO writes this part of its tree in lower case.
  const auto base =
      layout().trailing_slash ? "/redfish/v1/systems/" + std::string{layout().system} : system();
  return base + "/" + std::string{layout().bios};
}

std::string BmcView::bios_settings() const {
  return bios() + "/" + std::string{layout().bios_settings};
}

std::string BmcView::log() const {
  const auto base = layout().log_of_manager ? manager() : system();
  return base + "/LogServices/" + std::string{layout().log};
}

std::string BmcView::host_log() const {
  if (layout().host_log.empty()) return {};
  return system() + "/LogServices/" + std::string{layout().host_log};
}

std::string BmcView::media() const {
  return (behavior().media.of_manager ? manager() : system()) + "/VirtualMedia";
}

std::string BmcView::id(std::string_view form, int index) const {
  return fmt::format(fmt::runtime(form), index + layout().first);
}

std::string BmcView::time(double epoch) const {
  const auto seconds = static_cast<std::time_t>(epoch) + state.offset_minutes * 60;
  const auto text = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(seconds));
  if (state.offset_minutes == 0 && behavior().writes_z) return text + "Z";
  return text + offset();
}

std::string BmcView::offset() const {
  const int minutes = state.offset_minutes;
  return fmt::format("{}{:02}:{:02}", minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                     std::abs(minutes) % 60);
}

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

json::array links(const std::vector<std::string>& paths) {
  json::array all;
  for (const auto& path : paths) all.push_back(link(path));
  return all;
}

json::array json_words(Words words) {
  json::array all;
  for (const auto word : words) all.push_back(json::value(word));
  return all;
}

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

ResourceTree resources(const BmcView& view) {
  ResourceTree tree;
  add_systems(tree, view);
  add_compute(tree, view);
  add_chassis(tree, view);
  add_sensors(tree, view);
  add_managers(tree, view);
  add_logs_and_media(tree, view);
  add_bios(tree, view);
  add_accounts(tree, view);
  add_services(tree, view);
  return tree;
}

ResourceTree resources_around(const BmcView& whole, const std::string& path) {
  const BmcView view{.machine = whole.machine, .state = whole.state, .asked = path};
  const auto below = [&](std::string_view place) { return path.starts_with(place); };
  const bool systems = below("/redfish/v1/Systems") || below("/redfish/v1/systems");
  const bool chassis = below("/redfish/v1/Chassis");
  const bool managers = below("/redfish/v1/Managers");
  // Asked for most: the machine's power.
  const bool machine = path == view.system() || path == view.boot();
  ResourceTree tree;
  if (systems) add_systems(tree, view);
  if ((systems && !machine) || below("/redfish/v1/Fabrics")) add_compute(tree, view);
  if (chassis) {
    add_chassis(tree, view);
    add_sensors(tree, view);
  }
  if (managers) add_managers(tree, view);
  if ((systems && !machine) || managers) add_logs_and_media(tree, view);
  if (systems || below("/redfish/v1/Registries")) add_bios(tree, view);
  if (below("/redfish/v1/AccountService")) add_accounts(tree, view);
  if (!systems && !chassis) add_services(tree, view);
  return tree;
}

}  // namespace cupel::rehearsal
