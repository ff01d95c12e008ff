#pragma once
// How all BMCs fared, as it was last kept: for who counts over many of them. Reads by a connection
// of its own.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "bmc/budget.h"

namespace cupel::store {

/// By the name under which a BMC's limits are kept, mostly its node's. Of the store in `folder`,
/// which must be open. At most 100,000. Errors: kStorage.
Result<std::vector<std::pair<std::string, bmc::Budget>>> all_budgets(
    const std::filesystem::path& folder);

}  // namespace cupel::store
