#pragma once
// A group stage of several rounds (burnin/group_stage.h): each round's jobs to their end, and on
// with the next one. A member whose job fails takes no part any more; the others go on.
#include "orchestrator/steps/group_members.h"

namespace cupel::steps {

/// As do_as_group. No job of an earlier round may be left on any node.
Task<Result<std::vector<bool>>> do_in_rounds(StepEnvironment& environment,
                                             const burnin::GroupStage& stage, Parts parts,
                                             boost::json::object& of_group);

}  // namespace cupel::steps
