#pragma once
// Components of firmware that a step writes again, also where they run their version, as its
// parameter `rewrite` names them ("bios,bmc"). Pure.
#include <set>
#include <string>
#include <vector>

#include "burnin/job.h"
#include "inventory/fwd.h"

namespace cupel::playbooks {

/// Empty: none is named; the step writes what is off the baseline.
std::set<std::string> components_to_rewrite(const burnin::Parameters& with);

/// What is wrong with it for a machine of this profile, each name for itself. Empty: nothing is.
std::vector<std::string> why_not_rewritten(const std::set<std::string>& components,
                                           const inventory::Profile& profile);

}  // namespace cupel::playbooks
