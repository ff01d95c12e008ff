#pragma once
// GPUs that needed a reset in the run (the stage gpu-reset): what is reported of them, and what may
// be left out of a verdict where the playbook lets them pass. Pure.
#include <string>
#include <vector>

#include "burnin/verdict.h"
#include "orchestrator/record/node_record.h"

namespace cupel::steps {

/// "gpu2 is flaky: Xid 95 at 4711.2 s; reset"; one for each, in their order.
std::vector<std::string> flaky_gpus(const record::NodeRecord& record);

/// Takes the causes out that a reset has ended: of a GPU that the playbook lets pass, that was
/// reset (or whose machine was power-cycled behind that), that has worked in a stage since, and of
/// which nothing was found since. What no reset mends stays, whatever the playbook says: wrong
/// results, links, heat, rows that could not be remapped, Xids that ask for no reset. `causes`:
/// each of one stage, as they were found.
void let_pass_after_reset(const record::NodeRecord& record, std::vector<burnin::Cause>& causes);

}  // namespace cupel::steps
