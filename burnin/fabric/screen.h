#pragma once
// All rounds of a measurement by pairs, from the first pair to the verdict. The caller measures
// what next_flows() says, all of it at once, and hands the numbers to take(). Pure: no clock, no
// chance.
#include <array>
#include <span>
#include <utility>

#include "burnin/fabric/culprits.h"
#include "burnin/fabric/rounds.h"

namespace cupel::burnin::fabric {

struct ScreenOptions {
  double floor = 0;          // what a flow must carry, whatever the fleet reads
  int more_rounds = 2;       // beyond the fixed ones, where questions are open
  int rounds_for_dips = 3;   // at most, of parts that dip more often than others
  int rounds_again = 3;      // at most, of slow flows that no part explains
  int rounds_of_traces = 1;  // at most, where traced routes leave a question open
  int repeats = 2;           // of a reading that is not clearly fast
  int repeats_in_doubt = 8;  // the same, in the rounds beyond the fixed ones
};

/// Rounds beyond the fixed ones, at most.
constexpr int most_rounds_beyond(const ScreenOptions& options) {
  return options.more_rounds + options.rounds_for_dips + options.rounds_again +
         options.rounds_of_traces;
}

/// Readings one after the other, at most: of each round the first and its repeats.
constexpr int most_readings(const ScreenOptions& options) {
  return kMostFixedRounds * (1 + options.repeats) +
         most_rounds_beyond(options) * (1 + options.repeats_in_doubt);
}

/// A flow, and the route that the port counters of its leaves showed.
using TracedFlow = std::pair<Flow, Route>;

class PairScreen {
 public:
  PairScreen(Wiring wiring, ScreenOptions options);
  PairScreen(const PairScreen&) = delete;
  PairScreen& operator=(const PairScreen&) = delete;

  /// What to measure now, disjoint in nodes but for the rails and ways of one pair. Empty: all is
  /// measured.
  std::span<const Flow> next_flows() const { return asked_; }
  /// Whether these were measured in this round already.
  bool repeats() const { return repeat_ > 0; }
  /// Of one unit, in the order of next_flows(); NaN where nothing was measured.
  void take(std::span<const double> readings);
  /// Once next_flows() is empty: for the verdict.
  void learn_routes(std::span<const TracedFlow> traced);
  /// Once all routes are learned: next_flows() has what settles the questions that they open, where
  /// anything does.
  void ask_again();
  /// The node does not take part any more.
  void leave(int node);
  bool is_absent(int node) const { return absent_.at(static_cast<std::size_t>(node)); }

  Culprits culprits() const;
  /// Of flows inside a leaf, and across.
  const Limits& limits(bool across) const { return readings_.limits()[across ? 1 : 0]; }
  /// The median of all flows of this kind is below the floor: no single part can be blamed.
  bool below_floor(bool across) const;
  int rounds() const { return static_cast<int>(round_); }
  /// Of the fixed rounds; what is between these nodes was not measured.
  std::size_t left_out() const { return pairs_left_out(topology_, fixed_); }
  const Topology& topology() const { return topology_; }
  const Readings& readings() const { return readings_; }

 private:
  std::vector<Flow> flows_of_round();
  std::vector<Flow> flows_beyond();
  std::vector<Flow> flows_for_dips();
  void begin_round();
  bool begin_repeat();
  void learn();
  bool wants_repeat(FlowId id) const;
  bool is_control(FlowId id) const;

  Topology topology_;
  ScreenOptions options_;
  std::vector<Round> fixed_;
  Readings readings_;
  std::vector<bool> absent_;
  // Of the fixed rounds, by kind: what limits are learned from.
  std::array<std::vector<double>, 2> firsts_{};
  std::array<std::vector<Repeated>, 2> repeated_{};
  std::array<int, 2> rounds_of_controls_{};
  std::vector<Flow> asked_;
  std::vector<FlowId> ids_;    // of what is asked
  std::vector<double> first_;  // of the round's flows
  std::vector<double> second_;
  FlowId begin_ = 0;  // the round's first flow
  std::size_t round_ = 0;
  std::vector<Flow> again_;  // slow, explained by no part, and measured once more
  int rounds_again_ = 0, rounds_for_dips_ = 0, rounds_of_questions_ = 0;
  int rounds_of_traces_ = 0;
  bool asks_again_ = false;
  bool for_dips_ = false;  // this round: each flow is read as often
  int repeat_ = 0;
};

}  // namespace cupel::burnin::fabric
