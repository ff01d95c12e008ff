// What a BMC has against an image, and what the machine's faults make of an update.
#include <fmt/format.h>

#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {
namespace {

struct FateRow {
  FaultKind fault;
  Fate fate;
};
constexpr auto kFates =
    std::to_array<FateRow>({{FaultKind::firmware_stuck, Fate::stuck},
                            {FaultKind::firmware_full, Fate::full},
                            {FaultKind::firmware_unchanged, Fate::unchanged},
                            {FaultKind::firmware_not_active, Fate::not_active},
                            {FaultKind::firmware_refused, Fate::refused},
                            {FaultKind::firmware_unverified, Fate::unverified},
                            {FaultKind::firmware_interrupted, Fate::interrupted},
                            {FaultKind::firmware_task_lost, Fate::vanished},
                            {FaultKind::firmware_part_fails, Fate::part_failed},
                            {FaultKind::firmware_bricks, Fate::bricked}});

bool concerns(const Fault& fault, const std::vector<Flash>& images) {
  return fault.component.empty() ||
         std::ranges::find(images, fault.component, &Flash::component) != images.end();
}

const Fault* fault_for(const Change& change, FaultKind kind, const std::vector<Flash>& images) {
  for (const auto& fault : change.machine.faults())
    if (fault.kind == kind && concerns(fault, images)) return &fault;
  return nullptr;
}

/// The one component that is not written: the one that the fault names, else the last of them.
std::string failing_part(const Fault& fault, const std::vector<Flash>& images) {
  return fault.component.empty() ? images.back().component : fault.component;
}

bool is_for_another_model(const Change& change, const UpdateRequest& request) {
  const auto model = model_in(request.image.head);
  return !model.empty() && model != change.machine.hardware().model &&
         model != change.state.behavior.names.model;
}

}  // namespace

std::string fault_of_image(const Change& change, const UpdateRequest& request,
                           const std::vector<Flash>& images) {
  if (auto damage = damage_of(request.image); !damage.empty()) return damage;
  const bool takes_any = fault_for(change, FaultKind::firmware_any_model, images) != nullptr;
  if (is_for_another_model(change, request) && !takes_any)
    return fmt::format("The image is for {}, not for this machine.", model_in(request.image.head));
  if (images.empty()) return "The image is for no component of this machine.";
  return {};
}

std::string objection_to(const Change& change, const UpdateRequest& request,
                         const std::vector<Flash>& images, std::span<const Component> all) {
  if (fault_for(change, FaultKind::firmware_bad_signature, images) != nullptr)
    return "The image's signature does not fit.";
  const bool strict = fault_for(change, FaultKind::firmware_refused, images) != nullptr;
  const bool keeps_newer = change.state.update_behavior.keeps_newer && !request.force;
  if (!strict && !keeps_newer) return {};
  for (const auto& image : images) {
    const auto now = std::ranges::find(all, image.component, &Component::name);
    if (now != all.end() && is_older(image.version, now->version))
      return fmt::format("{}: a downgrade from {} to {} is refused.", image.component, now->version,
                         image.version);
  }
  return {};
}

void meet_its_fate(const Change& change, const UpdateRequest& request, Update& update) {
  const auto& images = update.images;
  for (const auto& [kind, fate] : kFates) {
    const auto* fault = fault_for(change, kind, images);
    if (fault == nullptr || images.empty()) continue;
    update.fate = fate;
    if (fate == Fate::part_failed) update.failing = failing_part(*fault, images);
    break;
  }
  // What was made for another machine does not start on this one.
  if (update.complaint.empty() && is_for_another_model(change, request))
    update.fate = Fate::bricked;
  update.needs_ac = fault_for(change, FaultKind::firmware_needs_ac, images) != nullptr;
  const auto* busy = find_fault(change.machine.faults(), FaultKind::lifecycle_busy);
  constexpr VirtualTime kUsual{600};
  if (busy != nullptr && change.state.update_behavior.queues_behind_lc)
    update.queued_for = busy->span.value_or(kUsual);
}

}  // namespace cupel::rehearsal
