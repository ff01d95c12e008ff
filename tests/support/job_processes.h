#pragma once
// The shells that look after a detached job on a node that is this machine.
#include <sys/types.h>

#include <string>
#include <vector>

namespace cupel::testing {

std::vector<pid_t> processes_around_job(const std::string& folder);

}  // namespace cupel::testing
