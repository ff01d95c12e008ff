#pragma once
// The health of links as people and programs read it. Pure.
#include <boost/json.hpp>
#include <string>

#include "burnin/fabric/link_history.h"

namespace cupel::cli {

/// Each bad link with what is wrong, what was tried and what is next; what repairs have done; then
/// what was not judged.
std::string health_text(const burnin::LinkHealth& health, const burnin::FabricProgress& progress);
boost::json::object health_json(const burnin::LinkHealth& health,
                                const burnin::FabricProgress& progress);

}  // namespace cupel::cli
