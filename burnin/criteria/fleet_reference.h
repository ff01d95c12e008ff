#pragma once
// The numbers of many machines of one profile, what is learned of them, and one machine beside
// that. Pure. Statistics are kept as numbers come: learning costs the same whether a thousand
// machines were measured or ten thousand.
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "burnin/compared.h"
#include "burnin/criteria/fleet_model.h"
#include "burnin/criteria/judge.h"

namespace cupel::burnin {

/// What is compared with what: one measure of one stage, of parts of one kind.
struct SeriesKey {
  std::string stage{};
  std::string measure{};
  std::string kind{};  // "gpu"; empty: of the node as a whole
  friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
};

/// What healthy machines reach, by series.
struct FleetReference {
  struct Series {
    FleetModel model{};
    std::string unit{};
    std::vector<std::string> positions{};  // by their number in the model
  };
  std::map<SeriesKey, Series> series{};
  std::size_t nodes = 0;  // that it was learned from
};

/// How a node's parts stand in all series of one stage.
struct NodeInStage {
  std::string node{};
  double farthest = 0;  // of a part from what is expected of it, in spreads, either way
  bool stands_out = false;
  bool is_alike = true;  // no part stands out, is slow, or in the worse of two groups
};

class FleetSamples {
 public:
  /// What a stage found on a node. Once more of the same: in place of it. Of one series no more
  /// than the first 1024 nodes are kept, of a node no more than 1024 parts.
  void take(const std::string& node, const std::string& stage, const Findings& findings);
  bool has(const std::string& node) const { return nodes_.contains(node); }
  std::size_t nodes() const { return nodes_.size(); }

  /// `limits.false_alarms` is what one healthy part may be accused with in all its series together.
  /// A series is learned again only where something has come to it, or its limits are others.
  FleetReference learn(const FleetLimits& limits);

  /// The nodes that were measured in the stage, by a reference that was learned of these samples:
  /// the one that is nearest to what is expected comes first.
  std::vector<NodeInStage> nodes_in(const FleetReference& reference, std::string_view stage) const;

 private:
  struct Learned {
    FleetLimits limits{};
    FleetModel model{};
  };
  struct Series {
    std::string unit{};
    std::vector<std::string> positions{};
    std::map<std::string, std::uint32_t, std::less<>> position{};
    std::unordered_map<std::uint32_t, std::vector<FleetMember>> members{};  // by node
    std::optional<Learned> learned{};                                       // from just these
  };
  void take_inlet(std::uint32_t node, double inlet);
  Population population(const SeriesKey& key, const Series& series) const;

  std::map<SeriesKey, Series> series_{};
  std::unordered_map<std::string, std::uint32_t> nodes_{};
  std::map<std::uint32_t, double> inlets_{};
};

/// Every number of the machine that the reference can judge, in the reference's order. Of several
/// parts of a node in one series that are alike, only the one nearest to its limit: `all` is for
/// each of them.
std::vector<Compared> compare(const FleetReference& reference, const FindingsByStage& findings,
                              bool all = false);

}  // namespace cupel::burnin
