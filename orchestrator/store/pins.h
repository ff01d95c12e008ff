#pragma once
// Whose word a pin is: a person's (Store::repin), or Cupel's own, which pinned on first use or when
// it installed the machine.
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// Errors: kStorage.
Result<bool> is_pinned_by_person(const Store& store, std::string_view name);

/// What follows the prefix in the names that begin with it, in order. The prefix has no % and no _.
/// Errors: kStorage.
Result<std::vector<std::string>> pinned_behind(const Store& store, std::string_view prefix);

/// Replaces the pin by what the machine itself reported when it was installed. Errors: kUntrusted:
/// a person pinned another one, which stays; kStorage.
Result<void> pin_reported(Store& store, std::string_view name, std::string_view fingerprint);

/// Forgets the pin, unless a person pinned it. Errors: kStorage.
Result<void> forget_reported(Store& store, std::string_view name);

}  // namespace cupel::store
