#pragma once
// Nodes over which collectives are slow now and then: how many readings of small teams with a node
// were slow, against the share of those without it. A team tells nothing of which of its nodes was
// slow, so that the node that explains most is taken first, with all its teams. Pure.
#include <cstddef>
#include <string>
#include <vector>

namespace cupel::burnin::fabric {

class NodeDips {
 public:
  /// `loss`: of what teams of this size reach, 0 to 1; 0: it was not slow.
  void add(std::vector<std::size_t> team, double loss);

  /// Slow teams that have no node of which is_explained is set.
  std::size_t slow_teams(const std::vector<bool>& is_explained) const;

  /// Some node was slow more often than 1 node of a run is by chance.
  bool is_any_odd(const std::vector<bool>& is_explained) const;

  struct Suspect {
    std::size_t node = 0;
    int dips = 0, readings = 0;
    double loss = 0;    // in the middle of its slow readings
    double usual = 0;   // share of the readings without it that were slow
    double chance = 1;  // that some node of a run is slow so often by chance; 1: at least that
    /// Less than 1 run in 50,000 has such a node by chance (else 1 in 100), and what joins it with
    /// certain others does not explain it.
    bool is_sure = false;
  };
  /// The most certain first; at most 64. Teams with a node of which is_explained is set do not
  /// count. `is_explained` has an entry for each node.
  std::vector<Suspect> suspects(std::vector<bool> is_explained) const;

 private:
  struct Team {
    std::vector<std::size_t> nodes;
    double loss = 0;
  };
  bool has_any(const Team& team, const std::vector<bool>& nodes) const;
  Suspect most_certain(const std::vector<bool>& is_explained) const;
  bool may_be_of_others(const Suspect& suspect, const std::vector<bool>& is_explained) const;

  std::vector<Team> teams_;
};

/// "in 9 of 24 readings, 38 % below what such teams reach; 2.1 % of the readings without it are
/// slow".
std::string words_on(const NodeDips::Suspect& suspect);

}  // namespace cupel::burnin::fabric
