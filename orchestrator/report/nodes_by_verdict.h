#pragma once
// What "failed:12" means where nodes are named.
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/store/store.h"

namespace cupel::report {

/// Names of the nodes of a run, in its order, by what became of them: "passed", "failed" or
/// "inconclusive". Of a run that is not over those that have a verdict. Errors: kNotFound;
/// kStorage.
Result<std::vector<std::string>> nodes_by_verdict(const store::Store& store,
                                                  std::string_view verdict, engine::RunId run);

}  // namespace cupel::report
