// What a client may ask of the update service: an image by its URI, in a form, or as it is. What is
// wrong with an image itself is found by the update's own check, as on a real one.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kLongestUri = 1024;

HttpResponse parameter_missing(std::string_view name) {
  return redfish_error(400, "ActionParameterMissing",
                       fmt::format("The action UpdateService.SimpleUpdate requires the parameter "
                                   "{} to be present in the request body.",
                                   name));
}

HttpResponse part_missing(std::string_view name) {
  return redfish_error(400, "PropertyMissing",
                       fmt::format("The property {} is a required property and must be included "
                                   "in the request.",
                                   name));
}

std::string text_of(const json::object& body, std::string_view key) {
  const auto* found = body.if_contains(key);
  return found && found->is_string() ? std::string{found->as_string()} : std::string{};
}

bool is_true(const json::object& body, std::string_view key) {
  const auto* found = body.if_contains(key);
  return found && found->is_bool() && found->as_bool();
}

/// An image that was pushed into the inventory first (Dell).
const StoredImage* stored(const Change& change, const std::string& uri) {
  const auto found = change.state.stored_images.find(uri.substr(uri.rfind('/') + 1));
  return found == change.state.stored_images.end() ? nullptr : &found->second;
}

/// The part with the image, by whichever name this way has for it.
const FormPart* file_in(const std::vector<FormPart>& parts,
                        std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto* part = part_named(parts, name)) return part;
  return nullptr;
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
  UpdateRequest request{.file_name = uri,
                        .apply_time = text_of(change.body, "@Redfish.OperationApplyTime"),
                        .force = is_true(change.body, "ForceUpdate"),
                        .transfers = true};
  if (auto refusal = read_targets(change, change.body.if_contains("Targets"), request.targets))
    return *refusal;
  if (const auto* image = stored(change, uri)) {
    request.image = image->image;
    request.file_name = image->file_name;
    request.transfers = false;
  } else if (uri.starts_with("/redfish/")) {
    return not_in_list("ImageURI", uri);
  }
  return begin_update(change, std::move(request));
}

HttpResponse upload_form(Change& change) {
  const auto& behavior = change.state.update_behavior;
  if (behavior.refuses_chunked && change.chunked)
    return redfish_error(411, "GeneralError", "An upload needs a Content-Length.");
  const auto& parts = change.received.form;
  if (!parts)
    return redfish_error(400, "MalformedJSON", "The request body is no multipart/form-data.");
  const auto* file = part_named(*parts, "UpdateFile");
  const auto* parameters = part_named(*parts, "UpdateParameters");
  if (!file) return part_missing("UpdateFile");
  // DSP0266, "Multipart HTTP push updates": UpdateParameters is not optional.
  if (!parameters) return part_missing("UpdateParameters");
  const auto reported = parse_json(parameters->text());
  if (!reported || !reported->is_object())
    return redfish_error(400, "MalformedJSON", "UpdateParameters is no JSON object.");
  const auto* oem = part_named(*parts, "OemParameters");
  const auto more = oem ? parse_json(oem->text()) : Result<json::value>{json::value{}};
  for (const auto name : behavior.oem_parameters)
    if (!more || !text_at(*more, name)) return part_missing("OemParameters/" + std::string{name});
  const auto& requests = reported->as_object();
  UpdateRequest request{.image = file->content,
                        .file_name = file->file_name,
                        .apply_time = text_of(requests, "@Redfish.OperationApplyTime"),
                        .force = is_true(requests, "ForceUpdate")};
  if (auto refusal = read_targets(change, requests.if_contains("Targets"), request.targets))
    return *refusal;
  return begin_update(change, std::move(request));
}

HttpResponse push_image(Change& change) {
  auto& state = change.state;
  const auto& behavior = state.update_behavior;
  if (behavior.claims && !state.push_claimed)
    return redfish_error(400, "ResourceInUse",
                         "HttpPushUriTargetsBusy must be set before an image is pushed.");
  // As HttpPushUriOptions says it.
  UpdateRequest request{
      .image = change.received.raw, .targets = state.push_targets, .apply_time = "Immediate"};
  if (const auto& parts = change.received.form) {
    const auto* file = file_in(*parts, {"file", "files[]", "UpdateFile"});
    if (!file) return part_missing("file");
    request.image = file->content;
    request.file_name = file->file_name;
  }
  if (!behavior.stores_pushed) return begin_update(change, std::move(request));
  if (!change.has_condition)
    return redfish_error(412, "PreconditionFailed", "The ETag supplied did not match.");
  const auto all = components_of(change.view());
  const auto images = read_image(request.image.head, request.file_name, {}, all, behavior.names);
  if (images.empty())
    return registry_error(400, "IDRAC.2.8.RED018", "The image is for no component of the system.");
  auto component = *std::ranges::find(all, images[0].component, &Component::name);
  component.version = images[0].version;
  auto id = id_of(behavior.names, component);
  if (id.starts_with("Installed-")) id.replace(0, 9, "Available");
  constexpr std::size_t kMostStored = 4;
  if (state.stored_images.size() >= kMostStored)
    state.stored_images.erase(state.stored_images.begin());
  state.stored_images[id] = {std::move(request.image), request.file_name, images[0].version};
  HttpResponse response{.status = 201};
  response.headers["Location"] = change.path + "/" + id;
  return response;
}

HttpResponse start_update(Change& change) {
  auto& state = change.state;
  if (auto refusal = busy_with_another(change)) return *refusal;
  const auto* update = state.updates.go_on(std::to_string(state.next_id++), change.view().now(),
                                           change.updates_world);
  if (update == nullptr)
    return redfish_error(400, "NoOperation", "There is no verified image to install.");
  return accepted(change, *update);
}

HttpResponse patch_update_service(Change& change) {
  auto& state = change.state;
  auto targets = state.push_targets;
  auto claimed = state.push_claimed, forced = state.push_forced;
  for (const auto& entry : change.body) {
    if (entry.key() == "HttpPushUriTargets") {
      targets.clear();
      if (auto refusal = read_targets(change, &entry.value(), targets)) return *refusal;
    } else if (entry.key() == "HttpPushUriTargetsBusy") {
      if (!entry.value().is_bool()) return wrong_type(entry.key());
      claimed = entry.value().as_bool();
    } else if (entry.key() == "HttpPushUriOptions") {
      const auto* options = entry.value().if_object();
      if (!options) return wrong_type(entry.key());
      if (options->contains("ForceUpdate")) forced = is_true(*options, "ForceUpdate");
    } else {
      return unknown_property(entry.key());
    }
  }
  state.push_targets = std::move(targets);
  state.push_claimed = claimed;
  state.push_forced = forced;
  return {.status = 204};
}

}  // namespace cupel::rehearsal
