#pragma once
// The NVLink domains that the runs of a state folder have read. Reads the store; asks no machine.
#include <set>
#include <string>

#include "orchestrator/handoff/slurm_blocks.h"
#include "orchestrator/store/store.h"

namespace cupel::cli {

/// Of each of these nodes, as the newest run that read its domain has it: so a tray that is out
/// keeps the one that it was in. A node whose GPUs reported several there has none. Looks 500 runs
/// back, and through at most 50 of one node. Errors: kStorage.
Result<handoff::DomainsByNode> seen_domains(const store::Store& store,
                                            const std::set<std::string, std::less<>>& nodes);

}  // namespace cupel::cli
