#pragma once
// The node's own way back: a timer that puts the settings of a run back where the run did not. Pure
// text, for settings_script.h.
#include <string>

namespace cupel::burnin::settings_guard {

/// Lays `restore` and the timer down on the node, to be run after so many seconds. Expects $state,
/// $units and safe_path_functions(); a folder of units that another user may write to is not used.
std::string script(const std::string& restore, long at_most_seconds);

}  // namespace cupel::burnin::settings_guard
