#pragma once
// The health of links as people and programs read it. Pure.
#include <boost/json.hpp>
#include <string>

#include "burnin/fabric/link_health.h"

namespace cupel::cli {

/// Each bad link with what is wrong and how it is mended; then what was not judged.
std::string health_text(const burnin::LinkHealth& health);
boost::json::object health_json(const burnin::LinkHealth& health);

}  // namespace cupel::cli
