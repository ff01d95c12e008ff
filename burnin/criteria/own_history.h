#pragma once
// A machine's numbers beside those that it had in its earlier runs: its baseline is their median,
// and the noise of a measurement is learned from how they scatter. What all parts of a run have in
// common is taken out, and is judged by itself. Pure.
#include <cstdint>
#include <span>

#include "burnin/compared.h"
#include "burnin/criteria/fleet_criteria.h"
#include "burnin/criteria/judge.h"

namespace cupel::burnin {

/// A number of an earlier run.
struct EarlierValue {
  std::int64_t run = 0;
  double days = 0;  // since any fixed day
  std::string stage{};
  std::string part{};
  std::string measure{};
  std::string unit{};
  double value = 0;
};

/// Only what is compared between machines too (fleet_measures.h). Slow: worse than the noise of so
/// few runs explains (Student's prediction interval). An outlier: so even if the noise has a long
/// tail, and by what is worth a part's exchange. `trend`: worse from run to run over two weeks or
/// more, though no step was too large. Of like parts that are alike, the one nearest to its limit.
/// `today`: when `findings` were measured, in days.
std::vector<Compared> compare_with_history(std::span<const EarlierValue> earlier,
                                           const FindingsByStage& findings, double today,
                                           const FleetCriteria& limits);

}  // namespace cupel::burnin
