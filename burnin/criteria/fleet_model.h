#pragma once
// What is expected of a healthy part, learned from many: the fleet's centre, corrected for the
// position, for what was measured beside it (clock, power, temperature, inlet), and for its node.
// The spread that remains is learned from all parts together, which is what makes it exact enough.
// What verdicts use; how it was chosen: docs/build/decisions/fleet-criteria.md. Pure.
#include <map>
#include <span>

#include "burnin/criteria/population.h"

namespace cupel::burnin {

/// Which corrections are made. Without `nodes` and `conditions` it is a comparison by position.
struct Corrections {
  bool positions = true;
  bool conditions = true;
  bool nodes = true;
};

/// Works on logarithms, turned so that less is worse: a deviation is a share of the value.
struct FleetModel {
  Comparison::State state = Comparison::State::too_few;
  bool less_is_better = false;
  double center = 0;
  std::map<std::uint32_t, double> positions{};  // what each adds
  struct Condition {
    std::size_t covariate = 0;
    double center = 0, width = 1;  // of the covariate, by which it is scaled
    double factor = 0;             // what one width of it adds
  };
  std::vector<Condition> conditions{};
  double spread = 0;        // of parts about what is expected of them
  double node_spread = 0;   // of nodes as a whole; 0: nodes are not reported apart
  double node_prior = 0;    // variance between healthy nodes
  double part_slow = 0;     // in spreads: what is further behind is slow
  double node_slow = 0;     // in spreads of nodes
  double part_limit = 0;    // in spreads: what is further behind is an outlier
  double node_limit = 0;    // in spreads of nodes
  double divide = 0;        // of a split fleet: below it lies the worse group
  std::size_t members = 0;  // it was learned from
  std::size_t nodes = 0;
};

/// Never from values that are not finite or not above 0: such members are left out.
FleetModel learn(const Population& population, const FleetLimits& limits,
                 Corrections corrections = {});

/// Where the members of one node stand, which need not be among those that the model was learned
/// from. Empty where the model is of too few. A node that is an outlier as a whole, or slow, is so
/// with all its members. Slow: beyond what chance explains of a normal distribution, and a percent
/// or more; or most of FleetLimits::least_effect, however wide the spread is. An outlier: beyond
/// least_effect, and beyond what the tail of the fleet explains (tail.h).
std::vector<Standing> standings(const FleetModel& model, std::span<const FleetMember> of_one_node);

/// All of a population at once.
Comparison fleet_comparison(const Population& population, const FleetLimits& limits,
                            Corrections corrections = {});

}  // namespace cupel::burnin
