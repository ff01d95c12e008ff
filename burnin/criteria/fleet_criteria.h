#pragma once
// How the machines of a run are compared with each other and with their own earlier runs: what
// `with:` of a verdict step says. Data.
#include <array>
#include <optional>

#include "base/result.h"
#include "burnin/criteria/population.h"
#include "burnin/job.h"

namespace cupel::burnin {

struct FleetCriteria {
  bool judge = true;                     // else machines are not compared with each other
  int fewest_nodes = 6;                  // with fewer, nothing is judged
  double false_alarms = 1e-4;            // share of healthy parts that may stand out in a run
  double noise = 0.0025;                 // the spread is never taken for less: a share of the value
  std::optional<double> least_effect{};  // what is less behind its like does not stand out: a
                                         // share of the value; nothing: by measure
  bool history = true;                   // a machine beside its own earlier runs
  int fewest_runs = 3;                   // earlier ones
  double history_noise = 0.005;          // as `noise`, between runs
  double trend_alarms = 1e-3;            // share of healthy parts that may be reported to decay

  FleetLimits limits() const { return {fewest_nodes, false_alarms, noise, least_effect}; }
};

inline constexpr std::array<std::string_view, 2> kCompareOrNot{"yes", "no"};

/// What `with:` of a verdict may carry.
inline constexpr std::array kFleetParameters{
    ParameterRow{"fleet", ParameterRow::Kind::word,
                 "compare the node's rates with those of other nodes", "yes", kCompareOrNot},
    ParameterRow{"fewest_nodes", ParameterRow::Kind::text,
                 "with fewer nodes measured, none is compared", "6"},
    ParameterRow{"false_alarms", ParameterRow::Kind::text,
                 "the share of healthy parts that may stand out by comparison", "0.0001"},
    ParameterRow{"noise", ParameterRow::Kind::text,
                 "the spread of healthy parts is never taken for less: a share of the value",
                 "0.0025"},
    ParameterRow{"least_effect", ParameterRow::Kind::text,
                 "a part that is less behind what is expected of it does not stand out: a share of "
                 "the value, or by measure",
                 "by measure"},
    ParameterRow{"history", ParameterRow::Kind::word,
                 "compare the node's rates with those of its earlier runs", "yes", kCompareOrNot},
    ParameterRow{"fewest_runs", ParameterRow::Kind::text,
                 "with fewer earlier runs, they are not compared", "3"},
    ParameterRow{"history_noise", ParameterRow::Kind::text, "as noise, between runs", "0.005"},
    ParameterRow{"trend_alarms", ParameterRow::Kind::text,
                 "the share of healthy parts that may be reported to decay", "0.001"},
};

/// Errors: kInvalid, naming the parameter and what it may be.
Result<FleetCriteria> fleet_criteria(const Parameters& with);

}  // namespace cupel::burnin
