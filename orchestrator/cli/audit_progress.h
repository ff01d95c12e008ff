#pragma once
// What changed between two audits of the cables, while somebody moves plugs. Pure.
#include <string>

#include "inventory/fabric_audit.h"

namespace cupel::cli {

/// "done: ..." for each finding none of whose cables has one any more, and what is new, with its
/// instruction; empty where nothing changed.
std::string audit_progress(const inventory::FabricAudit& before,
                           const inventory::FabricAudit& after);

}  // namespace cupel::cli
