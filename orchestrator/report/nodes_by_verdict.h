#pragma once
// What "failed:12" means where nodes are named.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/select.h"
#include "orchestrator/store/store.h"

namespace cupel::report {

/// Names of the nodes of a run, in its order, by what became of them: "passed", "failed" or
/// "inconclusive". Of a run that is not over those that have a verdict. Errors: kNotFound;
/// kStorage.
Result<std::vector<std::string>> nodes_by_verdict(const store::Store& store,
                                                  std::string_view verdict, engine::RunId run);

/// The same for inventory::select(); must not outlive the store.
inventory::NodesOfRun nodes_of_run(const store::Store& store);

}  // namespace cupel::report
