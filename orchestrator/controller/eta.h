#pragma once
// When a run will be over, by the forecast of what is left of it: slots, watts and partners count.
// An estimate for people: each step takes what is expected, none fails, and nobody else is there.
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"
#include "playbooks/plan.h"

namespace cupel::controller {

/// Upwards: what is reported anew every second would be written every second.
engine::WallTime to_ten_seconds(engine::WallTime time);

class Eta {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both must outlive it.
  Eta(const playbooks::Plan& plan, const inventory::Inventory& inventory)
      : plan_{plan}, inventory_{inventory} {}

  /// To ten seconds. Reckoned anew when something has happened, at most so often that it costs one
  /// part in a hundred of a core. Where more than kMostSteps are left, the longest node's own time.
  engine::WallTime end(const engine::RunState& state, engine::WallTime wall, Clock::time_point now);

  static constexpr std::size_t kMostSteps = 20'000;

 private:
  const playbooks::Plan& plan_;
  const inventory::Inventory& inventory_;
  engine::WallTime end_{};
  std::int64_t reckoned_at_ = -1;  // the state's sequence
  Clock::time_point stale_{};      // then even where nothing has happened
  Clock::time_point not_before_{};
};

/// What is left of the plan: steps that are over are gone, one that runs takes only the rest of its
/// time. Pure.
playbooks::Plan rest_of(const playbooks::Plan& plan, const engine::RunState& state,
                        engine::WallTime wall);

}  // namespace cupel::controller
