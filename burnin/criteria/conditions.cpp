#include "burnin/criteria/conditions.h"

#include <algorithm>
#include <cmath>

#include "burnin/criteria/robust.h"

namespace cupel::burnin {
namespace {

constexpr double kMostMissing = 0.1;    // of the members
constexpr double kWorthIt = 0.95;       // the spread must shrink to this share
constexpr std::size_t kMembersFor = 8;  // each condition
using Row = std::array<double, kCovariates>;
using Condition = FleetModel::Condition;

double scaled(const Condition& condition, const FleetMember& member) {
  const double value = member.covariates[condition.covariate];
  return std::isfinite(value) ? (value - condition.center) / condition.width : 0;
}

std::vector<Condition> usable(std::span<const FleetMember* const> members) {
  std::vector<Condition> found;
  for (std::size_t c = 0; c < kCovariates; ++c) {
    std::vector<double> known;
    for (const auto* each : members)
      if (std::isfinite(each->covariates[c])) known.push_back(each->covariates[c]);
    const auto missing = members.size() - known.size();
    if (known.empty() ||
        static_cast<double>(missing) > kMostMissing * static_cast<double>(members.size()))
      continue;
    const auto center = trimmed_center(known);
    if (center.spread > 1e-9 * std::max(std::abs(center.location), 1.0))
      found.push_back({c, center.location, center.spread, 0});
  }
  return found;
}

/// Gaussian elimination of so few unknowns, with a little on the diagonal against collinear ones.
Row solved(std::array<Row, kCovariates> matrix, Row right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) matrix[i][i] += 1e-6 * (1 + matrix[i][i]);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t row = i + 1; row < count; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (std::size_t column = i; column < count; ++column)
        matrix[row][column] -= factor * matrix[i][column];
      right[row] -= factor * right[i];
    }
  Row found{};
  for (std::size_t i = count; i-- > 0;) {
    double sum = right[i];
    for (std::size_t column = i + 1; column < count; ++column)
      sum -= matrix[i][column] * found[column];
    found[i] = sum / matrix[i][i];
  }
  return found;
}

/// Tukey's: what lies beyond counts nothing.
double weight(double away, double spread) {
  constexpr double kReach = 4.685;
  const double share = spread > 0 ? away / (kReach * spread) : 0;
  return std::abs(share) >= 1 ? 0 : (1 - share * share) * (1 - share * share);
}

class Regression {
 public:
  Regression(std::span<const FleetMember* const> members, const std::vector<double>& values,
             std::vector<Condition> conditions)
      : values_{values}, conditions_{std::move(conditions)}, rows_(values.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t c = 0; c < conditions_.size(); ++c)
        rows_[i][c] = scaled(conditions_[c], *members[i]);
  }

  std::vector<Condition> fit() {
    constexpr int kRounds = 8;
    const double before = trimmed_center(values_).spread;
    auto rest = values_;
    for (int round = 0; round < kRounds; ++round) {
      const auto center = trimmed_center(rest);
      improve(rest, center);
    }
    const bool worth_it = trimmed_center(rest).spread < kWorthIt * before;
    return worth_it ? conditions_ : std::vector<Condition>{};
  }

 private:
  void improve(std::vector<double>& rest, const Center& center) {
    const auto count = conditions_.size();
    std::array<Row, kCovariates> matrix{};
    Row right{};
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const double away = rest[i] - center.location;
      const double w = weight(away, center.spread);
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) matrix[a][b] += w * rows_[i][a] * rows_[i][b];
        right[a] += w * rows_[i][a] * away;
      }
    }
    const auto step = solved(matrix, right, count);
    for (std::size_t c = 0; c < count; ++c) conditions_[c].factor += step[c];
    for (std::size_t i = 0; i < rest.size(); ++i)
      for (std::size_t c = 0; c < count; ++c) rest[i] -= step[c] * rows_[i][c];
  }

  const std::vector<double>& values_;
  std::vector<Condition> conditions_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Condition> fit_conditions(std::span<const FleetMember* const> members,
                                      const std::vector<double>& values) {
  auto conditions = usable(members);
  if (conditions.empty() || members.size() < kMembersFor * (conditions.size() + 1)) return {};
  return Regression{members, values, std::move(conditions)}.fit();
}

double effect_of(std::span<const Condition> conditions, const FleetMember& member) {
  double sum = 0;
  for (const auto& each : conditions) sum += each.factor * scaled(each, member);
  return sum;
}

}  // namespace cupel::burnin
