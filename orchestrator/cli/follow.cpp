#include "orchestrator/cli/follow.h"

#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::cli {
namespace {

constexpr std::chrono::milliseconds kLook{500};

bool over(engine::RunPhase phase) {
  using engine::RunPhase;
  return phase == RunPhase::ended || phase == RunPhase::cancelled || phase == RunPhase::interrupted;
}

/// What came since the last look. What cannot be read now is read at the next.
void read_on(const store::Store& store, engine::RunId run, engine::RunState& state,
             std::int64_t& sequence, RunView& progress) {
  const auto events = store.events_after(run, sequence);
  if (!events) return;
  for (const auto& event : *events) {
    apply(state, event);
    progress.on_event(event, state);
    sequence = event.sequence;
  }
}

bool waits_for_hands(const controller::RunStatus* status) {
  return status != nullptr && (status->halted || status->hands_until);
}

Task<Followed> look_until_over(store::Store& store, const playbooks::Plan& plan, engine::RunId id,
                               RunView& progress, bool ends_at_hands) {
  auto state = engine::initial_state(plan);
  std::int64_t sequence = 0;
  for (;;) {
    // In this order: what a controller wrote before it went is not missed.
    const bool alive = store::ControllerLock::holder(store.folder()).has_value();
    const auto run = store.run(id);
    const auto status = controller::read_status(store.folder());
    read_on(store, id, state, sequence, progress);
    const auto* of_run = controller::find(status, id);
    progress.hold(controller::held_of(of_run));
    progress.tick();
    if (run && over(run->phase)) co_return Followed::to_its_end;
    if (ends_at_hands && waits_for_hands(of_run)) co_return Followed::waits_for_hands;
    if (run && !alive)
      co_return run->phase == engine::RunPhase::submitted ? Followed::never_begun
                                                          : Followed::abandoned;
    const auto paused = co_await pause_for(kLook);
    if (!paused) co_return Followed::left;
  }
}

}  // namespace

Followed follow(const Context& context, store::Store& store, const playbooks::Plan& plan,
                engine::RunId run) {
  asio::io_context io{1};
  const auto progress = make_progress(context, plan, run);
  progress->listen(io.get_executor());
  auto looking = look_until_over(store, plan, run, *progress, ends_when_halted(context));
  const auto ended = run_to_end(io, until_interrupted(std::move(looking)));
  progress->finish();
  return ended.value;
}

}  // namespace cupel::cli
