#pragma once
// A scontrol for racks that have no Slurm: a shell script that answers of the nodes that it was
// reported, and knows no others. Not a Slurm: nothing is ever scheduled.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"

namespace cupel::rehearsal {

/// Writes `scontrol` into the folder, and a file for each node below it. It understands "show node
/// NAME" and "update NodeName=NAME State=... Reason=... AvailableFeatures=...". Errors: kStorage.
Result<void> make_scontrol(const std::filesystem::path& folder,
                           const std::vector<std::string>& nodes,
                           const inventory::Profile& profile);

}  // namespace cupel::rehearsal
