#pragma once
// Tracing flows on the nodes: where the leaves' counters are (ibnetdiscover, once), and perfquery
// of both leaves before and after a flow, by the flow's sender. What is traced and what it means is
// uplink_traces.h.
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/fabric/pair_jobs.h"
#include "burnin/fabric/uplink_traces.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

/// Nodes that look for switches, where the ones before could not.
inline constexpr std::size_t kMostLooks = 3;
/// What a look takes at most, and what reading counters adds to a round.
inline constexpr std::chrono::seconds kMostOfALook{250}, kMostOfCounters{160};

/// LIDs of leaves, in the order of names and GUIDs, of what ibnetdiscover printed; 0: not listed,
/// or two switches have its name. A switch is known by the GUID of the plan where it has one, else
/// by its name, without regard to case. Source: infiniband-diags 44, ibnetdiscover.
std::vector<int> lids_of(std::string_view printed, const Names& names);

/// Begun once all flows are measured. None of its references may end before it.
class PairTraces {
 public:
  PairTraces(PairScreen& screen, const Names& names, std::span<const PairNode> nodes,
             Perftest perftest);

  /// A job for each node, or none of it; empty: all is traced, or nothing can be.
  std::vector<std::optional<MemberJob>> next();
  /// pair_report() of that round, in the order of the nodes; nothing of those that rested or
  /// failed.
  void take(std::span<const std::optional<Output>> outputs);
  std::vector<std::string> reasons() const;

 private:
  int leaf_of(int node, int rail) const { return screen_.topology().port(node, rail).leaf; }
  const PairNode& node_at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  std::vector<int> ports_of(int leaf) const;
  std::vector<CounterQuery> queries(const Flow& flow) const;
  std::vector<double> growth(std::string_view before, std::string_view after, int leaf,
                             bool sent) const;
  std::vector<std::string> hcas_of_islands(int node) const;
  std::optional<int> next_looker() const;
  std::vector<std::optional<MemberJob>> look(int node) const;
  std::chrono::seconds limit_of_queries() const;
  std::vector<std::optional<MemberJob>> measure() const;
  void take_look(const std::optional<Output>& output);
  void take_flows(std::span<const std::optional<Output>> outputs);
  Trace trace(const Flow& flow, const Output& output, double gigabits) const;

  PairScreen& screen_;
  const Names& names_;
  std::span<const PairNode> nodes_;
  Perftest perftest_;
  UplinkTraces traces_;
  std::vector<int> lids_{};    // of leaves; empty: not known yet
  std::vector<int> looked_{};  // nodes, in their order
  bool looks_ = false;
  std::string why_not_{};  // no node could look
};

}  // namespace cupel::burnin::fabric
