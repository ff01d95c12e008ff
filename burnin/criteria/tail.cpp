#include "burnin/criteria/tail.h"

#include <algorithm>
#include <cmath>

#include "burnin/criteria/robust.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kFewestForShape = 480;  // 64 nodes of eight parts, less a few
constexpr double kBegins = 2;                 // spreads: beyond them lies the tail
constexpr double kFar = 6;                    // spreads behind: may be bad
constexpr double kMostFar = 0.05;             // of the values: more are a group
/// Mean distance beyond kBegins, in spreads, in both tails together: 0.017 of normal values. Of 480
/// values of Student's distribution with 4 degrees of freedom it is this or less in 2 of 10,000
/// fleets, of 512 normal ones in more than 90 of 100. A count beyond three spreads tells the two
/// apart less well: it calls 2 of 1,000 fleets of 512 such values thin, and a tenth of those of
/// 256.
constexpr double kThinTails = 0.025;
/// So many normal limits away lie 1 to 2 % of the parts of a Student fleet that is taken for a
/// normal one, in one of 40 rates: the rarer that is, the less it adds to the false alarms.
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
  std::size_t far = 0;
  double beyond = 0;
  for (const double each : behind) {
    const double away = each / spread;
    if (away > kFar)
      ++far;
    else
      beyond += std::clamp(std::abs(away), kBegins, kFar) - kBegins;
  }
  const auto count = static_cast<double>(behind.size());
  return static_cast<double>(far) <= kMostFar * count && beyond <= kThinTails * count;
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
