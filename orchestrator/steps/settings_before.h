#pragma once
// What the settings of a node were before Cupel set them, in the state folder: kept before anything
// is sent, added to by later runs, and dropped once they are set back.
#include "orchestrator/settings/settings_snapshot.h"
#include "orchestrator/store/store.h"

namespace cupel::steps {

/// Durable when it returns. What is kept of a setting already stays, where it is of the same
/// machine. Errors: kStorage.
Result<void> keep_settings_before(store::Store& store, const std::string& node,
                                  const settings::SettingsSnapshot& before);

/// Nothing: none was set. Errors: kStorage, also for what cannot be read.
Result<std::optional<settings::SettingsSnapshot>> settings_before(store::Store& store,
                                                                  const std::string& node);

/// Errors: kStorage.
Result<void> drop_settings_before(store::Store& store, const std::string& node);

}  // namespace cupel::steps
