#pragma once
// What a run will be like, before anything is touched: its plan, through the same dispatcher, in
// virtual time, each step taking what is expected of it and none failing. Pure; no promise, and not
// the engine: it knows of no retries, no people and no other runs.
#include <optional>

#include "inventory/fwd.h"
#include "orchestrator/engine/lower_bound.h"
#include "orchestrator/engine/power_curve.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

struct Forecast {
  /// Of all nodes that do it, counted from the run's begin.
  struct Step {
    std::string name;
    std::chrono::seconds first_begin{};
    std::chrono::seconds last_end{};
    std::size_t nodes = 0;    // that do it
    std::size_t skipped = 0;  // that have no partner for it
    std::size_t most_at_once = 0;
    std::chrono::seconds waited{};  // the longest from being ready to its begin
  };
  /// A level of the power tree that carries nodes of the plan.
  struct Level {
    inventory::PowerNode::Kind kind{};
    std::string name;
    double limit_watts = 0;  // what may be planned with; 0: none is reported
    double idle_watts = 0;
    double peak_watts = 0;
    std::vector<double> watts{};  // the most in each of `kSamples` equal parts of the run
  };
  /// A step that these nodes can never begin, or never get past.
  struct Never {
    std::string step;
    std::vector<std::string> nodes;
    std::string why;
  };
  static constexpr std::size_t kSamples = 120;

  std::vector<Step> steps{};    // in the order in which they first begin
  std::vector<Level> levels{};  // room first
  std::chrono::seconds end{};
  std::vector<LowerBound> bounds{};  // the tightest first; none if nothing is to be done
  std::vector<Never> never{};
  std::size_t begun = 0;  // steps in all

  std::chrono::seconds bound() const { return bounds.empty() ? end : bounds.front().at_least; }
  /// 1: no order of the steps could be quicker.
  double over_bound() const;
};

/// The plan's own slots count too, the smaller where both are reported. The same plan gives the
/// same forecast. Steps that depend on what is found are taken as done.
Forecast forecast(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                  Limits limits = {});

}  // namespace cupel::engine
