#pragma once
// A group stage of several rounds (burnin/group_stage.h): each round's jobs to their end, and on
// with the next one. A member whose job fails takes no part any more; the others go on.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/steps/group_members.h"

namespace cupel::steps {

/// What the newest try of a stage found on each of these nodes, in their order; nothing of one on
/// which it did not end as done, and of all where the store cannot be read: what rests on it is
/// then said to be unknown. Reads the run once: what a large group found is one long document.
std::vector<std::optional<burnin::Findings>> found_before(const store::Store& store,
                                                          engine::RunId run,
                                                          std::span<const std::string> nodes,
                                                          std::string_view stage);

/// As do_as_group. No job of an earlier round may be left on any node.
Task<Result<std::vector<bool>>> do_in_rounds(StepEnvironment& environment,
                                             const burnin::GroupStage& stage, Parts parts,
                                             boost::json::object& of_group);

}  // namespace cupel::steps
