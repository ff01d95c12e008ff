#pragma once
// Numbers of runs in a store that holds a copy of one: it keeps the number that it has elsewhere.
#include <filesystem>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::store {

/// The next run that begins in the store, which must be open, gets this number; no earlier run may
/// be there. Errors: kStorage.
Result<void> begin_numbers_at(const std::filesystem::path& folder, engine::RunId run);

}  // namespace cupel::store
