#pragma once
// Which nodes a person means: "all", "rack:a01", "profile:dgx-h100", "a01-n[01-04]", parted by
// commas; a term that begins with '!' takes away.
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"
#include "inventory/rack_scope.h"

namespace cupel::inventory {

/// In the inventory's order, each once. Nodes of racks that are not `visible` do not exist: "all"
/// leaves them out, and no error or near name tells of them. Errors: kInvalid, naming every term
/// that matches nothing and the nearest name.
Result<std::vector<const Node*>> select(const Inventory& inventory, std::string_view terms,
                                        const RackScope& visible = RackScope::all());

}  // namespace cupel::inventory
