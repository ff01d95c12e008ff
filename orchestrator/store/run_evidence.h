#pragma once
// Which evidence a run's journal names.
#include <set>
#include <string>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// The names of all, those within documents that several nodes share too. A document that is not
/// there is named itself. Errors: as Store::each_event().
Result<std::set<std::string>> evidence_of(const Store& store, RunId run);

}  // namespace cupel::store
