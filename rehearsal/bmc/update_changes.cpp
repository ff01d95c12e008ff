// What a client may ask of the update service: an image by its URI, in a form, or as it is. What is
// wrong with an image itself is found by the update's own check, as on a real one.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/change.h"
#include "rehearsal/bmc/multipart.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kLongestUri = 1024;
constexpr std::size_t kMostTargets = 64;

HttpResponse parameter_missing(std::string_view name) {
  return redfish_error(400, "ActionParameterMissing",
                       fmt::format("The action UpdateService.SimpleUpdate requires the parameter "
                                   "{} to be present in the request body.",
                                   name));
}

HttpResponse in_progress() {
  return registry_error(400, "Update.1.0.UpdateInProgress",
                        "An update is in progress: the request can be made again when it is over.");
}

std::vector<Component> all_components(const Change& change) {
  return components_of(change.machine.hardware(), change.state.behavior.names.bmc_version);
}

/// The component whose inventory entry, or whose manager or system, a URI names; empty: none.
std::string component_at(const Change& change, std::string_view uri) {
  const auto view = change.view();
  while (uri.ends_with('/')) uri.remove_suffix(1);
  if (uri == view.manager()) return "HostBMC_0";
  if (uri == view.system() || uri == view.bios()) return "HostBIOS_0";
  const auto& names = change.state.update_behavior.names;
  const auto id = uri.substr(uri.rfind('/') + 1);
  for (const auto& one : all_components(change))
    if (id_of(names, one) == id) return one.name;
  return {};
}

/// URIs in a JSON array become names of components. False where one is no such thing.
bool read_targets(const Change& change, const json::value* told, std::vector<std::string>& into) {
  if (!told) return true;
  const auto* list = told->if_array();
  if (!list || list->size() > kMostTargets) return false;
  for (const auto& uri : *list) {
    const auto component = uri.is_string() ? component_at(change, uri.as_string()) : std::string{};
    if (component.empty()) return false;
    into.push_back(component);
  }
  return true;
}

HttpResponse no_such_target() {
  return redfish_error(400, "ActionParameterValueNotInList",
                       "The value for the parameter Targets is not in the list of acceptable "
                       "values.");
}

struct Upload {
  std::string_view bytes{};
  std::string file_name{};
  std::vector<std::string> targets{};
  std::string apply_time{};
  bool transfers = false;
};

/// The component by which a whole package is timed: the BMC's own, then the BIOS, then the rest.
FirmwareKind slowest(const std::vector<Flash>& images, const std::vector<Component>& all) {
  auto kind = FirmwareKind::psu;
  for (const auto& image : images) {
    const auto found = std::ranges::find(all, image.component, &Component::name);
    if (found != all.end()) kind = std::min(kind, found->kind);
  }
  return kind;
}

std::string_view word_of(FirmwareKind kind) {
  switch (kind) {
    case FirmwareKind::bmc:
      return "BMC";
    case FirmwareKind::bios:
      return "BIOS";
    case FirmwareKind::cpld:
      return "CPLD";
    default:
      return "Firmware";
  }
}

/// How a fault lets it end.
Fate fate_of(std::span<const Fault> faults, const std::vector<Flash>& images) {
  constexpr std::array<std::pair<FaultKind, Fate>, 5> kFates{
      {{FaultKind::firmware_stuck, Fate::stuck},
       {FaultKind::firmware_unchanged, Fate::unchanged},
       {FaultKind::firmware_not_active, Fate::not_active},
       {FaultKind::firmware_refused, Fate::refused},
       {FaultKind::firmware_interrupted, Fate::interrupted}}};
  for (const auto& [kind, fate] : kFates)
    for (const auto& fault : faults) {
      if (fault.kind != kind) continue;
      const bool meant =
          fault.component.empty() ||
          std::ranges::find(images, fault.component, &Flash::component) != images.end();
      if (meant) return fate;
    }
  return Fate::good;
}

