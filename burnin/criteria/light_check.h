#pragma once
// What the light test of a node compares with (`cupel-node check`, burnin/agent/node/check/), made
// of the node's profile: counts of parts, and the limits that can be read without load. Pure.
#include <boost/json/object.hpp>

#include "inventory/fwd.h"

namespace cupel::burnin {

/// The document of /etc/cupel/check.json.
boost::json::object light_check_of(const inventory::Profile& profile);

}  // namespace cupel::burnin
