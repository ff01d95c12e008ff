#pragma once
// Runs that others refer to: a certificate that has not expired, a requalification that keeps a
// part of their evidence. They are not pruned by their age.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "orchestrator/store/database.h"

namespace cupel::store {

/// Why each of them is held, in words for people. A note that cannot be read holds what it names as
/// far as that can be read, for ever. Throws what SOCI throws.
std::map<RunId, std::string> held_runs(soci::session& sql, const std::filesystem::path& folder,
                                       WallTime at);

/// Whether every verdict of the run is a pass; of a run without a verdict false. Throws what SOCI
/// throws.
bool all_passed(soci::session& sql, RunId run);

}  // namespace cupel::store
