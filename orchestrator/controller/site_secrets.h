#pragma once
// The site's own passwords and tokens around one node, to be taken out of what leaves the site.
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"

namespace cupel::controller {

/// Of the node's BMC, of the PDUs that feed it, and of the site's scheduler: each once, the longest
/// first, so that none leaves its end where another one is its beginning. A node that the inventory
/// does not have has only the scheduler's. A command that prints one has 30 s. Errors: kInvalid,
/// with each that cannot be fetched.
Result<std::vector<std::string>> site_secrets(const inventory::Inventory& inventory,
                                              const std::string& node);

}  // namespace cupel::controller
