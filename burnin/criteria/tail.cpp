#include "burnin/criteria/tail.h"

#include <algorithm>
#include <cmath>

#include "burnin/criteria/robust.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kFewestForShape = 256;
constexpr double kAway = 3;                // spreads
constexpr double kNormalAway = 0.0026998;  // of normal values lie so far away, on both sides
constexpr double kFar = 6;                 // spreads behind: may be bad
constexpr double kMostFar = 0.05;          // of the values: more are a group
/// Thin tails are seen with an error of 2 of 1,000 in 512 values of Student's distribution with 4
/// degrees of freedom. So many normal limits away lie few enough of the values of such fleets.
constexpr double kThin = 1.75;
/// Of Student's distribution with 4 degrees of freedom lie 3 / x^4 beyond x, and the spread of its
/// middle, as trimmed_center() learns it, is this.
constexpr double kStudent = 3, kPower = 0.25, kStudentSpread = 1.13;
/// Where the tail of the values is itself long: what lies beyond a twentieth of them falls off
/// as an exponential distribution, whose twentieth begins this many scales behind its median.
constexpr double kTwentieth = 0.05, kExponential = 2.302585;

/// The distance beyond which a twentieth of the values lie.
double twentieth(std::span<const double> behind) {
  std::vector<double> sorted(behind.begin(), behind.end());
  const auto at = static_cast<std::ptrdiff_t>(kTwentieth * static_cast<double>(sorted.size()));
  std::ranges::nth_element(sorted, sorted.begin() + at, std::greater{});
  return std::max(0.0, sorted[static_cast<std::size_t>(at)]);
}

}  // namespace

bool has_thin_tails(std::span<const double> behind, double spread) {
  if (behind.size() < kFewestForShape || spread <= 0) return false;
  std::size_t away = 0, far = 0;
  for (const double each : behind) {
    if (std::abs(each) > kAway * spread) ++away;
    if (each > kFar * spread) ++far;
  }
  const auto count = static_cast<double>(behind.size());
  const double may_be_bad = std::max(2.0, kMostFar * count);
  const double expected = kNormalAway * count;
  const double most = expected + 2 * std::sqrt(expected) + 1;
  return static_cast<double>(far) <= may_be_bad && static_cast<double>(away - far) <= most;
}

double tail_limit(std::span<const double> behind, double spread, double alarms) {
  const double share = std::clamp(alarms, 1e-12, 0.1);
  if (has_thin_tails(behind, spread)) return -kThin * normal_quantile(share) * spread;
  const double student = std::pow(kStudent / share, kPower) / kStudentSpread * spread;
  if (behind.empty()) return student;
  const double own = twentieth(behind) * (1 + std::log(kTwentieth / share) / kExponential);
  return std::max(student, own);
}

}  // namespace cupel::burnin
