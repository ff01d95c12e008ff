#pragma once
// What a plan needs before it can begin: programs of ours on this machine, tools and root on the
// nodes. Nothing is touched to find out.
#include <string>
#include <vector>

#include "burnin/requirements.h"
#include "orchestrator/ssh/missing_program.h"
#include "playbooks/plan.h"

namespace cupel::controller {

struct StepNeeds {
  std::string step;
  burnin::Requirements needs{};
};

/// Of each stage that is done on some node of the plan, in its order; those that need nothing are
/// left out.
std::vector<StepNeeds> needs_of(const playbooks::Plan& plan);

/// Each program of ours that some stage cannot do without, once.
std::vector<std::string> programs_of(const std::vector<StepNeeds>& needs);

/// Why the run cannot begin: the programs that this machine lacks, each with what helps. Empty:
/// none.
std::string missing_programs(const playbooks::Plan& plan, const ssh::ProgramShelf& shelf);

}  // namespace cupel::controller
