#include "orchestrator/steps/firmware_memory.h"

#include <algorithm>

#include "base/wall_clock.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using engine::StepRequest;
using firmware::UpdateHandle;
using store::FirmwareState;
using End = FirmwareState::End;

std::string_view kind_of(const StepRequest& request) {
  return playbooks::row_of(request.step.kind).name;
}

Result<std::optional<FirmwareState>> remembered(StepEnvironment& environment,
                                                const StepRequest& request) {
  return store::firmware_state(environment.store, kind_of(request), request.node.name);
}

Result<void> keep(StepEnvironment& environment, const StepRequest& request,
                  const FirmwareState& state) {
  return store::keep_firmware_state(environment.store, kind_of(request), request.node.name, state);
}

bool is_of(const FirmwareState& state, const StepRequest& request) {
  return state.run == request.run && state.step == request.step.name;
}

/// `now` is the same write, or puts the previous image back for it.
bool is_about(const UpdateHandle& now, const UpdateHandle& before) {
  if (now.component != before.component) return false;
  if (now.writes_back() && now.instead_of == before.version) return true;
  return now.version == before.version && now.pushed == before.pushed;
}

/// One write has one time of its push, whichever run goes on with it.
bool is_same_write(const FirmwareState& state, const UpdateHandle& handle) {
  if (store::is_settled(state.end)) return false;
  const auto before = firmware::update_handle_of(state.handle);
  return before && is_about(handle, *before);
}

/// The newest that a step finished. One of several before the same resets is not finished.
bool is_last(const std::vector<firmware::UpdateDone>& done, const UpdateHandle& handle) {
  return !done.empty() && !handle.more && done.back().component == handle.component &&
         done.back().version == handle.version;
}

/// The profile of today still leads to the version that was written.
bool is_requested(const inventory::Profile& profile, const UpdateHandle& handle) {
  const auto at = std::ranges::find(profile.firmware, handle.component,
                                    &inventory::ExpectedFirmware::component);
  if (at == profile.firmware.end()) return false;
  const auto& version = handle.writes_back() ? handle.instead_of : handle.version;
  const auto is_it = [&](const auto& stone) { return stone.version == version; };
  return at->version == version || std::ranges::any_of(at->stepping_stones, is_it);
}

/// As far as is known: what writes may hold the image, and be writing it now.
bool may_be_at_work(const UpdateHandle& handle) {
  using Phase = UpdateHandle::Phase;
  return handle.phase == Phase::pushing || handle.phase == Phase::writing ||
         handle.phase == Phase::starting;
}

/// Whether a step goes on with it of its own accord. What may be at work is awaited, whatever the
/// profile wants today.
bool goes_on_by_itself(const FirmwareState& state, const UpdateHandle& handle,
                       const inventory::Profile& profile) {
  if (state.end == End::open && may_be_at_work(handle)) return true;
  return (state.end == End::open || state.end == End::staged) && is_requested(profile, handle);
}

}  // namespace

Result<void> remember_handle(StepEnvironment& environment, const StepRequest& request,
                             const UpdateHandle& handle, std::string held) {
  TRY(const auto before, remembered(environment, request));
  const bool goes_on = before && is_same_write(*before, handle);
  const auto window = request.step.with.find("window");
  return keep(environment, request,
              {.written_by = goes_on ? before->written_by : request.run,
               .run = request.run,
               .step = request.step.name,
               .handle = to_text(handle),
               .held = std::move(held),
               .since = seconds_now(),
               .window = window == request.step.with.end() ? "" : window->second});
}

Result<void> remember_end(StepEnvironment& environment, const StepRequest& request,
                          StepAtUpdate at) {
  TRY(auto state, remembered(environment, request));
  if (!state || store::is_settled(state->end)) return ok();
  TRY(const auto handle, firmware::remembered_handle_of(state->handle, request.node.name));
  const bool is_done = at.end == End::done || (is_of(*state, request) && is_last(at.done, handle));
  const bool is_at_it = is_of(*state, request) && is_about(at.handle, handle);
  if (!is_done && !is_at_it) return ok();
  state->end = is_done ? End::done : at.end;
  state->since = seconds_now();
  state->words = is_done ? std::string{} : std::move(at.words);
  state->go_on = false;
  return keep(environment, request, *state);
}

Result<std::optional<UpdateHandle>> take_over_update(StepEnvironment& environment,
                                                     const StepRequest& request) {
  using Taken = std::optional<UpdateHandle>;
  TRY(auto state, remembered(environment, request));
  if (!state || store::is_settled(state->end)) return Taken{};
  TRY(auto handle, firmware::remembered_handle_of(state->handle, request.node.name));
  const auto& profile = environment.inventory.profile_of(request.node);
  if (!state->go_on && !goes_on_by_itself(*state, handle, profile)) return Taken{};
  // Until this step has kept a handle of its own, the next try begins here too.
  state->end = End::open;
  state->go_on = true;
  state->run = request.run;
  state->step = request.step.name;
  TRY(keep(environment, request, *state));
  return Taken{std::move(handle)};
}

}  // namespace cupel::steps
