// For which components an update is meant.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kMostTargets = 64;

bool is_of_tray(const UpdateBehavior& behavior, const Component& component) {
  return !behavior.tray.empty() && component.name.starts_with(behavior.tray_prefix);
}

/// The components that a URI names: one of the inventory, a manager, a system, a tray. Empty: none.
std::vector<std::string> components_at(const Change& change, std::string_view uri) {
  const auto view = change.view();
  const auto& behavior = change.state.update_behavior;
  while (uri.ends_with('/')) uri.remove_suffix(1);
  if (uri == view.manager()) return {"HostBMC_0"};
  if (uri == view.system() || uri == view.bios()) return {"HostBIOS_0"};
  const auto all = components_of(view);
  const auto id = uri.substr(uri.rfind('/') + 1);
  std::vector<std::string> found;
  for (const auto& one : all) {
    const bool by_tray = id == behavior.tray && is_of_tray(behavior, one);
    if (by_tray || id_of(behavior.names, one) == id) found.push_back(one.name);
  }
  return found;
}

HttpResponse no_such_target() {
  return redfish_error(400, "ActionParameterValueNotInList",
                       "The value for the parameter Targets is not in the list of acceptable "
                       "values.");
}

HttpResponse too_many_targets() {
  return redfish_error(400, "PropertyValueFormatError",
                       "The value for the property Targets is of a different format than the "
                       "property can accept.");
}

}  // namespace

std::vector<Component> components_of(const BmcView& view) {
  return components_of(view.hardware(), view.behavior().names.bmc_version,
                       view.state.update_behavior.boards);
}

std::optional<HttpResponse> read_targets(const Change& change, const json::value* reported,
                                         std::vector<std::string>& into) {
  if (!reported) return std::nullopt;
  const auto* list = reported->if_array();
  if (!list || list->size() > kMostTargets) return no_such_target();
  if (list->size() > change.state.update_behavior.most_targets) return too_many_targets();
  for (const auto& uri : *list) {
    const auto found =
        uri.is_string() ? components_at(change, uri.as_string()) : std::vector<std::string>{};
    if (found.empty()) return no_such_target();
    into.insert(into.end(), found.begin(), found.end());
  }
  return std::nullopt;
}

std::vector<Flash> images_in(const Change& change, const UpdateRequest& request,
                             std::span<const Component> all) {
  const auto& behavior = change.state.update_behavior;
  std::vector<Component> meant{all.begin(), all.end()};
  if (request.targets.empty() && behavior.tray_apart)
    std::erase_if(meant, [&](const Component& one) { return is_of_tray(behavior, one); });
  return read_image(request.image.head, request.file_name, request.targets, meant, behavior.names);
}

}  // namespace cupel::rehearsal
