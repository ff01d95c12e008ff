#pragma once
// Numbers against the criteria of a profile. Pure. Says only what was met and what was not; what
// follows for the node is for orchestrator/steps/verdict.h.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "burnin/measurement.h"
#include "burnin/verdict.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

using FindingsByStage = std::map<std::string, Findings, std::less<>>;

/// Every criterion of the profile whose stage is in `stages` ("disk", "disk@scratch": each time by
/// itself), once for each of its parts, in the profile's order. A stage in `stages` without
/// findings leaves all its criteria missing. A part "nvme*" stands for those of such a name that
/// reported the number: where none did, nothing is judged. A number that is not finite, or that no
/// machine reaches (a megabyte taken for a gigabyte, a count below nought), proves nothing.
/// Where a part has several numbers, each must meet it and the worst one is reported.
std::vector<Checked> judge(const inventory::Profile& profile,
                           const std::set<std::string, std::less<>>& stages,
                           const FindingsByStage& findings);

}  // namespace cupel::burnin
