#include "rehearsal/bmc/updates.h"

#include <algorithm>

namespace cupel::rehearsal {
namespace {

using Stage = Update::Stage;

/// What makes it run. A job that was written during the host's self-test runs at once.
Activation activation_for(const UpdateBehavior& behavior, const Update& update) {
  if (update.needs_ac) return Activation::ac_cycle;
  const bool at_boot = behavior.bios_waits && update.kind == FirmwareKind::bios;
  return at_boot ? Activation::at_once : activation_of(behavior, update.kind);
}

/// Of what is only staged: nothing restarts by itself for it.
Activation when_reset(Activation by) {
  return by == Activation::own_restart || by == Activation::at_once ? Activation::bmc_restart : by;
}

}  // namespace

const Update* Updates::find(const std::string& id) const {
  const auto found = std::ranges::find(all_, id, &Update::id);
  return found == all_.end() ? nullptr : &*found;
}

const Update* Updates::running() const {
  for (const auto& update : all_)
    if (!update.is_over() && !update.waits()) return &update;
  return nullptr;
}

bool Updates::writes_bmc() const {
  return std::ranges::any_of(all_, [](const Update& update) {
    return update.kind == FirmwareKind::bmc && update.stage == Stage::writing;
  });
}

void Updates::forget(const std::string& id) {
  std::erase_if(all_, [&](const Update& update) { return update.id == id; });
}

const Update& Updates::begin(Update update, bool transfers, VirtualTime now,
                             const UpdateWorld& world) {
  while (all_.size() >= kMostTasks) {
    const auto oldest = std::ranges::find_if(all_, &Update::is_over);
    all_.erase(oldest == all_.end() ? all_.begin() : oldest);
  }
  update.started = world.epoch();
  auto& begun = all_.emplace_back(std::move(update));
  const auto first = transfers ? Stage::transferring : Stage::verifying;
  enter(begun, begun.queued_for > VirtualTime{0} ? Stage::queued : first, now, world);
  return begun;
}

Update* Updates::fetching(const std::string& id) {
  const auto found = std::ranges::find(all_, id, &Update::id);
  const bool waits = found != all_.end() && found->fetched && found->stage == Stage::transferring;
  return waits ? &*found : nullptr;
}

void Updates::arrived(const std::string& id, Update what, VirtualTime now,
                      const UpdateWorld& world) {
  auto* update = fetching(id);
  if (update == nullptr) return;  // the BMC restarted meanwhile
  what.id = id;
  what.started = update->started;
  *update = std::move(what);
  enter(*update, Stage::verifying, now, world);
}

void Updates::not_fetched(const std::string& id, std::string_view why, VirtualTime now,
                          const UpdateWorld& world) {
  if (auto* update = fetching(id)) fail(*update, now, world, "Update.1.0.TransferFailed", why);
}

const Update* Updates::go_on(std::string id, VirtualTime now, const UpdateWorld& world) {
  const auto ready = std::ranges::find(all_, Stage::verified, &Update::stage);
  if (ready == all_.end()) return nullptr;
  auto next = *ready;
  ready->stage = Stage::done;
  next.id = std::move(id);
  next.only_verifies = false;
  next.started = world.epoch();
  next.ended = 0;
  auto& begun = all_.emplace_back(std::move(next));
  begun.name.replace(begun.name.rfind(' ') + 1, std::string::npos, "Update");
  enter(begun, Stage::writing, now, world);
  return &begun;
}

void Updates::enter(Update& update, Stage stage, VirtualTime when, const UpdateWorld& world) {
  update.stage = stage;
  update.since = when;
  if (update.is_over() || stage == Stage::verified) update.ended = world.epoch();
}

void Updates::fail(Update& update, VirtualTime when, const UpdateWorld& world, std::string_view id,
                   std::string_view why) {
  update.message_id = id;
  update.message = why;
  enter(update, Stage::failed, when, world);
}

void Updates::finish_stage(Update& update, VirtualTime when, const UpdateWorld& world) {
  switch (update.stage) {
    case Stage::queued:
      return enter(update, Stage::transferring, when, world);
    case Stage::transferring:
      return enter(update, Stage::verifying, when, world);
    case Stage::verifying: {
      if (update.fate == Fate::unverified) return world.restart_bmc();
      if (!update.complaint.empty())
        return fail(update, when, world, "Update.1.0.VerificationFailed", update.complaint);
      if (update.only_verifies) return enter(update, Stage::verified, when, world);
      const bool waits = behavior_->bios_waits && update.kind == FirmwareKind::bios;
      return enter(update, waits ? Stage::scheduled : Stage::writing, when, world);
    }
    case Stage::writing:
      if (update.fate == Fate::interrupted) return world.restart_bmc();
      if (update.fate == Fate::full) leave(update, activation_for(*behavior_, update));
      if (update.fate == Fate::full || behavior_->full_before_done)
        return enter(update, Stage::flushing, when, world);
      return written(update, when, world);
    case Stage::flushing:
      return written(update, when, world);
    case Stage::staged:
      return fail(update, when, world, kTaskAborted,
                  "The task with Id '" + update.id + "' has completed with errors.");
    default:
      return;
  }
}

/// What was written waits for what makes it run.
void Updates::leave(const Update& update, Activation by) {
  for (const auto& flash : update.images) {
    if (flash.component == update.failing) continue;
    std::erase_if(waiting_,
                  [&](const Waiting& one) { return one.flash.component == flash.component; });
    waiting_.push_back({flash, by, update.fate});
  }
}

void Updates::written(Update& update, VirtualTime when, const UpdateWorld& world) {
  const auto by = activation_for(*behavior_, update);
  const bool staged = update.stages && update.fate != Fate::unchanged;
  if (update.fate != Fate::unchanged) leave(update, staged ? when_reset(by) : by);
  if (update.fate == Fate::part_failed)
    fail(update, when, world, "Update.1.0.ApplyFailed",
         "The image was not applied to " + update.failing + ".");
  else
    enter(update, staged ? Stage::staged : Stage::done, when, world);
  activate({Activation::at_once}, when, world);
  if (by == Activation::own_restart && !staged && update.fate != Fate::unchanged)
    world.restart_bmc();
}

bool Updates::waits_for_reset(const Update& update) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& one) {
    return std::ranges::find(update.images, one.flash) != update.images.end();
  });
}

