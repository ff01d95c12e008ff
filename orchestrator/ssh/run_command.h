#pragma once
// One program of a node by its argv, and its bounded answer. No shell reads the words but the
// login's, to which each is quoted.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/ssh/run_script.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

/// As Session::run() takes it; as root where `sudo` says so.
std::string command_line(std::span<const std::string> words, bool sudo);

/// Errors: as Session::run(); a program that fails is none: 127: there is none of that name.
Task<Result<ScriptResult>> run_command(Session& session, std::vector<std::string> words, bool sudo,
                                       Deadline deadline);

/// The last line that is not empty, trimmed: a shell's start-up files may have printed others
/// before it.
std::string_view last_line(std::string_view output);

}  // namespace cupel::ssh
