#pragma once
// The same number of many like parts, and where each part stands among the others. Data only:
// fleet_model.h compares them.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "burnin/measures/measure.h"

namespace cupel::burnin {

/// What a rate under load depends on besides the part's health. NaN: not measured.
enum class Covariate : std::uint8_t { clock, power, temperature, inlet };
inline constexpr std::size_t kCovariates = 4;
using Covariates = std::array<double, kCovariates>;
constexpr Covariates no_covariates() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {kNone, kNone, kNone, kNone};
}

/// One part's number. Where a part was measured several times: their median.
struct FleetMember {
  std::uint32_t node = 0;      // which machine, counted from 0
  std::uint32_t position = 0;  // which place in it, counted from 0: gpu3 is compared with gpu3
  double value = 0;
  Covariates covariates = no_covariates();
};

struct Population {
  std::vector<FleetMember> members{};
  Better better = Better::more;
};

/// As much behind its like a part is worth exchanging: a share of the value. Source: the rule of
/// SuperBench's data diagnosis, `variance`, with the condition -0.05.
inline constexpr double kLeastEffect = 0.05;

struct FleetLimits {
  int fewest_nodes = 6;        // with fewer, nothing is judged
  double false_alarms = 1e-4;  // share of healthy parts that may stand out, one-sided
  double noise = 0.0025;       // the spread is never taken for less: a share of the value
  /// What is less behind its like does not stand out: a share of the value. Nothing: by measure
  /// (fleet_measures.h).
  std::optional<double> least_effect{};

  friend bool operator==(const FleetLimits&, const FleetLimits&) = default;
};

/// Where one member stands.
struct Standing {
  double expected = 0;  // of a healthy part at this place and under these conditions
  double limit = 0;     // the worst value that is not slow there; of an outlier, that is none
  double score = 0;     // how far beyond expected on the bad side, in spreads
  bool slow = false;    // worse than its like, and not so far that it must be bad
  bool outlier = false;
  bool doubtful = false;  // in the worse one of two large groups: nothing says which is right
};

struct Comparison {
  enum class State : std::uint8_t {
    judged,
    too_few,  // members or nodes
    split,    // two large groups, far apart: see Standing::doubtful
  } state = State::too_few;
  double typical = 0;                 // the centre of all values
  double spread = 0;                  // standard deviation of healthy parts, a share of the value
  std::vector<Standing> standings{};  // one for each member, in their order; empty if too few
};

}  // namespace cupel::burnin
