#pragma once
// Which nodes a person means: "all", "rack:a01", "profile:dgx-h100", "a01-n[01-04]", parted by
// commas; a term that begins with '!' takes away.
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"

namespace cupel::inventory {

/// In the inventory's order, each once. Errors: kInvalid, naming every term that matches nothing
/// and the nearest name.
Result<std::vector<const Node*>> select(const Inventory& inventory, std::string_view terms);

}  // namespace cupel::inventory
