#pragma once
// What a node has just passed: numbers that lie nearest to their limits. Pure.
#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <vector>

#include "burnin/compared.h"
#include "burnin/verdict.h"

namespace cupel::report {

struct Nearest {
  std::string stage{}, part{};  // "gpu3"; "gpu[0-4,6-7]" where these say the same
  std::string criterion{};      // "hbm.copy", "fleet: hbm.copy"
  std::string words{};          // "3151 GB/s, expected at least 3150 GB/s"
  double margin = 0;            // share of the limit; of a comparison, healthy spreads
  bool spreads = false;         // `margin` is in spreads

  std::string margin_text() const;  // "0.3 %", "1.2 spreads"
};

/// Met, with a limit that is not 0 and not exact: those within 2 % of it, and comparisons within
/// two spreads. The nearest first; parts of which a stage says the same are one of the `most`.
std::vector<Nearest> nearest(std::span<const burnin::Checked> checked,
                             std::span<const burnin::Compared> compared, std::size_t most = 5);

boost::json::object to_json(const Nearest& nearest);

}  // namespace cupel::report
