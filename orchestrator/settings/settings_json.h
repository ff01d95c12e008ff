#pragma once
// How settings stand, as JSON: for `cupel settings --json` and for what a step found.
#include <boost/json.hpp>

#include "orchestrator/settings/settings_plan.h"

namespace cupel::settings {

/// One object for each item: name, current, wanted, state, and refusal where there is one.
boost::json::array to_json(const SettingsPlan& plan);

}  // namespace cupel::settings
