#pragma once
// A cable plan, and its comparison with what was seen, as people and programs read them. Pure.
#include <boost/json.hpp>
#include <string>

#include "inventory/fabric_audit.h"
#include "inventory/fabric_site.h"

namespace cupel::cli {

/// Rails, leaves, spines, cables by kind, oversubscription. `every`: each cable too.
std::string plan_text(const inventory::FabricSite& site, bool every);
boost::json::object plan_json(const inventory::FabricSite& site);

/// Each finding with what to do; the last line counts.
std::string audit_text(const inventory::FabricAudit& audit);
boost::json::object audit_json(const inventory::FabricAudit& audit);

/// The moves by switch and port, with a box to tick each: for the person who walks.
std::string walking_list(const inventory::Fabric& plan, const inventory::FabricAudit& audit);

}  // namespace cupel::cli
