// The last look at a machine before an image is sent to it. The journal of this controller shows
// what it wrote itself; what another controller with a store of its own wrote, only the BMC shows.
#include <fmt/format.h>

#include <algorithm>

#include "inventory/versions.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/ready.h"
#include "orchestrator/firmware/updater.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;

}  // namespace

/// What another controller with a store of its own, or another tool, has written since the plan. An
/// entry that is missing or has no version proves nothing: the machine may be off for the write.
Updater::Ended Updater::why_changed(const Seen& seen) const {
  const auto state = std::ranges::find(seen.plan.components, expected_, &ComponentState::expected);
  if (state == seen.plan.components.end()) return std::nullopt;
  for (const auto& planned : replaces_) {
    const auto now = std::ranges::find(state->running, planned.id, &RunningVersion::id);
    if (now == state->running.end() || now->version.empty()) continue;
    if (inventory::same_version(now->version, planned.version)) continue;
    auto why =
        fmt::format("{}: {} ran {} when the update was planned, and runs {} now", named(),
                    short_word(planned.id), short_word(planned.version), short_word(now->version));
    if (inventory::same_version(now->version, handle_.version))
      return UpdateEnd{How::busy, why + ": another controller or tool has written it"};
    return UpdateEnd{How::failed,
                     why + ": another controller or tool writes to it; nothing was sent",
                     {"find out what else writes firmware to this machine, then retry"}};
  }
  return std::nullopt;
}

/// For the last time before the image is sent. Nothing: the BMC is idle, and the plan still holds.
Task<Result<Updater::Ended>> Updater::look_again(const bmc::UpdateOrder& order, Deadline deadline) {
  CO_TRY(const auto seen, co_await look(deadline));
  if (auto changed = why_changed(seen)) co_return changed;
  CO_TRY(const auto service, co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer)));
  auto why_not = why_not_this(service, order);
  if (why_not) why_not->detail = named() + ": " + why_not->detail;
  co_return why_not;
}

}  // namespace cupel::firmware
