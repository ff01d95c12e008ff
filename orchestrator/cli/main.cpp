// What is set for the whole process, before its command line runs.
#include <csignal>

#include "orchestrator/cli/command_line.h"
#include "orchestrator/cli/file_limit.h"
#include "orchestrator/cli/memory_guard.h"

int main(int argc, char** argv) {
  cupel::cli::guard_memory();
  cupel::cli::raise_file_limit();
  // Writing to a pipe whose reader has gone is an error to handle, not a reason to die in mid-run.
  std::signal(SIGPIPE, SIG_IGN);
  // A file over the limit of ulimit -f is a full disk to us: an error of write(2), not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  return cupel::cli::run_command_line(argc, argv);
}
