#pragma once
// One short command of the node: its output, bounded, or that it took too long. No shell.
#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

inline constexpr std::size_t kMostCommandOutput = 64 * 1024;

/// Standard output of a command that ended with status 0. It is killed at the deadline; one that
/// cannot be killed is left. Errors: kNotFound: there is no such program; kTimeout; kFailed, with
/// what it said.
Result<std::string> run_command(const std::vector<std::string>& words,
                                std::chrono::steady_clock::time_point deadline);

/// As run_command(), of a function of ours in a process of its own: a driver may hang whoever asks
/// it. What it returns is what it has said.
Result<std::string> run_apart(std::string (*read)(const void*), const void* with,
                              std::chrono::steady_clock::time_point deadline);

}  // namespace cupel::agent
