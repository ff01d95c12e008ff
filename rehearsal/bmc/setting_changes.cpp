// What a client may change about the machine's BIOS settings and its virtual drives.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/change.h"
#include "rehearsal/bmc/refusals.h"

namespace cupel::rehearsal {
namespace {

bool lacks_licence(const Change& change) {
  return change.state.behavior.bios.needs_licence && !change.state.spec.licensed;
}

bool has_open_job(const BmcState& state) {
  return std::ranges::any_of(state.jobs, [](const Job& job) { return !job.done; });
}

HttpResponse committed_already() {
  return registry_error(400, "IDRAC.2.8.SYS011",
                        "Pending configuration values are already committed, unable to perform "
                        "another set operation.");
}

HttpResponse new_job(Change& change, int status) {
  if (change.state.jobs.size() >= BmcState::kMostJobs)
    change.state.jobs.erase(change.state.jobs.begin());
  const auto id = fmt::format("JID_{:012}", change.state.next_id++);
  change.state.jobs.push_back({.id = id});
  HttpResponse response{.status = status};
  response.headers["Location"] = status == 202 ? "/redfish/v1/TaskService/Tasks/" + id
                                               : change.view().manager() + "/Jobs/" + id;
  return response;
}

bool is_image(std::string_view url) {
  constexpr std::array<std::string_view, 5> kSchemes{"http://", "https://", "nfs://", "cifs://",
                                                     "smb://"};
  constexpr std::size_t kLongest = 1024;
  return url.size() <= kLongest &&
         std::ranges::any_of(kSchemes, [&](auto scheme) { return url.starts_with(scheme); });
}

const MediaSlotRow* slot_of(const BmcState& state, const std::string& id) {
  const auto row =
      std::ranges::find(state.behavior.media.slots, std::string_view{id}, &MediaSlotRow::id);
  return row == state.behavior.media.slots.end() ? nullptr : &*row;
}

HttpResponse no_slot(const Change& change) {
  return redfish_error(404, "ResourceMissingAtURI",
                       "The resource at the URI " + change.path + " was not found.");
}

/// The drive that a machine boots from is the first that takes discs and holds one.
void tell_machine(Change& change) {
  change.machine.set_virtual_disc({});
  for (const auto& slot : change.state.behavior.media.slots) {
    const auto& image = change.state.media[std::string{slot.id}].image;
    if (!image.empty() && std::ranges::find(slot.types, "CD") != slot.types.end()) {
      change.machine.set_virtual_disc(image);
      return;
    }
  }
}

HttpResponse put_in(Change& change, const std::string& id, const std::string& image) {
  auto& medium = change.state.media[id];
  if (!is_image(image))
    return redfish_error(400, "ActionParameterValueFormatError",
                         "The value for the parameter Image is no URI that this service can "
                         "fetch an image from.");
  if (!medium.image.empty())
    return redfish_error(400, "ResourceInUse",
                         "The change could not be completed because the resource is in use: "
                         "there is a medium in it.");
  medium = {.image = image};
  tell_machine(change);
  return {.status = 204};
}

HttpResponse take_out(Change& change, const std::string& id) {
  auto& medium = change.state.media[id];
  const bool held = !medium.image.empty();
  medium = {};
  const auto stale = change.state.behavior.media.stale;
  if (held && stale > VirtualTime{0}) medium.stale_until = change.view().now() + stale;
  tell_machine(change);
  return {.status = 204};
}

}  // namespace

HttpResponse patch_bios(Change& change) {
  if (lacks_licence(change)) return not_licensed();
  bool at_reset = false;
  const json::object* requested = nullptr;
  for (const auto& entry : change.body) {
    if (entry.key() == "Attributes")
      requested = entry.value().if_object();
    else if (entry.key() == "@Redfish.SettingsApplyTime")
      at_reset = text_at(entry.value(), "ApplyTime") == "OnReset";
    else
      return unknown_property(entry.key());
  }
  if (!requested) return wrong_type("Attributes");
  for (const auto& attribute : *requested) {
    const auto complaint =
        change.state.bios.complaint(attribute.key(), attribute.value(), *requested);
    if (!complaint.empty())
      return redfish_error(400, "PropertyValueNotInList",
                           fmt::format("The value for the property Attributes/{} cannot be set: "
                                       "{}.",
                                       std::string_view{attribute.key()}, complaint));
  }
  const bool by_job = change.state.behavior.bios.by_job;
  if (by_job && has_open_job(change.state)) return committed_already();
  change.state.bios.stage(*requested);
  return by_job && at_reset ? new_job(change, 202) : HttpResponse{.status = 204};
}

HttpResponse reset_bios(Change& change) {
  if (lacks_licence(change)) return not_licensed();
  const auto requested = change.state.behavior.bios.reset_word;
  const auto* word = change.body.if_contains("ResetType");
  const bool right = word && word->is_string() && std::string_view{word->as_string()} == requested;
  if (!requested.empty() && !right) return missing_parameter("ResetBios", "ResetType");
  change.state.bios.reset();
  return {.status = 204};
}

HttpResponse create_job(Change& change) {
  const auto* target = change.body.if_contains("TargetSettingsURI");
  if (!target || !target->is_string()) return missing_parameter("Jobs", "TargetSettingsURI");
  if (std::string_view{target->as_string()} != change.view().bios_settings())
    return not_in_list("TargetSettingsURI", target->as_string());
  if (has_open_job(change.state)) return committed_already();
  if (change.state.bios.pending().empty())
    return redfish_error(400, "NoOperation", "There are no pending values to commit.");
  return new_job(change, 200);
}

HttpResponse insert_media(Change& change) {
  const auto& behavior = change.state.behavior.media;
  const auto id = change.name(2);
  if (!slot_of(change.state, id)) return no_slot(change);
  if (lacks_licence(change)) return not_licensed();
  const auto* image = change.body.if_contains("Image");
  if (!image || !image->is_string()) return missing_parameter("InsertMedia", "Image");
  if (behavior.wants_protocol && !change.body.contains("TransferProtocolType"))
    return missing_parameter("InsertMedia", "TransferProtocolType");
  for (const auto* flag : {"Inserted", "WriteProtected"})
    if (behavior.refuses_flags && change.body.contains(flag))
      return redfish_error(400, "ActionParameterUnknown",
                           fmt::format("The action InsertMedia was submitted with the invalid "
                                       "parameter {}.",
                                       flag));
  return put_in(change, id, std::string{image->as_string()});
}

HttpResponse eject_media(Change& change) {
  const auto& behavior = change.state.behavior.media;
  const auto id = change.name(2);
  if (!slot_of(change.state, id)) return no_slot(change);
  if (behavior.wants_object && change.empty)
    return redfish_error(400, "MalformedJSON", "The request body contains malformed JSON.");
  if (behavior.eject_only_if_inserted && change.state.media[id].image.empty())
    return no_slot(change);
  return take_out(change, id);
}

HttpResponse patch_media(Change& change) {
  const auto id = change.name();
  if (!slot_of(change.state, id)) return no_slot(change);
  constexpr std::array<std::string_view, 6> kKnown{"Image",    "Inserted", "WriteProtected",
                                                   "UserName", "Password", "TransferProtocolType"};
  for (const auto& entry : change.body)
    if (std::ranges::find(kKnown, std::string_view{entry.key()}) == kKnown.end())
      return unknown_property(entry.key());
  const auto* image = change.body.if_contains("Image");
  const auto* inserted = change.body.if_contains("Inserted");
  const bool out = (inserted && inserted->is_bool() && !inserted->as_bool()) ||
                   (image && (image->is_null() || *image == json::value("")));
  if (out) return take_out(change, id);
  if (!image || !image->is_string()) return wrong_type("Image");
  return put_in(change, id, std::string{image->as_string()});
}

}  // namespace cupel::rehearsal