/// A staged update is over as soon as one of its images runs.
void Updates::finish_staged(const Flash& flash, VirtualTime now, const UpdateWorld& world) {
  for (auto& update : all_)
    if (update.stage == Stage::staged &&
        std::ranges::find(update.images, flash) != update.images.end())
      enter(update, Stage::done, now, world);
}

void Updates::advance(VirtualTime now, const UpdateWorld& world) {
  // By number: what happens here may begin, forget or change others.
  for (std::size_t i = 0; i < all_.size(); ++i)
    for (int stages = 0; i < all_.size() && stages < 8; ++stages) {
      auto& update = all_[i];
      const auto end = update.since + span_of(update);
      if (update.is_over() || end > now) break;
      finish_stage(update, end, world);
    }
  const auto due = std::stable_partition(late_.begin(), late_.end(),
                                         [&](const Late& one) { return one.when > now; });
  const std::vector<Late> ready{due, late_.end()};
  late_.erase(due, late_.end());
  for (const auto& one : ready) world.install(one.flash);
}

void Updates::activate(std::initializer_list<Activation> by, VirtualTime now,
                       const UpdateWorld& world) {
  std::vector<Waiting> ready;
  std::erase_if(waiting_, [&](const Waiting& one) {
    const bool comes = std::ranges::find(by, one.for_what) != by.end();
    if (comes) ready.push_back(one);
    return comes;
  });
  for (const auto& one : ready) {
    finish_staged(one.flash, now, world);
    if (one.fate == Fate::not_active)
      world.print_error("Activation of " + one.flash.component + " " + one.flash.version +
                        " failed: the previous image runs.");
    else if (behavior_->version_lag > VirtualTime{0})
      late_.push_back({one.flash, now + behavior_->version_lag});
    else
      world.install(one.flash);
    if (one.fate == Fate::bricked) world.brick(one.flash);
  }
}

void Updates::host_started(VirtualTime now, const UpdateWorld& world) {
  for (auto& update : all_)
    if (update.stage == Stage::scheduled) enter(update, Stage::writing, now, world);
  activate({Activation::host_reset}, now, world);
}

/// What is written through the host's parts does not survive that; the BMC's own does.
void Updates::host_lost_power(VirtualTime now, const UpdateWorld& world) {
  for (auto& update : all_)
    if (update.stage == Stage::writing && update.kind != FirmwareKind::bmc)
      fail(update, now, world, "Update.1.0.ApplyFailed",
           "The host lost its power while its firmware was written.");
  activate({Activation::host_off}, now, world);
}

void Updates::bmc_restarted(VirtualTime now, const UpdateWorld& world) {
  for (auto& update : all_) {
    const bool goes_on =
        update.is_over() || update.stage == Stage::scheduled || update.stage == Stage::staged;
    if (!goes_on)
      fail(update, now, world, "Update.1.0.ApplyFailed",
           "The management controller restarted while the update went on.");
  }
  if (behavior_->forgets_tasks)
    std::erase_if(all_, [](const Update& update) {
      return update.is_over() || update.stage == Stage::staged;
    });
  activate({Activation::bmc_restart, Activation::own_restart}, now, world);
}

void Updates::power_drained(VirtualTime now, const UpdateWorld& world) {
  activate({Activation::ac_cycle, Activation::host_off, Activation::host_reset,
            Activation::bmc_restart, Activation::own_restart},
           now, world);
}

}  // namespace cupel::rehearsal
