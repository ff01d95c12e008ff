#pragma once
// What is reported of a run whose journal cannot be read.
#include <string>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// The error as it is, and who repaired the run, if anybody did.
std::string words_of_damage(const Store& store, engine::RunId run, const Error& error);

}  // namespace cupel::store
