#pragma once
// One number from one part of one machine. No judgement: criteria judge.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/parts.h"

namespace cupel::burnin {

struct Measurement {
  std::string name;    // "gpu.ecc.uncorrected"
  std::string part{};  // "gpu3", "dimm A7"; empty: the node as a whole
  double value = 0;
  std::string unit{};  // "GB/s" (1e9 bytes), "GiB", "errors", "C", "W", "count"
  /// Of the node as a whole: which one part that was ("nvme0" under the folder that was tested),
  /// for causes to name. Of a part, or of the node itself (MeasureRow::of_node): where or when, for
  /// people ("SM 17, round 3, 71 C").
  std::string traced_to{};

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Everything that one stage found out. A stage that found nothing has proven nothing.
struct Findings {
  std::vector<Measurement> measurements{};
  std::vector<inventory::Part> parts{};
  std::vector<inventory::Unknown> unknown{};      // what the tool was asked and did not tell
  std::vector<inventory::PartialList> partial{};  // kinds of which `parts` does not have all
  std::map<std::string, std::string> facts{};     // in words: "node.hostname"; at most a few

  friend bool operator==(const Findings&, const Findings&) = default;
};

}  // namespace cupel::burnin
