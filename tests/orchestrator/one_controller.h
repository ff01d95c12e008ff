#pragma once
// One controller of one run: from what a journal holds to its end, or to where the journal dies.
#include <functional>

#include "orchestrator/engine/engine.h"
#include "playbooks/fwd.h"
#include "playbooks/plan.h"
#include "tests/orchestrator/mortal_journal.h"

namespace cupel::test {

struct Controlled {
  Result<void> ended;
  engine::RunState state;
};

/// `ready` sees the engine before it runs.
inline Controlled control_run(const playbooks::Plan& plan, MortalJournal& journal,
                              engine::Steps& steps, engine::Observer& observer,
                              const std::function<void(engine::Engine&)>& ready = {}) {
  auto state = engine::initial_state(plan);
  for (const auto& event : journal.events) apply(state, event);
  asio::io_context io;
  engine::Dispatcher dispatcher;
  engine::RealClock clock;
  engine::Engine engine{dispatcher, clock};
  engine.add({.run = 1,
              .plan = plan,
              .state = std::move(state),
              .journal = journal,
              .steps = steps,
              .observer = observer,
              .backoff = {std::chrono::milliseconds{1}, std::chrono::milliseconds{4}}});
  if (ready) ready(engine);
  auto ended = run_to_end(io, engine.run());
  return {std::move(ended), engine.state(1)};
}

}  // namespace cupel::test
