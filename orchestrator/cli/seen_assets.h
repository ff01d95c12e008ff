#pragma once
// What the runs of a state folder have read of machines, of each source the newest reading. Reads
// the store; asks no machine.
#include <map>
#include <set>
#include <string>

#include "inventory/compare_assets.h"
#include "orchestrator/record/seen_parts.h"

namespace cupel::cli {

/// By machine, and when the runs began.
struct SeenMachines {
  std::map<std::string, record::SeenParts, std::less<>> machines{};
  std::map<engine::RunId, engine::WallTime> began{};
};

/// Of these machines; empty: of all. Looks 500 runs back, and through at most eight runs of one
/// machine since one that read a part. Errors: kStorage.
Result<SeenMachines> seen_machines(const store::Store& store,
                                   const std::set<std::string, std::less<>>& nodes = {});

/// What machines report, and what they reported by a source that has failed since.
struct Seen {
  inventory::SeenAssets parts{}, unread{};
};

/// Of all machines. Errors: kStorage.
Result<Seen> seen_of_store(const store::Store& store);

}  // namespace cupel::cli
