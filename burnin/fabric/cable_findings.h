#pragma once
// The cable plan against what was discovered, as findings of the nodes that took part. Pure.
#include "burnin/group_stage.h"
#include "inventory/fabric_audit.h"

namespace cupel::burnin::fabric {

/// What one node reports of its own HCAs: "guid mlx5_0 946d:ae12:3456:789a", a line each.
void read_hca_guids(std::string_view node, std::string_view text, inventory::HcaGuids& into);

/// Of each member its cables that are in their ports, and each HCA whose cable is not. Cables
/// between switches are judged on the nodes behind the lower one.
GroupFindings cable_findings(const inventory::Fabric& plan, const inventory::FabricAudit& audit,
                             std::span<const Member> members);

}  // namespace cupel::burnin::fabric
