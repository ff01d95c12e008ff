// How an update begins, or is refused at once, and how that is answered.
#include <fmt/format.h>

#include "rehearsal/bmc/image_fetch.h"
#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {
namespace {

/// The component by which a whole package is timed: the BMC's own, then the BIOS, then the rest.
FirmwareKind slowest(const std::vector<Flash>& images, const std::vector<Component>& all) {
  auto kind = FirmwareKind::psu;
  for (const auto& image : images) {
    const auto found = std::ranges::find(all, image.component, &Component::name);
    if (found == all.end()) continue;
    // Several parts of a board take longer than a power supply alone.
    const bool other = found->kind == FirmwareKind::other && kind == FirmwareKind::psu;
    kind = other ? FirmwareKind::other : std::min(kind, found->kind);
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

HttpResponse in_progress() {
  return registry_error(400, "Update.1.0.UpdateInProgress",
                        "An update is in progress: the request can be made again when it is over.");
}

/// Source: bmcweb, redfish-core/lib/update_service.hpp.
HttpResponse in_half_a_minute() {
  auto response = redfish_error(503, "ServiceTemporarilyUnavailable",
                                "The service is temporarily unavailable. Retry in 30 seconds.");
  response.headers["Retry-After"] = "30";
  return response;
}

HttpResponse malformed_part(std::string_view why) {
  return redfish_error(400, "MissingOrMalformedPart",
                       fmt::format("The multipart request contains malformed parts or is missing "
                                   "required parts: {}",
                                   why));
}

HttpResponse runs_already() {
  return redfish_error(400, "ResourceAlreadyExists",
                       "The requested resource of type UpdateService with the property Version "
                       "with the value 'uploaded version' already exists.");
}

HttpResponse no_space() {
  return redfish_error(507, "InsufficientStorage",
                       "Insufficient storage or memory is available to complete the request: No "
                       "space left on device.");
}

bool all_run(const std::vector<Flash>& images, std::span<const Component> all) {
  return !images.empty() && std::ranges::all_of(images, [&](const Flash& image) {
    const auto now = std::ranges::find(all, image.component, &Component::name);
    return now != all.end() && now->version == image.version;
  });
}

/// As a Supermicro says it: the task's URI is an argument of the message.
HttpResponse accepted_by_message(const std::string& task) {
  const json::object message{
      {"MessageId", "SMC.1.0.OemSimpleupdateAcceptedMessage"},
      {"Severity", "Ok"},
      {"Resolution", "No resolution was required."},
      {"Message", "Please also check Task Resource " + task + " to see more information."},
      {"MessageArgs", json::array{json::value(task)}},
      {"RelatedProperties", json::array{"EnableTaskMonitor"}}};
  return answer(202, json::object{{"Accepted",
                                   {{"code", "Base.v1_4_0.Accepted"},
                                    {"Message",
                                     "Successfully Accepted Request. Please see the location "
                                     "header and ExtendedInfo for more information."},
                                    {"@Message.ExtendedInfo", json::array{message}}}}});
}

Update update_of(const Change& change, const UpdateRequest& request, std::vector<Flash> images,
                 const std::vector<Component>& all) {
  const auto& behavior = change.state.update_behavior;
  const bool later = behavior.starts_by_action && request.apply_time == "OnStartUpdateRequest";
  Update update{.kind = slowest(images, all),
                .complaint = objection_to(change, request, images, all),
                .only_verifies = later,
                .stages = behavior.stages && request.apply_time != "Immediate",
                .size = request.image.size,
                .sha256 = request.image.sha256};
  if (auto bad = fault_of_image(change, request, images); !bad.empty())
    update.complaint = std::move(bad);
  update.name = fmt::format("{} {}", word_of(update.kind), later ? "Verify" : "Update");
  update.images = std::move(images);
  meet_its_fate(change, request, update);
  return update;
}

/// What bmcweb finds out before it makes a task.
std::optional<HttpResponse> refusal_at_once(const Change& change, const UpdateRequest& request,
                                            const std::vector<Flash>& images,
                                            std::span<const Component> all) {
  const auto& behavior = change.state.update_behavior;
  constexpr std::array<std::string_view, 3> kTimes{"", "Immediate", "OnReset"};
  if (behavior.stages &&
      std::ranges::find(kTimes, std::string_view{request.apply_time}) == kTimes.end())
    return not_in_list("@Redfish.OperationApplyTime", request.apply_time);
  if (!behavior.checks_at_once) return std::nullopt;
  if (const auto bad = fault_of_image(change, request, images); !bad.empty())
    return malformed_part(bad);
  if (all_run(images, all) && !request.force) return runs_already();
  return std::nullopt;
}

}  // namespace

std::optional<HttpResponse> busy_with_another(const Change& change) {
  const auto& state = change.state;
  const bool elsewhere = find_fault(change.machine.faults(), FaultKind::firmware_busy) != nullptr;
  if (state.updates.running() == nullptr && !elsewhere) return std::nullopt;
  switch (state.update_behavior.busy) {
    case BusyReply::bad_request:
      return in_progress();
    case BusyReply::unavailable:
      return in_half_a_minute();
    case BusyReply::not_allowed:
      return registry_error(405, "SMC.1.0.OemFirmwareAlreadyInUpdateMode",
                            "The firmware is already in update mode.");
  }
  return in_progress();
}

HttpResponse begin_update(Change& change, UpdateRequest request) {
  auto& state = change.state;
  if (auto refusal = busy_with_another(change)) return *refusal;
  if (find_fault(change.machine.faults(), FaultKind::firmware_no_space) != nullptr)
    return no_space();
  request.force = request.force || state.push_forced;
  const auto all = components_of(change.view());
  auto images = images_in(change, request, all);
  if (auto refusal = refusal_at_once(change, request, images, all)) return *refusal;
  const auto source = request.transfers ? loopback_uri(request.file_name) : std::nullopt;
  auto update = update_of(change, request, std::move(images), all);
  update.fetched = source.has_value();
  const auto number = state.next_id++;
  update.id =
      state.behavior.bios.by_job ? fmt::format("JID_{:012}", number) : std::to_string(number);
  const auto& begun = state.updates.begin(std::move(update), request.transfers, change.view().now(),
                                          change.updates_world);
  auto response = accepted(change, begun);
  if (source) change.fetch(begun.id, *source, std::move(request));
  return response;
}

void take_fetched(const Change& change, const std::string& id, UpdateRequest request) {
  const auto all = components_of(change.view());
  auto images = images_in(change, request, all);
  auto update = update_of(change, request, std::move(images), all);
  update.queued_for = VirtualTime{0};
  change.state.updates.arrived(id, std::move(update), change.view().now(), change.updates_world);
}

HttpResponse accepted(const Change& change, const Update& update) {
  const auto& behavior = change.state.update_behavior;
  if (!behavior.has_task) return {.status = 204};
  auto response = behavior.accepts_by_message
                      ? accepted_by_message("/redfish/v1/TaskService/Tasks/" + update.id)
                      : answer(202, task_of(change.view(), update));
  response.headers["Location"] = monitor_of(change.view(), update.id);
  return response;
}

}  // namespace cupel::rehearsal
