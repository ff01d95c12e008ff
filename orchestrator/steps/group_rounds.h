#pragma once
// A group stage of several rounds (burnin/group_stage.h): each round's jobs to their end, and on
// with the next one. A member whose job fails takes no part any more; the others go on.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/measurement.h"
#include "orchestrator/steps/group_members.h"
#include "orchestrator/store/store.h"

namespace cupel::steps {

/// As do_as_group. No job of an earlier round may be left on any node.
Task<Result<std::vector<bool>>> do_in_rounds(StepEnvironment& environment,
                                             const burnin::GroupStage& stage, Parts parts,
                                             boost::json::object& of_group);

/// Of each of the nodes what the newest try of the stage found that came to its end in this run, in
/// another step than `but`: what that one found in an earlier try is no news to it. Nothing too
/// where the store cannot be read: what rests on it is then unknown.
std::vector<std::optional<burnin::Findings>> found_before(const store::Store& store,
                                                          engine::RunId run,
                                                          std::span<const std::string> nodes,
                                                          std::string_view stage,
                                                          std::string_view but = {});

}  // namespace cupel::steps
