#include "rehearsal/bmc/updates.h"

#include <algorithm>

namespace cupel::rehearsal {
namespace {

using Stage = Update::Stage;

/// Where one that is stuck stays, and where the BMC restarts in mid-write.
constexpr double kStuckAt = 0.63, kInterruptedAt = 0.5;
constexpr VirtualTime kFlush{60};
constexpr VirtualTime kNever{1e12};

}  // namespace

const Update* Updates::find(const std::string& id) const {
  const auto found = std::ranges::find(all_, id, &Update::id);
  return found == all_.end() ? nullptr : &*found;
}

const Update* Updates::running() const {
  for (const auto& update : all_)
    if (!update.is_over() && update.stage != Stage::scheduled && update.stage != Stage::verified)
      return &update;
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
  enter(begun, transfers ? Stage::transferring : Stage::verifying, now, world);
  return begun;
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

/// How long its stage lasts, if nothing comes between.
VirtualTime Updates::span_of(const Update& update) const {
  const auto& times = behavior_->times;
  switch (update.stage) {
    case Stage::transferring:
      return times.transfer;
    case Stage::verifying:
      return times.verify;
    case Stage::writing: {
      const auto whole = writing_time(times, update.kind);
      if (update.fate == Fate::stuck) return kNever;
      return update.fate == Fate::interrupted ? whole * kInterruptedAt : whole;
    }
    case Stage::flushing:
      return kFlush;
    default:
      return kNever;
  }
}

int Updates::percent(const Update& update, VirtualTime now) const {
  const auto& times = behavior_->times;
  const auto part = [&](VirtualTime whole, double most) {
    return std::clamp((now - update.since) / whole, 0.0, most);
  };
  // Transfer and check are a tenth of it, to whoever watches.
  switch (update.stage) {
    case Stage::transferring:
      return static_cast<int>(5 * part(times.transfer, 1));
    case Stage::verifying:
      return static_cast<int>((update.only_verifies ? 100 : 5) * part(times.verify, 1)) +
             (update.only_verifies ? 0 : 5);
    case Stage::scheduled:
      return 0;
    case Stage::writing: {
      const double most = update.fate == Fate::stuck ? kStuckAt : 1;
      return 10 + static_cast<int>(89 * part(writing_time(times, update.kind), most));
    }
    case Stage::failed:
      return 0;
    case Stage::verified:
    case Stage::flushing:
    case Stage::done:
      return 100;
  }
  return 0;
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
    case Stage::transferring:
      return enter(update, Stage::verifying, when, world);
    case Stage::verifying: {
      if (!update.complaint.empty())
        return fail(update, when, world, "Update.1.0.VerificationFailed", update.complaint);
      if (update.only_verifies) return enter(update, Stage::verified, when, world);
      const bool waits = behavior_->bios_waits && update.kind == FirmwareKind::bios;
      return enter(update, waits ? Stage::scheduled : Stage::writing, when, world);
    }
    case Stage::writing:
      if (update.fate == Fate::interrupted) return world.restart_bmc();
      if (behavior_->full_before_done) return enter(update, Stage::flushing, when, world);
      return written(update, when, world);
    case Stage::flushing:
      return written(update, when, world);
    default:
      return;
  }
}

void Updates::written(Update& update, VirtualTime when, const UpdateWorld& world) {
  const auto by = activation_of(*behavior_, update.kind);
  const bool at_boot = behavior_->bios_waits && update.kind == FirmwareKind::bios;
  enter(update, Stage::done, when, world);
  if (update.fate == Fate::unchanged) return;
  for (const auto& flash : update.images) {
    std::erase_if(waiting_,
                  [&](const Waiting& one) { return one.flash.component == flash.component; });
    waiting_.push_back(
        {flash, at_boot ? Activation::at_once : by, update.fate == Fate::not_active});
  }
  activate({Activation::at_once}, when, world);
  if (by == Activation::own_restart) world.restart_bmc();
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

std::optional<VirtualTime> Updates::next() const {
  auto first = kNever;
  for (const auto& update : all_)
    if (!update.is_over()) first = std::min(first, update.since + span_of(update));
  for (const auto& one : late_) first = std::min(first, one.when);
  if (first >= kNever) return std::nullopt;
  return first;
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
    if (one.fails)
      world.complain("Activation of " + one.flash.component + " " + one.flash.version +
                     " failed: the previous image runs.");
    else if (behavior_->version_lag > VirtualTime{0})
      late_.push_back({one.flash, now + behavior_->version_lag});
    else
      world.install(one.flash);
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
    const bool goes_on = update.is_over() || update.stage == Stage::scheduled;
    if (!goes_on)
      fail(update, now, world, "Update.1.0.ApplyFailed",
           "The management controller restarted while the update went on.");
  }
  if (behavior_->forgets_tasks)
    std::erase_if(all_, [](const Update& update) { return update.is_over(); });
  activate({Activation::bmc_restart, Activation::own_restart}, now, world);
}

void Updates::power_drained(VirtualTime now, const UpdateWorld& world) {
  activate({Activation::ac_cycle, Activation::host_off, Activation::host_reset,
            Activation::bmc_restart, Activation::own_restart},
           now, world);
}

}  // namespace cupel::rehearsal
