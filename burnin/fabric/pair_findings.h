#pragma once
// The verdict of a measurement by pairs as findings: of the nodes, of their HCAs, and of switches.
#include "burnin/fabric/reasons.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

/// `left`: nodes that took no part to the end. Errors: kNoMeasurement: no flow carried anything.
Result<GroupFindings> pair_findings(const PairScreen& screen, const Names& names,
                                    const std::vector<bool>& left);

}  // namespace cupel::burnin::fabric
