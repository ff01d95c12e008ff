#pragma once
// Nodes that have one BMC: it shows a System for each of them (HPE Cray EX). Each names its own.
#include <vector>

#include "inventory/fwd.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// Writes down which nodes have the same BMC (BmcAccess::shared_as). Problems: an address that
/// several nodes have without naming a System each; one System twice; another user, password,
/// certificate or factory login for the same BMC; IPMI, which knows no Systems.
void share_bmcs(Inventory& inventory, std::vector<Problem>& problems);

}  // namespace cupel::inventory
