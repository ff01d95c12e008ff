#include "burnin/criteria/fleet_criteria.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/parameters.h"

namespace cupel::burnin {
namespace {

Result<double> between(const Parameters& with, std::string_view name, double least, double most) {
  const auto text = text_parameter(kFleetParameters, with, name);
  const auto value = number<double>(text);
  if (value && *value >= least && *value <= most) return *value;
  return Error{Code::kInvalid, fmt::format("{} must be a number from {} to {}, not '{}'", name,
                                           plain(least), plain(most), printable(text))};
}

}  // namespace

Result<FleetCriteria> fleet_criteria(const Parameters& with) {
  constexpr double kLeast = 1e-6, kMost = 0.1, kMostEffect = 0.5;
  FleetCriteria criteria;
  TRY(const auto fleet, word_parameter(kFleetParameters, with, "fleet"));
  TRY(const auto history, word_parameter(kFleetParameters, with, "history"));
  TRY(const auto nodes, between(with, "fewest_nodes", 4, 1000));
  TRY(const auto runs, between(with, "fewest_runs", 2, 12));
  TRY(criteria.false_alarms, between(with, "false_alarms", kLeast, kMost));
  TRY(criteria.noise, between(with, "noise", kLeast, kMost));
  if (text_parameter(kFleetParameters, with, "least_effect") != "by measure") {
    TRY(criteria.least_effect, between(with, "least_effect", kLeast, kMostEffect));
  }
  TRY(criteria.history_noise, between(with, "history_noise", kLeast, kMost));
  TRY(criteria.trend_alarms, between(with, "trend_alarms", kLeast, kMost));
  criteria.judge = fleet == "yes";
  criteria.history = history == "yes";
  criteria.fewest_nodes = static_cast<int>(nodes);
  criteria.fewest_runs = static_cast<int>(runs);
  return criteria;
}

}  // namespace cupel::burnin
