#include "orchestrator/store/resume.h"

#include "orchestrator/engine/state_codec.h"

namespace cupel::store {

Result<engine::RunState> standing(const Store& store, RunId run, const playbooks::Plan& plan) {
  auto state = engine::initial_state(plan);
  TRY(const auto snapshot, store.snapshot(run));
  if (snapshot) {
    auto decoded = engine::decode(snapshot->state, plan);
    const bool usable = decoded && decoded->last_sequence == snapshot->sequence;
    if (usable) state = *std::move(decoded);
  }
  TRY(const auto events, events_to_resume(store, run, state.last_sequence));
  for (const auto& event : events) apply(state, event);
  return state;
}

void RunSnapshots::keep(std::int64_t sequence, std::string_view state) {
  [[maybe_unused]] const auto kept = store_.keep_snapshot(run_, sequence, state);
}

}  // namespace cupel::store
