#pragma once
// A child process with its output, on the loop: `scontrol`, `sinfo`, and commands that hand out
// secrets.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"

namespace cupel {

struct ProcessRequest {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH; no shell
  std::string input{};            // written to standard input, which is then closed
  /// Standard input stays open until the program ends, or until we do, however that happens: a
  /// program that reads it to its end notices a SIGKILL of ours.
  bool input_stays_open = false;
  std::vector<std::string> environment{};  // "NAME=value", added to ours
  std::size_t output_limit = 4u << 20;     // bytes, standard output and error each
  /// Standard error as it comes, in pieces: for programs that log for as long as they run. Then
  /// none of it is kept, and it has no limit.
  std::function<void(std::string_view)> on_error{};
};

struct ProcessOutcome {
  int exit_status = 0;  // 128 + signal where a signal ended it
  std::string output;
  std::string error;
};

/// Runs the program to its end. A program that is still there at the deadline, or when the caller
/// is cancelled, gets SIGKILL with all of its process group and is waited for: no child is left
/// behind. Errors: kNotFound (no
/// such program), kTimeout, kCancelled, kMalformed (more output than the limit). A program that
/// exits non-zero is no Error: look at exit_status.
Task<Result<ProcessOutcome>> run_process(ProcessRequest request, Deadline deadline);

}  // namespace cupel
