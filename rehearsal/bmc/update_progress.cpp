// How long an update's stages last, and how far it says that it is.
#include <algorithm>

#include "rehearsal/bmc/updates.h"

namespace cupel::rehearsal {
namespace {

using Stage = Update::Stage;

/// Where one that is stuck stays, and where the BMC restarts in the middle of a stage.
constexpr double kStuckAt = 0.63, kInterruptedAt = 0.5;
constexpr VirtualTime kFlush{60};
constexpr VirtualTime kNever{1e12};

}  // namespace

/// How long its stage lasts, if nothing comes between.
VirtualTime Updates::span_of(const Update& update) const {
  const auto& times = behavior_->times;
  switch (update.stage) {
    case Stage::queued:
      return update.queued_for;
    case Stage::transferring:
      return update.fetched ? kNever : times.transfer;
    case Stage::verifying:
      return update.fate == Fate::unverified ? times.verify * kInterruptedAt : times.verify;
    case Stage::writing: {
      const auto whole = writing_time(times, update.kind);
      if (update.fate == Fate::stuck) return kNever;
      return update.fate == Fate::interrupted ? whole * kInterruptedAt : whole;
    }
    case Stage::flushing:
      return update.fate == Fate::full ? kNever : kFlush;
    case Stage::staged:
      return kStagedFor;
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
    case Stage::queued:
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
    case Stage::staged:
    case Stage::done:
      return 100;
  }
  return 0;
}

std::optional<VirtualTime> Updates::next() const {
  auto first = kNever;
  for (const auto& update : all_)
    if (!update.is_over()) first = std::min(first, update.since + span_of(update));
  for (const auto& one : late_) first = std::min(first, one.when);
  if (first >= kNever) return std::nullopt;
  return first;
}

}  // namespace cupel::rehearsal
