#pragma once
// What a pass is worth: published shares of the parts that fail, against the faults that were found
// of those that stand for each. Pure.
#include "inventory/problem.h"
#include "orchestrator/report/detection.h"

namespace cupel::report {

struct PartShare {
  std::string part{};                 // "GPU dead, lost or replaced"
  double share = 0;                   // of 100
  std::vector<std::string> faults{};  // of the catalogue, that stand for it
};

struct PartShares {
  std::string title{};
  std::string source{};
  std::vector<PartShare> parts{};
};

/// A file of shares. Problems with their places: shares that do not sum to 100, faults that stand
/// for two parts.
std::optional<PartShares> parse_part_shares(std::string_view text, const std::string& file,
                                            std::vector<inventory::Problem>& problems);

/// One part, as a run of the catalogue has shown it.
struct WeighedPart {
  std::string part{};
  double share = 0;
  int tried = 0, shown = 0;            // faults that are to be found; found, and the right part
  std::vector<std::string> escaped{};  // faults that were not
};

struct Weighed {
  std::vector<WeighedPart> parts{};
  /// Of 100 parts, how many are shown: each part's share times what was shown of its faults. Parts
  /// of which none was tried are left out, and their shares are `untried`.
  double shown = 0, untried = 0;
};

Weighed weigh(const PartShares& shares, std::span<const Detection> detections);

boost::json::object to_json(const Weighed& weighed);

}  // namespace cupel::report
