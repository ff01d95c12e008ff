#pragma once
// Which nodes a person means: "all", "rack:a01", "profile:dgx-h100", "@canary", "failed:12",
// "a01-n[01-04]", parted by commas; a term that begins with '!' takes away.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"
#include "inventory/rack_scope.h"

namespace cupel::inventory {

/// Names of the nodes that have passed or failed a run, or were inconclusive in it: `verdict` is
/// "passed", "failed" or "inconclusive". Errors: kNotFound: there is no such run; kStorage.
using NodesOfRun =
    std::function<Result<std::vector<std::string>>(std::string_view verdict, std::int64_t run)>;

/// In the inventory's order, each once. Nodes of racks that are not `visible` do not exist: "all"
/// leaves them out, and no error or near name tells of them. `of_run` is asked for terms as
/// "failed:12". Errors: kInvalid, naming every term that matches nothing and the nearest name.
Result<std::vector<const Node*>> select(const Inventory& inventory, std::string_view terms,
                                        const RackScope& visible = RackScope::all(),
                                        const NodesOfRun& of_run = {});

}  // namespace cupel::inventory
