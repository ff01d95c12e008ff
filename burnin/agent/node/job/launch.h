#pragma once
// The job's own process, from fork to exec.
#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/job/supervisor.h"

namespace cupel::agent {

struct Launched {
  pid_t pid = 0;
  Descriptor out{};  // what it says, not blocking
  Descriptor err{};
  std::string control_group{};  // empty: there was none to be had
};

/// In a session of its own, in a control group where possible, in `work/` of the folder, with
/// the order's input on its standard input and CUPEL_JOB in its environment. A command that cannot
/// be run says so on its standard error and ends with 126 or 127, as a shell's would. Errors:
/// kFailed.
Result<Launched> launch(const JobOrder& order);

/// The kernel is asked to spare the calling process: a stage that fills the memory must not cost
/// the one that ends it. What cannot be had is done without.
void become_hard_to_kill();

}  // namespace cupel::agent
