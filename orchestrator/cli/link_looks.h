#pragma once
// A folder of the outputs of fabric tools, as one look at the links.
#include <filesystem>

#include "base/result.h"
#include "burnin/fabric/link_look.h"

namespace cupel::cli {

/// Reads ibnetdiscover*, iblinkinfo* or *.db_csv of ibdiagnet (needed: what is linked to what),
/// ibqueryerrors*, ufm-telemetry*.json and mlxlink/DEVICE/PORT.json or .txt (PORT:
/// mlxlink/n05/mlx5_3.json, mlxlink/leaf1-r3/7.txt), sonic/SWITCH.json (STATE_DB of a switch: its
/// transceivers), rdma/NODE.txt and ethtool/NODE/HCA.txt (counters of a node's own ports); a folder
/// with one of the last three needs no links. The time of the look is that of the newest file with
/// counters, else of the newest of SONiC. A file that cannot be read becomes a doubt, but for those
/// of links. Errors:
/// kNotFound without a file of links; kNoMeasurement where that tool could not look; those of
/// reading it.
Result<burnin::LinkLook> read_look(const std::filesystem::path& folder);

}  // namespace cupel::cli
