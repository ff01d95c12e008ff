#pragma once
// What NVIDIA's own tool writes on a node about its driver and GPUs: their support asks for it
// first.
#include <optional>
#include <string>

#include "orchestrator/ssh/ssh.h"

namespace cupel::rma {

/// Runs nvidia-bug-report.sh there, as root where `sudo` says so, and returns its text; nothing
/// where the node has no such tool. What the tool writes goes into a folder of its own, which is
/// removed. It takes a minute or more, and puts no load on GPUs. Errors: as Session::run(); kFailed
/// where it wrote no report, with its last words; kMalformed where that is no whole gzip file;
/// kUnsupported where it is larger than 256 MiB.
Task<Result<std::optional<std::string>>> nvidia_bug_report(ssh::Session& session, bool sudo,
                                                           Deadline deadline);

}  // namespace cupel::rma
