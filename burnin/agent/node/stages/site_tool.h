#pragma once
// A tool of the users' own that lies in a folder which the site names, and runs as root.
#include "base/result.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// Its path: in PATH, or else in `folder`. No other program is taken from there. Errors:
/// kNoMeasurement where it is not installed, and where another user of the node can change it, its
/// folder or one above.
Result<std::string> site_tool(const Node& node, std::string folder, const std::string& tool);

}  // namespace cupel::agent