/// What the check of an image will say against it; empty: nothing.
std::string complaint_about(const Change& change, const std::vector<Flash>& images,
                            const std::vector<Component>& all) {
  if (images.empty()) return "The image is for no component of this machine.";
  if (fate_of(change.machine.faults(), images) != Fate::refused) return {};
  for (const auto& image : images) {
    const auto now = std::ranges::find(all, image.component, &Component::name);
    if (now != all.end() && is_older(image.version, now->version))
      return fmt::format("{}: a downgrade from {} to {} is refused.", image.component, now->version,
                         image.version);
  }
  return {};
}

HttpResponse accepted(const Change& change, const Update& update) {
  if (!change.state.update_behavior.has_task) return {.status = 204};
  auto response = answer(202, task_of(change.view(), update));
  response.headers["Location"] = monitor_of(change.view(), update.id);
  return response;
}

HttpResponse begin(Change& change, const Upload& upload) {
  auto& state = change.state;
  if (state.updates.running() != nullptr) return in_progress();
  const auto all = all_components(change);
  auto images =
      read_image(upload.bytes, upload.file_name, upload.targets, all, state.update_behavior.names);
  Update update{.fate = fate_of(change.machine.faults(), images),
                .complaint = complaint_about(change, images, all)};
  update.kind = slowest(images, all);
  const bool for_later =
      state.update_behavior.starts_by_action && upload.apply_time == "OnStartUpdateRequest";
  update.only_verifies = for_later;
  update.name = fmt::format("{} {}", word_of(update.kind), for_later ? "Verify" : "Update");
  update.images = std::move(images);
  const auto number = state.next_id++;
  update.id =
      state.behavior.bios.by_job ? fmt::format("JID_{:012}", number) : std::to_string(number);
  return accepted(change, state.updates.begin(std::move(update), upload.transfers,
                                              change.view().now(), change.updates_world));
}

std::string text_of(const json::object& body, std::string_view key) {
  const auto* found = body.if_contains(key);
  return found && found->is_string() ? std::string{found->as_string()} : std::string{};
}

/// An image that was pushed into the inventory first (Dell).
const StoredImage* stored(const Change& change, const std::string& uri) {
  const auto found = change.state.stored_images.find(uri.substr(uri.rfind('/') + 1));
  return found == change.state.stored_images.end() ? nullptr : &found->second;
}

}  // namespace

HttpResponse simple_update(Change& change) {
  const auto& behavior = change.state.update_behavior;
  constexpr std::array<std::string_view, 8> kKnown{
      "ImageURI", "TransferProtocol", "Targets",     "Username",
      "User",     "Password",         "ForceUpdate", "@Redfish.OperationApplyTime"};
  for (const auto& entry : change.body)
    if (std::ranges::find(kKnown, std::string_view{entry.key()}) == kKnown.end())
      return redfish_error(400, "ActionParameterUnknown",
                           "The action SimpleUpdate was submitted with the invalid parameter " +
                               std::string{entry.key()} + ".");
  const auto uri = text_of(change.body, "ImageURI");
  if (uri.empty() || uri.size() > kLongestUri) return parameter_missing("ImageURI");
  const auto protocol = text_of(change.body, "TransferProtocol");
  if (protocol.empty() && behavior.wants_protocol) return parameter_missing("TransferProtocol");
  if (!protocol.empty() &&
      std::ranges::find(behavior.protocols, std::string_view{protocol}) == behavior.protocols.end())
    return not_in_list("TransferProtocol", protocol);
  Upload upload{.file_name = uri,
                .apply_time = text_of(change.body, "@Redfish.OperationApplyTime"),
                .transfers = true};
  if (!read_targets(change, change.body.if_contains("Targets"), upload.targets))
    return no_such_target();
  if (const auto* image = stored(change, uri)) {
    upload.bytes = image->bytes;
    upload.file_name = image->file_name;
    upload.transfers = false;
  } else if (uri.starts_with("/redfish/")) {
    return not_in_list("ImageURI", uri);
  }
  return begin(change, upload);
}

