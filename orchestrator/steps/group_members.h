#pragma once
// The members of a group stage (burnin/group_stage.h): each one's job, the value that one hands to
// the others, and the analysis of what all of them reported.
#include "burnin/group_stage.h"
#include "orchestrator/steps/follower.h"
#include "orchestrator/steps/kernel_watch.h"
#include "playbooks/fwd.h"

namespace cupel::steps {

/// One node's part in a stage that several do together.
struct Part {
  StepEnvironment& environment;
  std::shared_ptr<playbooks::PlannedStep> step;  // its own, with its own job
  engine::StepRequest request;
  std::shared_ptr<Follower> follower{};
  std::optional<KernelWatch> kernel{};
  std::optional<engine::StepEnd> end{};
  std::function<void()> when_written{};
};

using Parts = std::vector<std::shared_ptr<Part>>;

/// The logs of the node's kernel and of its BMC, once its part has ended.
Task<void> read_logs(Part& part);

/// All members to their end. The first whose job fails, vanishes or cannot be reached ends the
/// others' waiting. Fills each part's end, and `of_group` with what belongs to links. Errors:
/// kCancelled, kStorage; else why the measurement came to nothing, naming the member.
Task<Result<std::vector<bool>>> do_as_group(StepEnvironment& environment,
                                            const burnin::GroupStage& stage, Parts parts,
                                            boost::json::object& of_group);

std::vector<burnin::Member> members_of(const Parts& parts);

/// Puts what was found on members into their ends, and the rest into `of_group`.
void keep_findings(const Parts& parts, const burnin::GroupFindings& findings,
                   boost::json::object& of_group);

}  // namespace cupel::steps
