#pragma once
// How the newest runs of a state folder saw the cables of nodes. Reads the store; asks no machine.
#include <map>
#include <set>
#include <string>

#include "orchestrator/dcim/cables.h"
#include "orchestrator/store/store.h"

namespace cupel::cli {

/// By node and HCA, of each node by the newest run that compared its cables with the plan. Without
/// HCAs of which that run could not decide. Looks 500 runs back. Errors: kStorage.
Result<std::map<std::string, std::map<std::string, dcim::SeenCable>>> seen_cables(
    const store::Store& store, const std::set<std::string, std::less<>>& nodes);

}  // namespace cupel::cli
