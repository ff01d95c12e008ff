#pragma once
// Which uplinks a flow takes, by the port counters of its two leaves while it runs: where no table
// says it, or to see whether a table is right. Which flows are traced, and what growth of counters
// means. Pure: scripts and tools are pair_traces.h.
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "burnin/fabric/reasons.h"
#include "burnin/fabric/screen.h"

namespace cupel::burnin::fabric {

inline constexpr int kMostTraceRounds = 8;

/// What one flow's trace came to.
struct Trace {
  enum class End : std::uint8_t {
    traced,
    spread,   // over several uplinks: routing is adaptive
    crowded,  // other traffic is as large as the flow
    unfit,    // no uplink's counter grew as the flow has sent
    apart,    // the uplinks of the two leaves end at different spines
    unread,
  };
  End end = End::unread;
  Route route{};  // where it was traced
  int ports = 0;  // where it was spread: over so many
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// `bytes`: what the flow has sent. `sent`, `received`: bytes by which PortXmitData of the uplinks
/// of the sender's leaf, and PortRcvData of those of the receiver's, grew meanwhile; by number of
/// the uplink; NaN: not read, or the counter went backwards. An uplink is the flow's where its
/// growth is at least 80 % of the flow, and all others together have less than that.
Trace trace_of(const Topology& topology, const Flow& flow, double bytes,
               std::span<const double> sent, std::span<const double> received);

/// Round by round: slow flows that no part explains, and fast ones that may clear what they share
/// with them. No two flows of a round leave one leaf, or reach one: each is alone on its uplinks.
/// The route of a slow flow counts where it is slow alone, too: one that is not has met another on
/// an uplink, which is no fault of a part.
class UplinkTraces {
 public:
  /// Begin when all else is measured. The screen must outlive it.
  explicit UplinkTraces(PairScreen& screen);

  /// What to measure now. Empty: nothing is left that a trace would tell.
  std::span<const Flow> next_flows() const { return asked_; }
  /// Both in the order of next_flows(); Gb/s, NaN where nothing was measured.
  void take(std::span<const double> readings, std::span<const Trace> traces);
  int rounds() const { return rounds_; }

  /// What was traced, what was not and why; nothing where no flow was to be traced.
  std::vector<std::string> reasons(const Names& names) const;

 private:
  void begin_round();
  void end();
  std::vector<Flow> candidates(const Culprits& found);
  void choose(std::span<const Flow> candidates);
  bool may_trace(const Flow& flow) const;
  bool is_between_leaves(std::span<const PartId> parts) const;
  bool is_fast_alone(const Flow& flow, double gigabits) const;
  void count(const Flow& flow, const Trace& trace);

  PairScreen& screen_;
  std::vector<Flow> asked_{};
  std::set<std::array<int, 3>> tried_{};  // sender's leaf, receiver, rail
  std::set<std::array<int, 3>> slow_{};   // sender, receiver, rail
  std::set<std::array<int, 2>> ends_{};   // node and rail of slow flows
  std::set<int> nodes_{};                 // of slow flows
  std::vector<std::pair<Flow, Trace>> not_traced_{};
  int rounds_ = 0, rounds_without_slow_ = 0;
  int traced_ = 0, by_another_than_tables_ = 0, fast_alone_ = 0;
};

}  // namespace cupel::burnin::fabric