HttpResponse upload_form(Change& change) {
  const auto& behavior = change.state.update_behavior;
  if (behavior.refuses_chunked && change.chunked)
    return redfish_error(411, "GeneralError", "An upload needs a Content-Length.");
  const auto parts = read_form(change.content_type, change.raw);
  if (!parts)
    return redfish_error(400, "MalformedJSON", "The request body is no multipart/form-data.");
  const auto* file = part_named(*parts, "UpdateFile");
  const auto* parameters = part_named(*parts, "UpdateParameters");
  if (!file) return parameter_missing("UpdateFile");
  // DSP0266, "Multipart HTTP push updates": UpdateParameters is not optional.
  if (!parameters) return parameter_missing("UpdateParameters");
  const auto told = parse_json(parameters->body);
  if (!told || !told->is_object())
    return redfish_error(400, "MalformedJSON", "UpdateParameters is no JSON object.");
  const auto* oem = part_named(*parts, "OemParameters");
  const auto more = oem ? parse_json(oem->body) : Result<json::value>{json::value{}};
  if (behavior.wants_image_type && (!more || !text_at(*more, "ImageType")))
    return parameter_missing("OemParameters/ImageType");
  const auto& wishes = told->as_object();
  Upload upload{.bytes = file->body,
                .file_name = file->file_name,
                .apply_time = text_of(wishes, "@Redfish.OperationApplyTime")};
  if (!read_targets(change, wishes.if_contains("Targets"), upload.targets)) return no_such_target();
  return begin(change, upload);
}

HttpResponse push_image(Change& change) {
  auto& state = change.state;
  const auto& behavior = state.update_behavior;
  if (behavior.claims && !state.push_claimed)
    return redfish_error(400, "ResourceInUse",
                         "HttpPushUriTargetsBusy must be set before an image is pushed.");
  Upload upload{.bytes = change.raw, .targets = state.push_targets};
  const auto parts = read_form(change.content_type, change.raw);
  if (parts) {
    const auto* file = part_named(*parts, "file");
    if (!file) file = part_named(*parts, "UpdateFile");
    if (!file) return parameter_missing("file");
    upload.bytes = file->body;
    upload.file_name = file->file_name;
  }
  if (!behavior.stores_pushed) return begin(change, upload);
  if (!change.has_condition)
    return redfish_error(412, "PreconditionFailed", "The ETag supplied did not match.");
  const auto all = all_components(change);
  const auto images = read_image(upload.bytes, upload.file_name, {}, all, behavior.names);
  if (images.empty())
    return registry_error(400, "IDRAC.2.8.RED018", "The image is for no component of the system.");
  auto component = *std::ranges::find(all, images[0].component, &Component::name);
  component.version = images[0].version;
  auto id = id_of(behavior.names, component);
  if (id.starts_with("Installed-")) id.replace(0, 9, "Available");
  constexpr std::size_t kMostStored = 4;
  if (state.stored_images.size() >= kMostStored)
    state.stored_images.erase(state.stored_images.begin());
  state.stored_images[id] = {std::string{upload.bytes}, upload.file_name, images[0].version};
  HttpResponse response{.status = 201};
  response.headers["Location"] = change.path + "/" + id;
  return response;
}

HttpResponse start_update(Change& change) {
  auto& state = change.state;
  if (state.updates.running() != nullptr) return in_progress();
  const auto* update = state.updates.go_on(std::to_string(state.next_id++), change.view().now(),
                                           change.updates_world);
  if (update == nullptr)
    return redfish_error(400, "NoOperation", "There is no verified image to install.");
  return accepted(change, *update);
}

HttpResponse patch_update_service(Change& change) {
  auto& state = change.state;
  auto targets = state.push_targets;
  auto claimed = state.push_claimed;
  for (const auto& entry : change.body) {
    if (entry.key() == "HttpPushUriTargets") {
      targets.clear();
      if (!read_targets(change, &entry.value(), targets)) return no_such_target();
    } else if (entry.key() == "HttpPushUriTargetsBusy") {
      if (!entry.value().is_bool()) return wrong_type(entry.key());
      claimed = entry.value().as_bool();
    } else if (entry.key() != "HttpPushUriOptions") {
      return unknown_property(entry.key());
    }
  }
  state.push_targets = std::move(targets);
  state.push_claimed = claimed;
  return {.status = 204};
}

}  // namespace cupel::rehearsal
