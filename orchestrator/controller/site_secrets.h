#pragma once
// The site's own passwords and tokens around one node, to be taken out of what leaves the site.
#include <string>
#include <vector>

#include "inventory/fwd.h"

namespace cupel::controller {

struct FetchedSecrets {
  std::vector<std::string> values{};  // each once, the longest first
  std::vector<std::string> unread{};  // of each that could not be fetched: why
};

/// Of the node's BMC and user data, of the PDUs that feed it, and of the site's scheduler: the
/// longest first, so that none leaves its end where another one is its beginning. A node that the
/// inventory does not have has only the scheduler's. A command that prints one has 30 s.
FetchedSecrets site_secrets(const inventory::Inventory& inventory, const std::string& node);

}  // namespace cupel::controller
