#pragma once
// The verdict of a measurement by pairs as findings: of the nodes, of their HCAs, and of switches.
#include <array>
#include <map>
#include <string>

#include "burnin/fabric/reasons.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

/// Flows that tools or a firewall kept from being measured.
struct Unmeasured {
  /// By node, rail and way (0: from the node, 1: to it): what was reported first.
  std::map<std::array<int, 3>, std::string> why{};
  std::string first{};  // of all
};

/// `left`: nodes that took no part to the end. Errors: kNoMeasurement: no flow carried anything.
Result<GroupFindings> pair_findings(const PairScreen& screen, const Names& names,
                                    const std::vector<bool>& left, const Unmeasured& unmeasured);

}  // namespace cupel::burnin::fabric
